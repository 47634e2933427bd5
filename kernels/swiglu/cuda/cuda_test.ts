import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { blocksPerUnit } from "../../../bench/model/occupancy.ts";
import type { Blas, Matrix } from "../../../bench/device/blas.ts";
import { decode, encode } from "../../../bench/model/dtype.ts";
import { emulate } from "../../testdata/emulated.ts";
import { h200 } from "../../testdata/devices.ts";
import { listen } from "../../testdata/listener.ts";
import { swiglu } from "../op.ts";
import { cudaKernels } from "./cuda.ts";

const [cublas, merged, fused] = cudaKernels;

/** The legal configs of `fused` at a shape in bf16, on an H200. */
function configsAt(m: number, n: number, k: number) {
  return [...fused!.candidates(swiglu.point({ m, n, k }), h200)]
    .filter(({ illegal }) => !illegal);
}

Deno.test("fused has legal configs, of which as many blocks fit on a multiprocessor as they say", () => {
  for (
    const [m, n, k] of [
      [1, 8, 16],
      [17, 33, 136],
      [128, 2304, 7168],
      [1, 14336, 4096],
      [2048, 6656, 16384],
    ] as const
  ) {
    const which = `${m}x${n}x${k}`;
    const candidates = configsAt(m, n, k);
    assert(candidates.length > 0, which);
    for (const { config, predicted } of candidates) {
      assert(predicted! > 4.7, which);
      const { queue: [launch] } = listen(swiglu, fused!, {
        values: { m, n, k },
        config,
      });
      const { block, sharedBytes = 0 } = launch!.shape!;
      assert(
        blocksPerUnit({ threads: block[0], sharedBytes }, h200) >=
          Number(config.RESIDENT),
        `${which} ${JSON.stringify(config)}`,
      );
    }
  }
});

Deno.test("fused has no config whose sums leave no registers to its other blocks", () => {
  const of = (WARPS: number) =>
    [...fused!.candidates(swiglu.point({ m: 128, n: 28672, k: 4096 }), h200)]
      .filter(({ config: { BM, BN, BK, RESIDENT, ...config } }) =>
        [BM, BN, BK, RESIDENT].join() === "64,128,64,3" &&
        config.WARPS === WARPS
      ).map(({ illegal }) => illegal);
  assertEquals(of(4), [
    "about 154 registers a thread: 3 blocks of 160 do not fit",
  ]);
  assertEquals(of(8), [
    "about 90 registers a thread: 3 blocks of 288 do not fit",
  ]);
});

Deno.test("predict() of fused splits K where tiles do not fill the device, and not where they do", () => {
  const best = (n: number, k: number) =>
    configsAt(16, n, k).toSorted((a, b) => a.predicted! - b.predicted!)[0]!
      .config;
  assert(Number(best(2048, 7168).CLUSTER) > 1);
  assertStrictEquals(best(28672, 8192).CLUSTER, 1);
});

Deno.test("prepare() of fused gives maps of both weights and of X, and slices of whole steps", () => {
  const { queue: [launch], maps } = listen(swiglu, fused!, {
    values: { m: 150, n: 330, k: 2000 },
    config: {
      ...{ BM: 64, BN: 80, BK: 128, WARPS: 4, CLUSTER: 3 },
      ...{ RESIDENT: 1 },
    },
  });
  assertEquals(launch!.shape!.grid, [3, 6, 2]);
  assertStrictEquals(launch!.shape!.cluster, 3);
  const box = { type: "bf16", columns: 2000, ld: 2000, boxColumns: 64 };
  const weights = { ...box, rows: 330, boxRows: 64 };
  assertEquals(maps, [weights, weights, { ...box, rows: 150, boxRows: 80 }]);
  // 16 steps of K, six for the first two blocks.
  assertEquals(launch!.args.at(-1), { kind: "i32", value: 768 });
  // Three have room beside the gates and ups of a tile.
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    3 * ((64 * 2 + 80) * 128 * 2 + 16) + 3 * 854 * 16 + 16,
  );
});

/** A library that multiplies on the host, and rounds as a device does. */
const hostBlas: Blas = {
  ...{ name: "host", version: "0" },
  gemm: ({ m, n, k, a, b, c }) => ({
    label: "gemm",
    capturable: false,
    enqueue() {
      const valuesOf = ({ memory, type }: Matrix) =>
        decode(memory.download(), type);
      const [x, w] = [valuesOf(a), valuesOf(b)];
      const sums = Float64Array.from({ length: m * n }, (_, at) => {
        const [i, j] = [Math.floor(at / n), at % n];
        let sum = 0;
        for (let p = 0; p < k; p++) sum += x[i * k + p]! * w[j * k + p]!;
        return sum;
      });
      c.memory.upload(encode(sums, c.type));
    },
  }),
};

for (const kernel of [cublas!, merged!]) {
  for (const type of ["bf16", "f16"]) {
    cudaTest(
      `${kernel.name} joins products that are rounded to ${type}`,
      async (device) => {
        for (const shape of [{ m: 3, n: 5, k: 48 }, { m: 9, n: 256, k: 16 }]) {
          const found = await emulate(device, {
            ...{ op: swiglu, kernel, config: {}, seeds: [1] },
            point: swiglu.point({ ...shape, type }),
            on: (device) => ({ ...device, blas: hostBlas }),
          });
          assertEquals(found, "");
        }
      },
    );
  }
}

Deno.test("cublas-merged merges before the clock starts, and calls the library once", () => {
  const { setup, steps } = listen(swiglu, merged!, {
    values: { m: 4, n: 96, k: 128 },
  });
  assertEquals(setup!.map(({ label }) => label), ["merge"]);
  assertEquals(steps.map(({ label }) => label), ["gemm", "silu"]);
});
