import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import type { Values } from "../../../../bench/model/grid.ts";
import { blocksPerUnit } from "../../../../bench/model/occupancy.ts";
import { h200 } from "../../../testdata/devices.ts";
import { matmul } from "../../op.ts";
import { plan } from "../../testdata/listener.ts";
import { columnsK, columnsRules } from "./columns.ts";

const DECODE = { type: "bf16", layout: "nt", epilogue: "bias" };

/** The legal configs at a shape, on an H200. */
function legal(m: number, n: number, k: number) {
  return [...columnsK.candidates(matmul.point({ ...DECODE, m, n, k }), h200)]
    .filter(({ illegal }) => !illegal);
}

Deno.test("columns-k has legal configs, of which as many blocks fit on a multiprocessor as they say", () => {
  for (
    const [m, n, k] of [
      [1, 128, 2880],
      [17, 33, 136],
      [64, 5120, 2880],
      [128, 2112, 7168],
      [768, 256, 7168],
      [1024, 4096, 4096],
    ] as const
  ) {
    const which = `${m}x${n}x${k}`;
    const found = legal(m, n, k);
    assert(found.length > 0, which);
    for (const { config, predicted } of found) {
      assert(predicted! > 3.5, which);
      const { queue: [launch] } = plan("columns-k", {
        ...DECODE,
        m,
        n,
        k,
      }, config);
      const { block, sharedBytes = 0 } = launch!.shape!;
      assert(
        blocksPerUnit({ threads: block[0], sharedBytes }, h200) >=
          Number(config.RESIDENT),
        `${which} ${JSON.stringify(config)}`,
      );
    }
  }
});

Deno.test("columns-k has tiles of rows that fill the device, as no power of two does", () => {
  const rows = new Set(legal(32, 5120, 2880).map(({ config }) => config.BM));
  // 128, 107 and 80 tiles for 132 units.
  assert([40, 48, 64].every((height) => rows.has(height)), `${[...rows]}`);
});

Deno.test("columns-k has tiles of whole boxes where B is stored by rows", () => {
  for (
    const [m, n, k] of [
      [1, 16, 64],
      [64, 5120, 2880],
      [512, 4096, 4096],
    ] as const
  ) {
    const point = matmul.point({ ...DECODE, layout: "nn", m, n, k });
    const found = [...columnsK.candidates(point, h200)];
    assert(found.some(({ illegal }) => !illegal), `${m}x${n}x${k}`);
    assert(found.every(({ config }) => Number(config.BM) % 64 === 0));
  }
});

Deno.test("columns-k has tiles of 256 rows of A, and starts those of the same rows of B together", () => {
  const shape = [1024, 4096, 4096] as const;
  const [first] = legal(...shape)
    .toSorted((a, b) => a.predicted! - b.predicted!);
  const config = {
    BM: 128,
    BN: 256,
    BK: 64,
    WARPS: 8,
    CLUSTER: 1,
    RESIDENT: 1,
  };
  assertEquals(first!.config, config);
  const [m, n, k] = shape;
  const { queue: [launch] } = plan("columns-k", { ...DECODE, m, n, k }, config);
  assertEquals(launch!.shape!.grid, [1, 4, 32]);
});

Deno.test("columns-k has tiles of rows of A that make the blocks one wave", () => {
  const shape = { ...DECODE, m: 256, n: 13312, k: 16384 };
  const config = {
    TOKEN_ROWS: 1,
    BM: 128,
    BN: 208,
    BK: 64,
    WARPS: 8,
    CLUSTER: 1,
    RESIDENT: 1,
  };
  const found = legal(256, 13312, 16384).map(({ config }) => config);
  assert(
    found.some((one) => JSON.stringify(one) === JSON.stringify(config)),
    JSON.stringify(found.filter(({ TOKEN_ROWS }) => TOKEN_ROWS)),
  );
  const { queue: [launch], maps } = plan("columns-k", shape, config);
  // 128 blocks for 132 units; those of the same rows of B start together.
  assertEquals(launch!.shape!.grid, [1, 2, 64]);
  const box = { type: "bf16", columns: 16384, ld: 16384, boxColumns: 64 };
  assertEquals(maps, [
    { ...box, rows: 13312, boxRows: 208 },
    { ...box, rows: 256, boxRows: 128 },
  ]);
  // With rows of A that are no more than a product's there are none.
  assert(legal(64, 13312, 16384).every(({ config }) => !config.TOKEN_ROWS));
});

Deno.test("columns-k has tiles of 256 rows of A, whose sixteen warps take two products a step", () => {
  const config = {
    TOKEN_ROWS: 1,
    BM: 256,
    BN: 168,
    BK: 64,
    WARPS: 16,
    CLUSTER: 1,
    RESIDENT: 1,
  };
  const found = legal(512, 11008, 4096).map(({ config }) => config);
  assert(found.some((one) => JSON.stringify(one) === JSON.stringify(config)));
  const shape = { ...DECODE, m: 512, n: 11008, k: 4096 };
  const { queue: [launch] } = plan("columns-k", shape, config);
  // As many blocks as units.
  assertEquals(launch!.shape!.grid, [1, 2, 66]);
  assertEquals(launch!.shape!.block, [640, 1, 1]);
});

Deno.test("columns-k has no tile of rows of A whose products are not whole, or not those of wgmma", () => {
  const rows = { ...DECODE, m: 200, n: 5120, k: 2880 };
  const of = (changes: Values, layout = "nt") => {
    const config = {
      TOKEN_ROWS: 1,
      BM: 128,
      BN: 128,
      BK: 64,
      WARPS: 8,
      CLUSTER: 1,
      RESIDENT: 1,
      ...changes,
    } as Parameters<typeof columnsRules.tile>[1];
    const point = matmul.point({ ...rows, layout });
    return Object.values(columnsRules).map((rule) => rule(point, config, h200))
      .filter((reason) => reason !== undefined);
  };
  assertEquals(of({}), []);
  assertEquals(of({}, "nn"), []);
  assertEquals(of({ BM: 96 }), ["96 rows of A are no whole products"]);
  assertEquals(of({ BN: 80 }), []);
  assertEquals(of({ BN: 80 }, "nn"), [
    "80 columns of B are no whole boxes of 64",
  ]);
  assertEquals(of({ BM: 64, BN: 192 }, "nn"), [
    "wgmma has no products of 96 columns of B by rows",
  ]);
  // Sixteen warps have 112 registers, of which 28 are left beside the sums.
  assertEquals(of({ BM: 256, WARPS: 16, BN: 168 }), []);
  assertEquals(of({ BM: 256, WARPS: 16, BN: 176 }), [
    "about 116 registers a thread: 1 blocks of 544 do not fit",
  ]);
});

const ONE = { BM: 64, BN: 32, BK: 64, WARPS: 4, CLUSTER: 1, RESIDENT: 1 };

Deno.test("columns-k has no config whose products read the next step, or whose blocks share a slot", () => {
  const of = (changes: Values) => {
    const config = {
      ...ONE,
      ...changes,
    };
    const point = matmul.point({ ...DECODE, m: 32, n: 5120, k: 2880 });
    return Object.values(columnsRules).map((rule) => rule(point, config, h200))
      .filter((reason) => reason !== undefined);
  };
  assertEquals(of({}), []);
  assertEquals(of({ BM: 24 }), [
    "products of 64 rows read the next step behind 24",
  ]);
  assertEquals(of({ BM: 24, BK: 128 }), []);
  const byRows = matmul.point({
    ...DECODE,
    layout: "nn",
    m: 32,
    n: 5120,
    k: 2880,
  });
  assertEquals(
    columnsRules.boxes(byRows, { ...ONE, BM: 96 }),
    "96 columns of B are no whole boxes of 64",
  );
  assertEquals(of({ CLUSTER: 5 }), [
    "5 blocks have no whole parts of 4 slots",
  ]);
});

Deno.test("unsupported() of columns-k names what warpgroups need", () => {
  const at = (values: Values, arch = "sm_90a") =>
    columnsK.unsupported(
      matmul.point({ m: 64, n: 512, k: 7168, ...DECODE, ...values }),
      { ...h200, arch },
    );
  assertStrictEquals(at({}), undefined);
  assertMatch(at({}, "sm_100a")!, /^sm_100a has no wgmma/);
  assertStrictEquals(at({ layout: "nn" }), undefined);
  assertMatch(at({ type: "f32" })!, /no products of IEEE fp32/);
  assertMatch(at({ k: 7164 })!, /multiples of 8$/);
});

Deno.test("prepare() of columns-k gives maps of a tile's rows, and slices of whole steps", () => {
  const { queue: [launch], maps } = plan("columns-k", {
    ...DECODE,
    m: 61,
    n: 330,
    k: 2000,
    lda: 2008,
    ldc: 336,
  }, { BM: 40, BN: 64, BK: 128, WARPS: 4, CLUSTER: 3, RESIDENT: 1 });
  assertEquals(launch!.shape!.grid, [3, 1, 9]);
  assertEquals(launch!.shape!.block, [160, 1, 1]);
  assertStrictEquals(launch!.shape!.cluster, 3);
  const box = { type: "bf16", columns: 2000, boxColumns: 64 };
  assertEquals(maps, [
    { ...box, rows: 330, ld: 2000, boxRows: 40 },
    { ...box, rows: 61, ld: 2008, boxRows: 64 },
  ]);
  const { queue: [byRows], maps: others } = plan("columns-k", {
    ...DECODE,
    layout: "nn",
    m: 61,
    n: 328,
    k: 2000,
    lda: 2008,
    ldb: 336,
  }, { BM: 128, BN: 64, BK: 128, WARPS: 8, CLUSTER: 1, RESIDENT: 1 });
  assertEquals(byRows!.shape!.grid, [1, 1, 3]);
  assertEquals(others[0], {
    ...box,
    columns: 328,
    rows: 2000,
    ld: 336,
    boxRows: 128,
  });
  // Two maps, bias, C, M, N and K; sixteen steps of K, six for the first two blocks.
  assertEquals(
    launch!.args.slice(7, -1),
    [768, 336, 0].map((value) => ({ kind: "i32", value })),
  );
  assertEquals(launch!.args.at(-1), { kind: "early" });
  assert(launch!.shape!.waits);
  // All six steps have room beside three of eight slots of two other blocks.
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    6 * ((40 + 64) * 256 + 16) + 2 * 3 * 128 * 16 + 16,
  );
});
