/**
 * Launches kernels as serving engines do: repacked weights, locks, a cluster, programmatic
 * dependent launch and a tensor map. Without a GPU:
 * `mnkbench check --suite ./suite.ts --device emulator:sm_90a --kernel repacked,locked --m 4 --k 64`.
 */

import {
  bool,
  type BuildOptions,
  bytes,
  defineKernel,
  defineLaunch,
  defineSuite,
  i32,
  kernels,
  type LaunchShape,
  matmul,
  type MatmulPoint,
  mem,
  tensorMapOn,
} from "mnkbench";

/** Headers of another folder, and a flag of the compiler. */
const options: BuildOptions = {
  includes: [new URL("../../kernels/device/", import.meta.url)],
  flags: ["-lineinfo"],
};
const build = {
  source: new URL("./serving.cu", import.meta.url),
  defines: {},
  ...options,
};
const about = { backend: "cuda", builds: () => [build] } as const;

const THREADS = 128;
const tiles = (n: number) => Math.ceil(n / THREADS);

/** A block for each row and 128 columns. */
function blocks({ m, n }: MatmulPoint, z = 1): LaunchShape {
  return { grid: [tiles(n), m, z], block: [THREADS, 1, 1] };
}

/** `Shape` of serving.cu: a struct by value. */
function shapeOf({ m, n, k, lda, ldb, ldc }: MatmulPoint) {
  return bytes(new Uint8Array(Int32Array.of(m, n, k, lda, ldb, ldc).buffer), 4);
}

/** `setup` repacks the weights once, untimed; `sharedBytes` is dynamic shared memory. */
const repacked = defineKernel(matmul, {
  ...about,
  name: "repacked",
  idea: "weights repacked before timing",
  unsupported: ({ k }, { sharedBytes }) =>
    2 * k <= sharedBytes ? undefined : `a row of ${k} is too long`,
  prepare({ point, operands: { A, B, C, bias }, program, alloc }) {
    const { n, k, ldb } = point;
    const packed = alloc(2 * n * k);
    const sizes = [n, k, ldb].map(i32);
    const pointers = [A!, packed, bias!, C!].map(mem);
    return {
      setup: [
        program(build, "repack").step([mem(B!), mem(packed), ...sizes], {
          grid: [tiles(n), k, 1],
          block: [THREADS, 1, 1],
        }),
      ],
      steps: [
        program(build, "repacked").step([...pointers, shapeOf(point)], {
          ...blocks(point),
          sharedBytes: 2 * k,
        }),
      ],
    };
  },
});

/** The build for bf16 or, as of a router's logits, fp32 results. */
const sized = ({ typeC }: MatmulPoint) => ({
  ...build,
  defines: typeC === "f32" ? { MINE_WIDE: 1 } : {},
});

/**
 * `alloc(..., 0)` is zeroed once; each call leaves zeros. `bool` is an argument. With `takes` it is
 * also run where operands have several types: `--axis type_c=f32`.
 */
const locked = defineKernel(matmul, {
  ...about,
  takes: ["types"],
  unsupported: ({ typeB, typeC = "f32" }) =>
    typeB === undefined && typeC === "f32"
      ? undefined
      : "only C can be of another type: fp32",
  builds: (point) => [sized(point)],
  name: "locked",
  idea: "split K, the last block of a tile by a lock",
  prepare({ point, operands: { A, B, C, bias }, program, alloc }) {
    const { m, n } = point;
    const sums = alloc(4 * m * n, 0);
    const locks = alloc(4 * m * tiles(n), 0);
    const pointers = [A!, B!, bias!, C!, sums, locks].map(mem);
    const args = [...pointers, shapeOf(point), bool(true)];
    const locked = program(sized(point), "locked");
    return { steps: [locked.step(args, blocks(point, 4))] };
  },
});

/** An entry by shape, and a macro that is no name of the source. */
const clustered = defineLaunch(matmul, {
  ...options,
  name: "clustered",
  backend: "cuda",
  idea: "split K over a cluster",
  source: build.source,
  entry: ({ m }) => m === 1 ? "clustered_1" : "clustered_4",
  tunables: { BLOCKS: [2, 4] },
  macroPrefix: "MINE_",
  shape: ({ m, n }, { BLOCKS }) => ({
    grid: [tiles(n) * BLOCKS, m === 1 ? 1 : Math.ceil(m / 4), 1],
    block: [THREADS, 1, 1],
    cluster: BLOCKS,
  }),
});

/** The second launch starts early and waits (programmatic dependent launch). */
const overlapped = defineKernel(matmul, {
  ...about,
  name: "overlapped",
  idea: "two launches that overlap",
  unsupported: (_, { overlaps }) =>
    overlaps ? undefined : "it needs programmatic dependent launch",
  prepare({ point, operands: { A, B, C, bias }, program, alloc }) {
    const sums = mem(alloc(4 * point.m * point.n));
    const shape = shapeOf(point);
    return {
      steps: [
        program(build, "first")
          .step([mem(A!), mem(B!), sums, shape], blocks(point)),
        program(build, "second")
          .step([sums, mem(bias!), mem(C!), shape], {
            ...blocks(point),
            overlap: true,
          }),
      ],
    };
  },
});

/** A tensor map with the options of the driver. */
const mapped = defineKernel(matmul, {
  ...about,
  name: "mapped",
  idea: "A by a tensor map",
  unsupported: ({ lda }, { tensorMaps }) =>
    !tensorMaps
      ? "it needs tensor maps"
      : lda % 8 > 0
      ? `rows of A are ${2 * lda} bytes apart, no multiple of 16`
      : undefined,
  prepare({ point, device, operands: { A, B, C, bias }, program }) {
    const { m, n, k, lda } = point;
    const map = tensorMapOn(device, A!, {
      type: "bf16",
      dims: [k, m],
      strides: [2 * lda],
      box: [64, 16],
      promotion: 128,
    });
    const args = [map, ...[B!, bias!, C!].map(mem), shapeOf(point)];
    return {
      steps: [
        program(build, "mapped").step(args, {
          grid: [tiles(n), Math.ceil(m / 16), 1],
          block: [THREADS, 1, 1],
        }),
      ],
    };
  },
});

export default defineSuite({
  name: "example-serving",
  title: "A · Bᵀ + bias in bf16, launched as serving engines do",
  op: matmul,
  axes: { m: [1, 16], k: [4096] },
  fixed: { n: 2048, type: "bf16", epilogue: "bias", layout: "nt" },
  kernels: [
    ...kernels.filter(({ name }) => /^(cublas|naive|openblas)/.test(name)),
    ...[repacked, locked, clustered, overlapped, mapped],
  ],
  baselines: ["cublas", "openblas", "naive"],
});
