import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { Values } from "../../../bench/model/grid.ts";
import { blocksPerUnit } from "../../../bench/model/occupancy.ts";
import { h200 } from "../../testdata/devices.ts";
import { listen } from "../../testdata/listener.ts";
import { scaledMatmul } from "../op.ts";
import { SCALES } from "../point.ts";
import { wgmma } from "./cuda.ts";

Deno.test("wgmma has legal configs, of which as many blocks fit on a multiprocessor as they say", () => {
  const shapes = [
    ...[{ m: 1, n: 1, k: 16 }, { m: 17, n: 33, k: 144 }],
    ...[{ m: 128, n: 64, k: 65536 }, { m: 2048, n: 7168, k: 18432 }],
  ];
  for (const shape of shapes) {
    for (const scale of SCALES) {
      const values = { ...shape, scale };
      const configs = [
        ...wgmma.candidates(scaledMatmul.point(values), h200),
      ].filter(({ illegal }) => !illegal).map(({ config }) => config);
      const which = `${shape.m}x${shape.n}x${shape.k} ${scale}`;
      assert(configs.length > 0, which);
      for (const config of configs) {
        const { queue: [launch] } = listen(scaledMatmul, wgmma, {
          values,
          config,
        });
        const { block, sharedBytes = 0 } = launch!.shape!;
        const threads = block[0];
        assert(
          blocksPerUnit({ threads, sharedBytes }, h200) >=
            Number(config.RESIDENT),
          `${which} ${JSON.stringify(config)}`,
        );
      }
    }
  }
});

Deno.test("prepare() of wgmma gives maps of both operands, and slices of whole steps", () => {
  const config = {
    BM: 64,
    BN: 56,
    BK: 128,
    WARPS: 4,
    CLUSTER: 3,
    RESIDENT: 2,
    AHEAD: 0,
  };
  const values = { m: 54, n: 330, k: 2000, scale: "block128" };
  const { queue: [launch], maps } = listen(scaledMatmul, wgmma, {
    values,
    config,
  });
  assertEquals(launch!.shape!.grid, [3, 1, 6]);
  assertStrictEquals(launch!.shape!.cluster, 3);
  assertEquals(launch!.shape!.block, [160, 1, 1]);
  const box = { type: "e4m3", columns: 2000, ld: 2000, boxColumns: 128 };
  assertEquals(maps, [
    { ...box, rows: 330, boxRows: 64 },
    { ...box, rows: 54, boxRows: 56 },
  ]);
  // All six steps have room beside a sum of each output and a scale for each 128 of K.
  assertEquals(launch!.args.at(-2), { kind: "i32", value: 768 });
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    6 * (120 * 128 + 16) + 6 * 56 * 4 + 3 * 299 * 16 + 16,
  );
  assertStrictEquals(launch!.build!.defines.STAGES, 6);
  assertStrictEquals(launch!.build!.defines.TOKEN_ROWS, 0);
});

Deno.test("wgmma takes rows of A for those of products where M is larger than one of them", () => {
  const config = {
    BM: 128,
    BN: 64,
    BK: 128,
    WARPS: 8,
    CLUSTER: 3,
    RESIDENT: 1,
    AHEAD: 0,
  };
  const values = { m: 150, n: 330, k: 2000, scale: "block128" };
  const { queue: [launch], maps } = listen(scaledMatmul, wgmma, {
    values,
    config,
  });
  // Tiles of M come before those of N.
  assertEquals(launch!.shape!.grid, [3, 2, 6]);
  const box = { type: "e4m3", columns: 2000, ld: 2000, boxColumns: 128 };
  assertEquals(maps, [
    { ...box, rows: 150, boxRows: 128 },
    { ...box, rows: 330, boxRows: 64 },
  ]);
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    6 * (192 * 128 + 16) + 6 * 128 * 4 + 3 * 683 * 16 + 16,
  );
  assertStrictEquals(launch!.build!.defines.TOKEN_ROWS, 1);
});

Deno.test("wgmma has tiles of rows of A that make the blocks one wave, where scales are of rows", () => {
  const of = (values: Values) =>
    [...wgmma.candidates(
      scaledMatmul.point({ m: 256, n: 11008, k: 4096, ...values }),
      h200,
    )].filter(({ config, illegal }) => config.TOKEN_ROWS && !illegal)
      .map(({ config }) => config);
  const config = {
    TOKEN_ROWS: 1,
    BM: 128,
    BN: 168,
    BK: 128,
    WARPS: 8,
    CLUSTER: 1,
    RESIDENT: 1,
    AHEAD: 0,
  };
  const found = of({ scale: "row" }).map((one) => JSON.stringify(one));
  assert(found.includes(JSON.stringify(config)), found.join("\n"));
  const { queue: [launch] } = listen(scaledMatmul, wgmma, {
    values: { m: 256, n: 11008, k: 4096, scale: "row" },
    config,
  });
  // 132 blocks for 132 units.
  assertEquals(launch!.shape!.grid, [1, 2, 66]);
  assertStrictEquals(launch!.build!.defines.TOKEN_ROWS, 1);
  assertEquals(of({ scale: "block128" }), []);
  assertEquals(of({ scale: "row", m: 64 }), []);
});

Deno.test("wgmma gives those who multiply the registers of a warpgroup that copies, if they need them", () => {
  const of = (BN: number, RESIDENT: number) => {
    const config = {
      BM: 128,
      BN,
      BK: 128,
      WARPS: 8,
      CLUSTER: 1,
      RESIDENT,
      AHEAD: 0,
    };
    const values = { m: 512, n: 11008, k: 4096, scale: "row" };
    const { queue: [launch] } = listen(scaledMatmul, wgmma, { values, config });
    return [launch!.shape!.block[0], launch!.build!.defines.REGISTERS];
  };
  assertEquals(of(128, 1), [288, undefined]);
  // 200 registers, where each of nine warps may have 168.
  assertEquals(of(176, 1), [384, 240]);
  assertEquals(of(64, 2), [288, undefined]);
});

Deno.test("wgmma has no config whose tile has several scales of B, or no room for C", () => {
  const refused = (values: Values, config: Values) =>
    [...wgmma.candidates(
      scaledMatmul.point({ m: 512, n: 11008, k: 4096, ...values }),
      h200,
    )].filter(({ config: { BM, BN } }) => BM === config.BM && BN === config.BN)
      .map(({ illegal }) => illegal);
  // Rows of A have a scale each.
  assert(
    refused({ scale: "block128" }, { BM: 192, BN: 128 }).includes(undefined),
  );
  assertEquals(refused({ scale: "block128", m: 64 }, { BM: 192, BN: 64 }), []);
  assert(refused({ scale: "row" }, { BM: 192, BN: 128 }).includes(undefined));
});
