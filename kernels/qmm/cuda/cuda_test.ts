import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import type { Step } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { h200 } from "../../testdata/devices.ts";
import {
  listen,
  type Listening,
  numbers,
  type Queued,
} from "../../testdata/listener.ts";
import { qmm } from "../op.ts";
import { cudaKernels } from "./cuda.ts";

const named = (name: string) => cudaKernels.find((k) => k.name === name)!;
const labels = (steps: readonly Step[] = []) => steps.map(({ label }) => label);
const at = (name: string, values: Values, how: Listening = {}) =>
  listen(qmm, named(name), { values, ...how });

/** The only launch of a kernel. */
function launch(
  name: string,
  wish: Listening & { readonly values: Values; readonly config: Values },
): Queued {
  const { queue } = listen(qmm, named(name), wish);
  assertStrictEquals(queue.length, 1);
  return queue[0]!;
}

const TILE = { BM: 16, RT: 2, WN: 2, WK: 4, KS: 128, STAGES: 2, CLUSTER: 3 };

Deno.test("cudaKernels are in the order of listings", () => {
  assertEquals(cudaKernels.map(({ name }) => name), [
    "cublas",
    "dequant-cublas",
    "qmv",
    "qmm",
    "qmm-splitk",
    "qmm-wgmma",
  ]);
});

Deno.test("prepare() of qmm-splitk cuts K into slices of whole steps", () => {
  const values = { m: 20, n: 100, k: 2560 };
  const { what: entry, args, shape } = launch("qmm-splitk", {
    values,
    config: TILE,
  });
  assertStrictEquals(entry, "qmm");
  // M, N, K, 7 of the 20 steps to each block but the last, rows of 1280 bytes.
  assertEquals(numbers(args), [20, 100, 2560, 7 * 128, 1]);
  assertEquals(shape!.grid, [3, 2, 2]);
  assertEquals(shape!.block, [256, 1, 1]);
  assertStrictEquals(shape!.cluster, 3);
});

Deno.test("prepare() tells of rows of weights that start on no 16 bytes", () => {
  const wide = (values: Values, offset = 0n) =>
    numbers(launch("qmm-splitk", { values, config: TILE, offset }).args)[4];
  assertStrictEquals(wide({ m: 1, n: 64, k: 1024 }), 1);
  assertStrictEquals(wide({ m: 1, n: 64, k: 1056, bits: 3, group: 32 }), 0);
  assertThrows(
    () => wide({ m: 1, n: 64, k: 1024 }, 2n),
    CaseError,
    "x starts at no multiple of 16 bytes",
  );
});

Deno.test("prepare() of qmm-wgmma needs aligned weights where copies have no bounds checks", () => {
  const start = (n: number, ...offset: readonly bigint[]) =>
    launch("qmm-wgmma", {
      values: { m: 16, n, k: 1024 },
      config: { BM: 16, ROWS: 64, SETS: 2, PLACES: 2, CLUSTER: 1 },
      offset,
    });
  const refused = (offset: readonly bigint[], why: string) =>
    assertThrows(() => start(128, ...offset), CaseError, why);
  refused([0n, 4n], "w starts at no multiple of 16 bytes");
  refused([0n, 0n, 2n], "scales starts at no multiple of 4 bytes");
  refused([0n, 0n, 0n, 2n], "biases starts at no multiple of 4 bytes");
  // Flags: rows of codes start on 16 bytes, those of scales on 4.
  const flags = (n: number, ...offset: readonly bigint[]) =>
    numbers(start(n, ...offset).args)[3];
  assertEquals([flags(128), flags(96)], [3, 3]);
  assertEquals([flags(96, 0n, 4n), flags(96, 0n, 0n, 2n)], [2, 1]);
});

Deno.test("prepare() of mode mxfp4 passes memory in the place of biases", () => {
  const values = { m: 1, n: 64, k: 1024, mode: "mxfp4" };
  const { args } = launch("qmm-splitk", { values, config: TILE });
  const [, , scales, biases] = args;
  assertEquals(biases, scales);
});

Deno.test("prepare() of qmv takes the entry of the weights' orientation", () => {
  const config = { ROWS: 4, COLS: 64, THREADS: 128, UNROLL: 2, CLUSTER: 2 };
  const values = { m: 5, n: 192, k: 300, layout: "nn" };
  const { what: entry, args, shape } = launch("qmv", { values, config });
  assertStrictEquals(entry, "qvm");
  assertEquals(numbers(args), [5, 192, 300]);
  assertEquals(shape!.grid, [2, 3, 2]);
  const turned = launch("qmv", {
    values: { ...values, k: 320, layout: "nt" },
    config: { ...config, COLS: 8, UNROLL: 1 },
  });
  assertStrictEquals(turned.what, "qmv");
  assertEquals(turned.shape!.grid, [2, 24, 2]);
});

Deno.test("candidates() of qmv leave some config at every edge-case shape of few tokens", () => {
  for (const odd of qmm.edgeCases) {
    const legal = [...named("qmv").candidates(odd, h200)]
      .filter(({ illegal }) => illegal === undefined);
    assert(legal.length > 0, JSON.stringify(odd));
  }
  assert(named("qmv").unsupported(qmm.point({ m: 65, n: 64, k: 64 }), h200));
});

Deno.test("cublas decodes before the clock starts, and multiplies on it", () => {
  const shape = { m: 4, n: 96, k: 128 };
  const { setup, steps, operands, queue, allocated } = at("cublas", shape);
  assertEquals([labels(setup), labels(steps)], [
    ["dequantise"],
    ["gemm"],
  ]);
  assertEquals(allocated, [2 * 96 * 128]);
  const { m, n, k, a, b, c } = queue[0]!.gemm!;
  assertEquals([m, n, k, a.ld, b.ld, b.transposed, c.ld], [
    ...[4, 96, 128, 128, 128, true, 96],
  ]);
  assertStrictEquals(a.memory, operands.x);
  assertStrictEquals(c.memory, operands.y);
  for (const { enqueue } of setup!) enqueue();
  // (w, scales, biases, to, count, group)
  const { args, build } = queue[1]!;
  assertEquals(
    args.map((x) => "value" in x ? x.value : x.kind),
    ["memory", "memory", "memory", "memory", 96 * 128, 64],
  );
  assertEquals(named("cublas").builds(qmm.point({ m, n, k }), {}), [build!]);
});

Deno.test("cublas of x · W has W's rows along K", () => {
  const shape = { m: 4, n: 96, k: 50, mode: "mxfp4", layout: "nn" };
  const { b } = at("cublas", shape).queue[0]!.gemm!;
  assertEquals([b.ld, b.transposed], [96, false]);
});

Deno.test("dequantCublas does both on the clock", () => {
  const { setup, steps } = at("dequant-cublas", { m: 4, n: 96, k: 128 });
  assertEquals(labels(setup), []);
  assertEquals(labels(steps), ["dequantise", "gemm"]);
});

Deno.test("cublas without the library is unsupported", () => {
  assertThrows(
    () => at("cublas", { m: 4, n: 96, k: 128 }, { withBlas: false }),
    CaseError,
    "no libcublas.so.13",
  );
});
