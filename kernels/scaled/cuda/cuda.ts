/**
 * The CUDA kernels of {@linkcode scaledMatmul}: cuBLASLt, by its first choice and by a search,
 * and one of ours.
 *
 * @module
 */

import type { Blas, FusedGemm } from "../../../bench/device/blas.ts";
import type {
  Build,
  Device,
  DeviceInfo,
} from "../../../bench/device/device.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { grid, type Values } from "../../../bench/model/grid.ts";
import { defineKernel, type Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import type { Operands } from "../../../bench/model/problem.ts";
import { scaledMatmul } from "../op.ts";
import { BLOCK, type ScaledPoint } from "../point.ts";

/** The workspace in bytes that PyTorch gives cuBLASLt on Hopper. */
const WORKSPACE_BYTES = 32 << 20;

/** @throws {CaseError} `unsupported`, where the device has no cuBLASLt. */
function blasltOf(
  { blas, blasReason }: Device,
): Required<Pick<Blas, "fused" | "algorithms" | "fusedBy">> {
  if (blas?.fused && blas.algorithms && blas.fusedBy) {
    const { fused, algorithms, fusedBy } = blas;
    return { fused, algorithms, fusedBy };
  }
  throw new CaseError(
    "unsupported",
    blasReason ??
      "cuBLASLt was not found: install the CUDA toolkit's libraries",
  );
}

function gemmOf(
  { m, n, k, scale }: ScaledPoint,
  { A, B, scaleA, scaleB, C }: Operands,
): Omit<FusedGemm, "workspace"> {
  return {
    ...{ m, n, k, epilogue: "none" },
    a: { memory: A!, type: "e4m3", ld: k },
    b: { memory: B!, type: "e4m3", ld: k, transposed: true },
    c: { memory: C!, type: "bf16", ld: n },
    scales: { kind: scale, a: scaleA!, b: scaleB! },
  };
}

/** FP8 operands and block scales that cuBLASLt takes (cuBLAS 13.0 documentation). */
function notInBlaslt({ m, n, k, scale }: ScaledPoint): string | undefined {
  if (k % 16 !== 0 || n % 8 !== 0) {
    return `N=${n}, K=${k}: cuBLASLt takes rows of whole 16-byte chunks`;
  }
  return scale === "block128" && m % 4 !== 0
    ? `M=${m}: cuBLASLt takes block scales for multiples of 4`
    : undefined;
}

const cublaslt: Kernel<ScaledPoint> = defineKernel(scaledMatmul, {
  name: "cublaslt",
  backend: "cuda",
  idea: "the library's scaled FP8 product, by its first heuristic",
  unsupported: notInBlaslt,
  prepare({ point, operands, device, alloc }) {
    const gemm = gemmOf(point, operands);
    const workspace = alloc(WORKSPACE_BYTES);
    const [choice] = blasltOf(device).fused({ ...gemm, workspace }, 1);
    return { steps: [choice!.step] };
  },
});

const tuned: Kernel<ScaledPoint> = defineKernel(scaledMatmul, {
  name: "cublaslt-tuned",
  backend: "cuda",
  idea: "the library's scaled FP8 product, by a search of its algorithms",
  unsupported: notInBlaslt,
  offers(point, device) {
    // Aligned as operands are, which are not there yet; nothing is launched.
    using memory = device.alloc(WORKSPACE_BYTES);
    const [A, B, C, scaleA, scaleB] = [memory, memory, memory, memory, memory];
    const gemm = gemmOf(point, { A, B, C, scaleA, scaleB });
    return blasltOf(device).algorithms({ ...gemm, workspace: memory });
  },
  prepare({ point, config, operands, device, alloc }) {
    const { fused, fusedBy } = blasltOf(device);
    const workspace = alloc(WORKSPACE_BYTES);
    const gemm = { ...gemmOf(point, operands), workspace };
    // Without a description it is the default.
    const [choice] = Object.keys(config).length === 0
      ? fused(gemm, 1)
      : [fusedBy(gemm, config)];
    return { steps: [choice!.step] };
  },
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

function build({ scale }: ScaledPoint, config: Direct): Build {
  return {
    source: new URL("./scaled.cu", import.meta.url),
    defines: { SCALE: scale, ...config },
  };
}

const direct: Kernel<ScaledPoint> = defineKernel<ScaledPoint, Direct>(
  scaledMatmul,
  {
    name: "direct",
    backend: "cuda",
    idea: "codes to f16 in registers, no shared memory, K over a cluster",
    unsupported: ({ k }, { arch }) =>
      Number(/^sm_(\d+)/.exec(arch)?.[1]) < 90
        ? `${arch} has no thread-block clusters: sm_90 has`
        : k % 16 !== 0
        ? `K=${k}: rows are loaded by whole 16-byte chunks`
        : undefined,
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
    builds: (point, config) => [build(point, config)],
    prepare({ point, config, operands, program }) {
      const { ROWS, TOKENS, WARPS, CLUSTER } = config;
      const { tilesN, tilesM } = cutOf(point, config);
      const step = program(build(point, config), "direct").step(
        scaledMatmul.args(point, operands),
        {
          grid: [CLUSTER, tilesN, tilesM],
          block: [32 * WARPS, 1, 1],
          sharedBytes: (WARPS + 1) * ROWS * TOKENS * 4 + 16,
          ...(CLUSTER > 1 ? { cluster: CLUSTER } : {}),
        },
      );
      return { steps: [step] };
    },
  },
);

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<ScaledPoint>[] = [
  cublaslt,
  tuned,
  direct,
];
