/**
 * The CUDA kernels of {@linkcode scaledMatmul}: cuBLASLt, by its first choice and by a search,
 * and products of warpgroups.
 *
 * @module
 */

import { type DeviceInfo, tensorMapOn } from "../../../bench/device/device.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { fusedKernels } from "../../common/blas.ts";
import { launched } from "../../common/launch.ts";
import { noWgmma } from "../../common/rules.ts";
import {
  cutOf,
  evenRows,
  type RingBytes,
  type RingConfig,
  ringConfigs,
  ringDefines,
  ringRules,
  ringShape,
  ringTime,
} from "../../common/wgmma_ring.ts";
import { scaledMatmul } from "../op.ts";
import { BLOCK, type ScaledPoint } from "../point.ts";

/** The tunables. */
type ScaledConfig = RingConfig & {
  /** 1: the sums of a step are added while the products of the next one are under way. */
  readonly AHEAD: number;
};

/** About the registers of a thread: its sums, those of steps, and what nvcc 13.0 takes beside them. */
function registersOf({ BM, BN, WARPS, AHEAD }: ScaledConfig): number {
  return BM * BN / 32 / WARPS * (2 + AHEAD) + 40;
}

/** Bytes of shared memory for scales, and for the sums that a cluster sends. */
function besideRing(point: ScaledPoint, config: RingConfig): number {
  const { BM, BN, CLUSTER } = config;
  const { slice } = cutOf(point, config);
  const scales = point.scale === "block128" ? slice / BLOCK * BN : BM + BN;
  // A share is whole units of four sums.
  const sums = CLUSTER > 1
    ? CLUSTER * Math.ceil(BM * BN / 4 / CLUSTER) * 16 + 16
    : 0;
  return scales * BYTES.f32 + sums;
}

function bytesOf(point: ScaledPoint, config: RingConfig): RingBytes {
  const { BM, BN, BK } = config;
  // A step has two barriers.
  return { step: (BM + BN) * BK + 16, beside: besideRing(point, config) };
}

const rules = {
  tile(_, { BM, BN, BK, WARPS }) {
    const columns = BM * BN / 16 / WARPS;
    return BLOCK % BM === 0 && BM % 64 === 0 && BK % BLOCK === 0 &&
        WARPS % 4 === 0 && WARPS * 16 >= BM && BN <= 256 &&
        BN % 8 === 0 && columns % 8 === 0
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`;
  },
  // ptxas 13.0 lets products wait for one another where a step has two turns.
  turns: ({ scale }, { BK }) =>
    scale !== "block128" || BK === BLOCK
      ? undefined
      : `BK=${BK}: a step has one scale of blocks of ${BLOCK}`,
  ahead: (point, config) =>
    config.AHEAD === 0 || cutOf(point, config).steps > 1
      ? undefined
      : "AHEAD=1: no step comes after the only one",
  ...ringRules(bytesOf, registersOf),
} satisfies Record<string, Rule<ScaledPoint, ScaledConfig>>;

function* configs(
  point: ScaledPoint,
  info: DeviceInfo,
): Generator<ScaledConfig> {
  const { m, n, scale } = point;
  // Narrow tiles of few rows of B fill more of the device.
  const most = [...(n > 1024 ? [] : [32]), 64, 128, 176];
  const rings = ringConfigs(point, info, {
    rows: most.map((rows) => evenRows(m, rows)),
    steps: scale === "block128" ? [BLOCK] : [BLOCK, 2 * BLOCK],
    splitsTiles: (BN) => BN >= 64,
  });
  for (const ring of rings) {
    // With scales of blocks it was slower at nearly every size.
    for (const AHEAD of scale === "block128" ? [0] : [1, 0]) {
      yield { ...ring, AHEAD };
    }
  }
}

/** See {@linkcode ringTime}. */
function predict(
  point: ScaledPoint,
  config: ScaledConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k, scale } = point;
  const { BM, BN, BK } = config;
  return ringTime(point, config, {
    units,
    memory: (m + n) * k / MEMORY,
    copied: BM + Math.min(m, BN),
    products: BM / 64 * 2 * BN * BK / BLOCK,
    waits: 250 + (scale === "block128" ? 3 * BN : 0) - 80 * config.AHEAD,
    sums: BM * BN,
  });
}

/** Bytes per µs of an H200's memory that these copies reach. */
const MEMORY = 3.1e6;

/** FP8 products of warpgroups. */
export const wgmma: Kernel<ScaledPoint> = launched<ScaledPoint, ScaledConfig>(
  scaledMatmul,
  {
    name: "wgmma",
    backend: "cuda",
    idea: "FP8 wgmma by tensor maps, fp32 sums of 128 of K, K over a cluster",
    unsupported: ({ k }, info) =>
      noWgmma(info) ??
        (k % 16 === 0
          ? undefined
          : `K=${k}: tensor maps take rows of whole 16-byte chunks`),
    configs,
    rules,
    predict,
    build: (point, config) => ({
      source: new URL("./wgmma.cu", import.meta.url),
      defines: {
        SCALE: point.scale,
        ...ringDefines(point, config, bytesOf(point, config)),
      },
    }),
    launch({ point, config, operands, device }) {
      const { m, n, k } = point;
      const { BM, BN } = config;
      const { slice } = cutOf(point, config);
      const { A, B, scaleA, scaleB, C } = operands;
      const box = {
        type: "e4m3",
        columns: k,
        ld: k,
        boxColumns: BLOCK,
      } as const;
      return {
        entry: "scaled_wgmma",
        args: [
          tensorMapOn(device, B!, {
            ...{ ...box, rows: n, boxRows: BM },
          }),
          tensorMapOn(device, A!, { ...box, rows: m, boxRows: BN }),
          ...[scaleA, scaleB, C, m, n, k, slice],
        ],
        shape: ringShape(point, config, bytesOf(point, config)),
      };
    },
  },
);

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

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<ScaledPoint>[] = [...library, wgmma];
