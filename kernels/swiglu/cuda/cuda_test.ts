import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { blocksPerUnit } from "../../../bench/model/occupancy.ts";
import type { Blas, Matrix } from "../../../bench/device/blas.ts";
import { decode, encode } from "../../../bench/model/dtype.ts";
import { emulate } from "../../testdata/emulated.ts";
import { h200 } from "../../testdata/devices.ts";
import { listen } from "../../testdata/listener.ts";
import { swiglu } from "../op.ts";
import { cudaKernels } from "./cuda.ts";

const [cublas, merged, fused, fusedDot] = cudaKernels;

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
    config: { BM: 64, BN: 80, BK: 128, WARPS: 4, CLUSTER: 3, RESIDENT: 1 },
  });
  assertEquals(launch!.shape!.grid, [3, 2, 6]);
  assertStrictEquals(launch!.shape!.cluster, 3);
  const box = { type: "bf16", columns: 2000, ld: 2000, boxColumns: 64 };
  const weights = { ...box, rows: 330, boxRows: 64 };
  assertEquals(maps, [weights, weights, { ...box, rows: 150, boxRows: 80 }]);
  // 16 steps of K, six for the first two blocks.
  assertEquals(launch!.args.at(-2), { kind: "i32", value: 768 });
  // Three have room beside the gates and ups of a tile.
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    3 * ((64 * 2 + 80) * 128 * 2 + 16) + 3 * 854 * 16 + 16,
  );
});

/** What `fused-dot` says of M at N = 256, K = 7168 in bf16, or of another device. */
function dotUnsupported(m: number, info = h200): string | undefined {
  return fusedDot!.unsupported(swiglu.point({ m, n: 256, k: 7168 }), info);
}

Deno.test("fused-dot is for at most eight rows, on devices with bf16", () => {
  assertStrictEquals(dotUnsupported(8), undefined);
  assertStrictEquals(
    dotUnsupported(9),
    "M=9: a thread has registers for 8 rows of sums",
  );
  assertStrictEquals(
    dotUnsupported(1, { ...h200, arch: "sm_75" }),
    "sm_75 has no cp.async and no bf16 tensor cores: sm_80 has",
  );
});

/** The launch of `fused-dot` at 3 x 257 and `k` columns, with operands `offset` bytes off. */
function dotLaunch(k: number, offset = 0n) {
  const { queue: [launch, ...more] } = listen(swiglu, fusedDot!, {
    values: { m: 3, n: 257, k },
    config: { THREADS: 128, COLS: 4, UNROLL: 2, CLUSTER: 2 },
    offset,
  });
  assertEquals(more, []);
  return launch!;
}

Deno.test("fused-dot is one launch with a block's share of both weights, and K over clusters", () => {
  const { what, shape } = dotLaunch(7168);
  assertStrictEquals(what, "swiglu_dot");
  // Two gates and their ups a block.
  assertEquals(shape, {
    grid: [129 * 2, 1, 1],
    block: [128, 1, 1],
    cluster: 2,
    waits: true,
  });
});

Deno.test("fused-dot reads element by element where 16 bytes do not fit", () => {
  const entry = (k: number, offset?: bigint) => dotLaunch(k, offset).what;
  assertEquals(entry(7168), "swiglu_dot");
  assertEquals(entry(7164), "swiglu_dot_ragged");
  assertEquals(entry(7168, 8n), "swiglu_dot_ragged");
});

Deno.test("candidates() of fused-dot have legal configs of whole pairs at every size", () => {
  for (const [m, n, k] of [[1, 1, 1], [8, 3, 7], [2, 2048, 7168]] as const) {
    const all = [...fusedDot!.candidates(swiglu.point({ m, n, k }), h200)];
    assert(all.some(({ illegal }) => !illegal), `${m}x${n}x${k}`);
    assert(all.every(({ config }) => Number(config.COLS) % 2 === 0));
  }
  // N and K of a Llama layer: as many rows of weights as fill the device twice need no clusters.
  const large = swiglu.point({ m: 1, n: 14336, k: 4096 });
  const found = [...fusedDot!.candidates(large, h200)]
    .find(({ config }) => Number(config.CLUSTER) > 1);
  assertMatch(found?.illegal ?? "", /groups of columns fill 132/);
});

Deno.test("configs of fused-dot have blocks that read whole rows of weights at once", () => {
  const candidates = (k: number) => [
    ...fusedDot!.candidates(swiglu.point({ m: 1, n: 2048, k }), h200),
  ];
  const threads = (k: number) =>
    new Set(candidates(k).map(({ config }) => config.THREADS));
  assertEquals(threads(7168), new Set([128, 256, 512, 448, 224]));
  assertEquals(threads(5120), new Set([128, 256, 512, 320, 160]));
  assertEquals(threads(8192), new Set([128, 256, 512]));
  // 129 chunks are no whole warps.
  assertEquals(threads(1032), new Set([128, 256, 512, 160]));
});

Deno.test("fused-dot starts with the config that was the fastest at one row of long K", () => {
  for (const k of [5120, 6144, 7168, 8192]) {
    const point = swiglu.point({ m: 1, n: 3072, k });
    const [first] = [...fusedDot!.candidates(point, h200)]
      .filter(({ illegal }) => illegal === undefined)
      .toSorted((a, b) => a.predicted! - b.predicted!);
    const config = { THREADS: k / 16, COLS: 2, UNROLL: 2, CLUSTER: 1 };
    assertEquals(first!.config, config);
  }
});

/** A library that multiplies on the host, and rounds as a device does. */
const hostBlas: Blas = {
  name: "host",
  version: "0",
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
            op: swiglu,
            kernel,
            config: {},
            seeds: [1],
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
