/**
 * MLX's dispatch of quantised products on Metal: the kernel that it takes and its slices of K;
 * slices of a K that does not divide evenly; the names of its kernels.
 *
 * Source: ml-explore/mlx, `mlx/backend/metal/quantized.cpp` at 846d176 (2026-08-22); slices also
 * ml-explore/mlx#3854.
 *
 * @module
 */

import type { MetalTile } from "../../common/metal_tile.ts";
import type { QmmPoint } from "../point.ts";

/** An Apple GPU, as its architecture's name has it: `applegpu_g15s`. */
interface AppleGpu {
  readonly generation: number;
  /** `p` phone, `g` base or pro, `s` max, `d` ultra. */
  readonly size: string;
}

/** The product that is dispatched. */
interface MlxProduct {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly group: number;
  readonly transposed: boolean;
}

/** The family of kernels that is taken, and the slices of K. */
export interface MlxChoice {
  readonly kernel:
    | "qmv"
    | "qvm"
    | "qvm_split_k"
    | "qmm"
    | "qmm_splitk"
    | "qmm_nax";
  readonly split: number;
}

/** Reads the name of an Apple GPU. @throws {RangeError} If `name` is no architecture of Apple. */
export function parseAppleGpu(name: string): AppleGpu {
  const [, generation, size] = /^applegpu_g(\d+)([a-z])$/.exec(name) ?? [];
  if (generation === undefined || size === undefined) {
    throw new RangeError(
      `Cannot read the architecture ${name}: it has the form applegpu_g15s`,
    );
  }
  return { generation: Number(generation), size };
}

/**
 * Returns whether MLX has kernels for the matrix units of a GPU ("NAX"): from the M5 on, with macOS
 * 26.2 (`is_nax_available` of `mlx/backend/metal/device.cpp`).
 *
 * @param driver The system, as `macOS 26.2 (Build 25C56)`.
 * @example
 * ```ts
 * import { hasMatrixUnits, parseAppleGpu } from "./mlx_dispatch.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const m5max = parseAppleGpu("applegpu_g17s");
 * strictEqual(hasMatrixUnits(m5max, "macOS 26.2 (Build 25C56)"), true);
 * ```
 */
export function hasMatrixUnits(
  { generation, size }: AppleGpu,
  driver: string,
): boolean {
  const [, major, minor] = /^macOS (\d+)(?:\.(\d+))?/.exec(driver) ?? [];
  const system = 100 * Number(major ?? 0) + Number(minor ?? 0);
  return system >= 2602 && generation >= (size === "p" ? 18 : 17);
}

/**
 * The tile that MLX gives to matrix units: 32 rows where they are all of x, else 64
 * (ml-explore/mlx#4171); 64 columns and steps of 64.
 */
export function naxTile({ m }: Pick<MlxProduct, "m">): MetalTile {
  return { BM: m <= 32 ? 32 : 64, BN: 64, BK: 64, SM: 2, SN: 2 };
}

/** From which M on a matrix kernel is faster, for K and N up to 2048, to 4096, beyond. */
type Limits = readonly [number, number, number];

function limitsOf({ generation, size }: AppleGpu): Limits {
  if (size === "d") return [32, 18, 12];
  if (generation === 13 || generation === 14) return [14, 10, 6];
  if (generation >= 17) return [33, 25, 13];
  return generation >= 15 ? [13, 15, 13] : [18, 12, 10];
}

/**
 * The least M for which x · Wᵀ is not taken by a vector kernel (`qmv_batch_limit`).
 *
 * @example
 * ```ts
 * import { parseAppleGpu, qmvBatchLimit } from "./mlx_dispatch.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const m3max = parseAppleGpu("applegpu_g15s");
 * strictEqual(qmvBatchLimit({ n: 4096, k: 4096 }, m3max), 15);
 * ```
 */
export function qmvBatchLimit(
  { n, k }: { readonly n: number; readonly k: number },
  gpu: AppleGpu,
): number {
  const tier = [2048, 4096].findIndex((size) => n <= size && k <= size);
  return limitsOf(gpu)[tier < 0 ? 2 : tier]!;
}

/** Rows and columns of a threadgroup's tile, and its step along K. */
const TILE = 32;
/** Threadgroups to aim at. */
const THREADGROUPS = 512;

/**
 * Returns into how many equal slices of whole groups `qmm_splitk` cuts K; 1 where it does not.
 *
 * Slices are multiples of the kernel's step as well (ml-explore/mlx#3854): with nvfp4's groups of
 * 16 they were none before, and the results wrong.
 */
export function splitOf(
  { m, n, k, group }: Omit<MlxProduct, "transposed">,
): number {
  const unit = Math.max(group, TILE);
  const tiles = Math.ceil(n / TILE) * Math.ceil(m / TILE);
  let split = Math.max(1, Math.floor(THREADGROUPS / tiles));
  split = Math.min(split, Math.floor(k / unit));
  while (split > 1 && k % (split * unit) !== 0) split--;
  return Math.max(1, split);
}

/** The shortest K that a vector kernel for x · W cuts, and the longest that it cuts in 8. */
const QVM = { least: 1024, short: 8192 } as const;

/**
 * Into how many slices MLX cuts K of x · W for a few rows of x; 1 where it does not. All are
 * equally long but for the last, which has what is left.
 *
 * @example
 * ```ts
 * import { qvmSplit } from "./mlx_dispatch.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual([1023, 1024, 8192, 16384].map(qvmSplit), [1, 8, 8, 32]);
 * ```
 */
export function qvmSplit(k: number): number {
  if (k < QVM.least) return 1;
  return k > QVM.short ? 32 : 8;
}

/**
 * Returns the kernel that MLX runs for a product.
 *
 * Matrix units take x · Wᵀ of whole steps that is not cut: their kernel for x · W was off at that
 * commit (ml-explore/mlx#4202), and there is none with slices.
 *
 * @param units Whether MLX has kernels for the GPU's matrix units.
 */
export function mlxChoice(
  product: MlxProduct,
  gpu: AppleGpu,
  units = false,
): MlxChoice {
  const { m, k, transposed } = product;
  const limit = transposed ? qmvBatchLimit(product, gpu) : 4;
  if (m >= limit) {
    const split = transposed ? splitOf(product) : 1;
    if (split > 1) return { kernel: "qmm_splitk", split };
    const nax = units && transposed && k % naxTile(product).BK === 0;
    return { kernel: nax ? "qmm_nax" : "qmm", split };
  }
  if (transposed) return { kernel: "qmv", split: 1 };
  const split = qvmSplit(k);
  return { kernel: split > 1 ? "qvm_split_k" : "qvm", split };
}

/** A slice of K. */
interface Slice {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/**
 * K in `split` slices, or fewer where it is too short for as many: all but the last of the
 * same number of whole `unit`s, the last with what is left, whole units or not.
 *
 * MLX takes fewer slices instead until they are equal: 2560 in groups of 64 has 5 where 6
 * are wanted, and 2624 has 1.
 *
 * @example
 * ```ts
 * import { slicesOf } from "./mlx_dispatch.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(slicesOf({ k: 320, split: 3, unit: 64 }), [
 *   { from: 0, to: 128 },
 *   { from: 128, to: 256 },
 *   { from: 256, to: 320 },
 * ]);
 * ```
 */
export function slicesOf(
  { k, split, unit }: {
    readonly k: number;
    readonly split: number;
    readonly unit: number;
  },
): Slice[] {
  const length = Math.ceil(k / (split * unit)) * unit;
  return Array.from({ length: Math.ceil(k / length) }, (_, i) => ({
    from: i * length,
    to: Math.min(k, (i + 1) * length),
  }));
}

/** The kernels that tile the output. */
export type MlxTiled = "qmm_t" | "qmm_n" | "qmm_t_splitk" | "qmm_t_nax";
/** The kernels of which MLX has one for each type, group and width. */
type MlxKernel = "qmv" | "qmv_fast" | "qvm" | "qvm_split_k" | MlxTiled;

const TYPE = { f16: "float16_t", bf16: "bfloat16_t" } as const;

/**
 * The name of a kernel at `point`; of `qvm_split_k` with the slices that it is compiled for.
 *
 * @example
 * ```ts
 * import { mlxName } from "./mlx_dispatch.ts";
 * import { readPoint } from "../point.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const point = readPoint({ m: 12, n: 2560, k: 2560, type: "f16" });
 * strictEqual(
 *   mlxName("qmm_t_splitk", point),
 *   "affine_qmm_t_splitk_float16_t_gs_64_b_4_alN_true",
 * );
 * ```
 */
export function mlxName(
  kernel: MlxKernel,
  { mode, type, group, bits, m, n }: Pick<
    QmmPoint,
    "mode" | "type" | "group" | "bits" | "m" | "n"
  >,
  split = 1,
): string {
  const start = `${mode}_${kernel}_${TYPE[type]}_gs_${group}_b_${bits}`;
  if (kernel === "qvm_split_k") return `${start}_spk_${split}`;
  if (kernel === "qmm_t_nax") {
    const { BM, BN, BK, SM, SN } = naxTile({ m });
    const tile = `bm${BM}_bn${BN}_bk${BK}_wm${SM}_wn${SN}`;
    return `${start}_${tile}_alN_${n % BN === 0}_batch_0`;
  }
  const aligned = `${start}_alN_${n % TILE === 0}`;
  if (kernel === "qmm_t_splitk") return aligned;
  return `${kernel === "qmm_t" ? aligned : start}_batch_0`;
}

/**
 * Returns whether `qmv_fast` is taken: whole threadgroups of rows, and of every row whole steps of a
 * simdgroup, whose lanes have two packs of codes each, one of 2 bits.
 */
export function isFast(
  { n, k, bits }: Pick<QmmPoint, "n" | "k" | "bits">,
): boolean {
  const pack = bits === 3 || bits === 5 ? 8 : bits === 6 ? 4 : 32 / bits;
  const step = pack * (bits === 2 ? 1 : 2) * 32;
  return n % 8 === 0 && k % step === 0;
}
