/**
 * The CUDA kernels of {@linkcode scaledMatmul}: cuBLASLt, by its first choice and by a search,
 * and ours.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { fusedKernels } from "../../common/blas.ts";
import { launched } from "../../common/launch.ts";
import { noClusters } from "../../common/rules.ts";
import { scaledMatmul } from "../op.ts";
import { BLOCK, type ScaledPoint } from "../point.ts";
import { wgmma } from "./wgmma.ts";

/** The workspace in bytes that PyTorch gives cuBLASLt on Hopper. */
const WORKSPACE_BYTES = 32 << 20;

/** FP8 operands and block scales that cuBLASLt takes (cuBLAS 13.0 documentation). */
function notInBlaslt({ m, n, k, scale }: ScaledPoint): string | undefined {
  if (k % 16 !== 0 || n % 8 !== 0) {
    return `N=${n}, K=${k}: cuBLASLt takes rows of whole 16-byte chunks`;
  }
  return scale === "block128" && m % 4 !== 0
    ? `M=${m}: cuBLASLt takes block scales for multiples of 4`
    : undefined;
}

const library = fusedKernels(scaledMatmul, {
  ...{ backend: "cuda", name: "cublaslt", title: "cuBLASLt" },
  ...{ workspaceBytes: WORKSPACE_BYTES, searched: "algorithms" },
  product: "the library's scaled FP8 product",
  unsupported: notInBlaslt,
  gemmOf: ({ m, n, k, scale }, { A, B, scaleA, scaleB, C }) => ({
    ...{ m, n, k, epilogue: "none" },
    a: { memory: A!, type: "e4m3", ld: k },
    b: { memory: B!, type: "e4m3", ld: k, transposed: true },
    c: { memory: C!, type: "bf16", ld: n },
    scales: { kind: scale, a: scaleA!, b: scaleB! },
  }),
});

/** The macros of `direct` in scaled.cu. */
type Direct = Values & {
  /** Rows of B of a block's tile. */
  readonly ROWS: number;
  /** Rows of A of a block's tile. */
  readonly TOKENS: number;
  readonly WARPS: number;
  /** Blocks that share K. */
  readonly CLUSTER: number;
  /** 128 of K, so many times, that a warp loads ahead. */
  readonly STAGES: number;
};

/** Registers of a thread at most, less what nvcc 13.0 takes beyond {@linkcode registersOf}. */
const MOST_REGISTERS = 215;

/** About how many registers a thread takes. */
function registersOf(
  { scale }: ScaledPoint,
  { ROWS, TOKENS, STAGES }: Direct,
): number {
  const [high, wide] = [ROWS / 16, TOKENS / 8];
  const scales = scale === "block128" ? 2 * wide + 1 : 0;
  const stage = 16 * high + 8 * wide + scales + 4;
  return STAGES * stage + 4 * high * wide + 8 * high + 24;
}

/** The division of the work by a config. */
function cutOf({ m, n, k }: ScaledPoint, config: Direct) {
  const { ROWS, TOKENS, WARPS, CLUSTER } = config;
  const share = Math.ceil(Math.ceil(k / BLOCK) / CLUSTER);
  return {
    tilesN: Math.ceil(n / ROWS),
    tilesM: Math.ceil(m / TOKENS),
    /** 128 of K that a block, and a warp, has. */
    share,
    turns: Math.ceil(share / WARPS),
  };
}

/** The least tile that covers M, at most 64. */
function coveringM(m: number): number {
  return Math.min(64, 2 ** Math.max(3, Math.ceil(Math.log2(m))));
}

const rules = {
  tokens: ({ m }, { TOKENS }) =>
    TOKENS <= coveringM(m) && 2 * TOKENS >= coveringM(m)
      ? undefined
      : `TOKENS=${TOKENS} does not fit M=${m}`,
  registers(point, config) {
    const registers = registersOf(point, config);
    return registers <= MOST_REGISTERS
      ? undefined
      : `about ${registers} registers a thread are more than ${MOST_REGISTERS}`;
  },
  stages(point, config) {
    const { turns } = cutOf(point, config);
    return config.STAGES <= 2 ** Math.ceil(Math.log2(turns))
      ? undefined
      : `STAGES=${config.STAGES} is more than the ${turns} turns of a warp`;
  },
  idle(point, config) {
    const { share } = cutOf(point, config);
    return config.WARPS === 4 && config.CLUSTER === 1 ||
        2 * share >= config.WARPS
      ? undefined
      : `more than half of the warps would have no part of K=${point.k}`;
  },
  cluster(point, config, { units }) {
    const { tilesM, tilesN } = cutOf(point, config);
    return config.CLUSTER === 1 || tilesM * tilesN < 2 * units
      ? undefined
      : `${
        tilesM * tilesN
      } tiles fill ${units} multiprocessors without clusters`;
  },
} satisfies Record<string, Rule<ScaledPoint, Direct>>;

/**
 * A rough time in µs: B at the rate that the bytes in flight allow, or both operands as often as
 * tiles read them, and the steps that wait for one another.
 */
function predict(
  point: ScaledPoint,
  config: Direct,
  { units }: DeviceInfo,
): number {
  const { m, n, k } = point;
  const { ROWS, TOKENS, WARPS, CLUSTER, STAGES } = config;
  const { tilesN, tilesM, turns } = cutOf(point, config);
  const blocks = tilesN * tilesM * CLUSTER;
  const room = 65536 / (32 * WARPS * registersOf(point, config));
  const resident = Math.min(
    Math.max(1, Math.floor(room)),
    Math.ceil(blocks / units),
  );
  const busy = Math.min(units, blocks);
  const flying = busy * resident * WARPS * Math.min(STAGES, turns) *
    (ROWS + TOKENS) * BLOCK;
  // Bytes per µs: of memory, of a round trip of 0.75 µs, of the second-level cache, of a
  // multiprocessor's port.
  const weights = n * k / Math.min(4.3e6, flying / 0.75);
  const all = (n * k * tilesM + m * k * tilesN) / Math.min(5.5e6, busy * 112e3);
  const waves = Math.ceil(blocks / (units * resident));
  return 5 + Math.max(weights, all) + 0.3 * (waves - 1) +
    (CLUSTER > 1 ? 0.45 : 0);
}

const direct: Kernel<ScaledPoint> = launched<ScaledPoint, Direct>(
  scaledMatmul,
  {
    name: "direct",
    backend: "cuda",
    idea: "codes to f16 in registers, no shared memory, K over a cluster",
    unsupported: ({ k }, info) =>
      noClusters(info) ??
        (k % 16 === 0
          ? undefined
          : `K=${k}: rows are loaded by whole 16-byte chunks`),
    configs: () =>
      grid({
        ROWS: [16, 32],
        TOKENS: [8, 16, 32, 64],
        WARPS: [4, 8],
        CLUSTER: [1, 2, 4, 8],
        STAGES: [1, 2, 4],
      }),
    rules,
    predict,
    build: ({ scale }, config) => ({
      source: new URL("./scaled.cu", import.meta.url),
      defines: { SCALE: scale, ...config },
    }),
    launch({ point, config, operands }) {
      const { ROWS, TOKENS, WARPS, CLUSTER } = config;
      const { tilesN, tilesM } = cutOf(point, config);
      return {
        entry: "direct",
        args: scaledMatmul.args(point, operands),
        shape: {
          grid: [CLUSTER, tilesN, tilesM],
          block: [32 * WARPS, 1, 1],
          sharedBytes: (WARPS + 1) * ROWS * TOKENS * 4 + 16,
          ...(CLUSTER > 1 ? { cluster: CLUSTER } : {}),
        },
      };
    },
  },
);

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<ScaledPoint>[] = [
  ...library,
  direct,
  wgmma,
];
