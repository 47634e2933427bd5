/**
 * Divides the time of a program's step into lines: one for each different GEMM, one for each other
 * kernel, and one for the time without a kernel.
 *
 * @module
 */

import type { Captured, CapturedGemm } from "../../bench/model/captured.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { type GemmPoint, pointOfGemm } from "./points.ts";

/** A part of a program's step: a GEMM, another kernel, or the time without a kernel. */
export interface CapturedLine {
  /** Sizes, types, layout and epilogue, or the name of another kernel. */
  readonly label: string;
  /** Names of the kernels or layers. */
  readonly names: readonly string[];
  /**
   * What called the GEMM, such as `cublaslt`, or `model` for a model's layer; empty for other
   * lines.
   */
  readonly source: string;
  /** Calls in a step; undefined for the time without a kernel. */
  readonly calls?: number;
  /** Milliseconds in a step; undefined if unknown. */
  readonly ms: number | undefined;
  /**
   * The share of the time of all kernels, from 0 to 1; undefined if unknown, and for the time
   * without a kernel.
   */
  readonly share: number | undefined;
  /** The point of an operation of mnkbench that computes this GEMM. */
  readonly point?: GemmPoint;
  /** Why no operation of mnkbench computes this GEMM. */
  readonly why?: string;
}

/** The lines of a step. */
export interface CapturedStep {
  /** The GEMMs, in descending order of their share. */
  readonly gemms: readonly CapturedLine[];
  /** Other kernels in descending order of their share, then the time without a kernel. */
  readonly rest: readonly CapturedLine[];
  /** Milliseconds of a step; undefined if no time was captured. */
  readonly ms: number | undefined;
  /**
   * What shares are relative to: the time of all kernels, or the sum of {@linkcode boundMs} if no
   * time was captured.
   */
  readonly of: "kernels" | "bound";
  /** Whether figures are for a step, or for the whole window because its steps are unknown. */
  readonly unit: "step" | "window";
}

/** Bytes per second and dense operations per second of the H200. Source: NVIDIA's data sheet. */
const H200 = {
  bytes: 4.8e12,
  flops: { f32: 67e12, bf16: 989e12, f16: 989e12, e4m3: 1979e12 },
} as const;

/** Describes {@linkcode boundMs} for notes. */
export const BOUND =
  "the bound on an H200 (4.8 TB/s, 989 TFLOP/s in bf16 and fp16, 1979 in FP8, 67 in fp32)";

/** Returns the least milliseconds of a call on an H200, which reads and writes each operand once. */
export function boundMs(
  { m, n, k, batch, a, b, c }: CapturedGemm,
): number {
  const bytesOf = (type: string) =>
    Object.hasOwn(BYTES, type) ? BYTES[type as keyof typeof BYTES] : 2;
  const rate = Object.hasOwn(H200.flops, a)
    ? H200.flops[a as keyof typeof H200.flops]
    : H200.flops.bf16;
  const bytes = bytesOf(a) * m * k + bytesOf(b) * k * n + bytesOf(c) * m * n;
  const seconds = Math.max(bytes / H200.bytes, 2 * m * n * k / rate);
  return 1e3 * batch * seconds;
}

/**
 * Formats a GEMM's sizes, types, layout and epilogue, and its strides and scales if they are
 * unusual.
 */
function labelOfGemm(gemm: CapturedGemm): string {
  const { m, n, k, batch, a, b, c, layout, epilogue, compute, scale } = gemm;
  const [rowA, rowB] = [layout[0] === "n" ? k : m, layout[1] === "n" ? n : k];
  const strides = [
    ...(gemm.lda === rowA ? [] : [`lda=${gemm.lda}`]),
    ...(gemm.ldb === rowB ? [] : [`ldb=${gemm.ldb}`]),
    ...(gemm.ldc === n ? [] : [`ldc=${gemm.ldc}`]),
  ];
  return [
    ...(batch > 1 ? [`${batch} of`] : []),
    `${m}×${n}×${k}`,
    ...new Set([a, b, c]),
    ...(compute === "f32" ? [] : [compute]),
    layout,
    ...(epilogue === "none" ? [] : [epilogue]),
    ...(scale === undefined ? [] : [scale]),
    ...strides,
  ].filter((word) => word !== "").join(" ");
}

/**
 * Returns the lines of a step of `captured`. Shares are relative to the time of all kernels and add up
 * to 1. Shares of the window would say little about a program whose GPU mostly waits.
 */
export function stepOf(captured: Captured): CapturedStep {
  const { steps = 1, window_s, gemms, other, clock, gpu_busy_us } = captured;
  const isTimed = clock !== "none";
  const phases = new Set(gemms.map(({ phase }) => phase));
  const found = gemms.map((gemm) => ({ gemm, point: pointOf(gemm) }));
  const merged = Map.groupBy(
    found,
    ({ gemm, point }) =>
      JSON.stringify(
        typeof point === "string"
          ? [labelOfGemm(gemm), point]
          : [point.op, point.key],
      ),
  );
  const lines = [...merged.values()].map((same) => {
    const { gemm, point } = same[0]!;
    const own = same.map((one) => one.gemm);
    const times = own.map((one) => one.time_us);
    const ms = isTimed && !times.includes(null)
      ? sumOf(times.map((time) => time ?? 0)) / 1e3 / steps
      : undefined;
    const bound = sumOf(own.map((one) => one.calls * boundMs(one))) / steps;
    return {
      label: labelOfGemm(gemm),
      names: [
        ...new Set(
          own.map(({ phase, name }) =>
            [...(phases.size > 1 ? [phase] : []), name].join(" ").trim()
          ),
        ),
      ].filter((name) => name !== ""),
      source: gemm.source,
      calls: sumOf(own.map(({ calls }) => calls)) / steps,
      ms,
      cost: isTimed ? ms : bound,
      ...(typeof point === "string" ? { why: point } : { point }),
    };
  });
  const none = { names: [], source: "" };
  const kernels = other.map(({ name, calls, time_us, is_gemm }) => {
    const ms = time_us / 1e3 / steps;
    const label = is_gemm ? `${name} (a GEMM, its call not seen)` : name;
    return { ...none, label, calls: calls / steps, ms, cost: ms };
  });
  const sum = sumOf([...lines, ...kernels].map(({ cost = 0 }) => cost));
  // Kernels of several streams may overlap, so that the sum of their times is more than the busy time.
  const busy = gpu_busy_us === undefined ? sum : gpu_busy_us / 1e3 / steps;
  const idle = isTimed ? Math.max(0, 1e3 * window_s / steps - busy) : 0;
  const withShare = <T extends { cost: number | undefined }>(
    { cost, ...line }: T,
  ) => ({
    ...line,
    share: cost === undefined || sum === 0 ? undefined : cost / sum,
  });
  const byCost = (a: { cost: number | undefined }, b: typeof a) =>
    (b.cost ?? 0) - (a.cost ?? 0);
  return {
    gemms: lines.toSorted(byCost).map(withShare),
    rest: [
      ...kernels.toSorted(byCost).map(withShare),
      // A smaller difference is a rounding error of the sum.
      ...(idle > 1e-9 * (sum + idle)
        ? [{
          ...none,
          label: clock === "cupti" ? "no kernel" : "not recorded",
          ms: idle,
          share: undefined,
        }]
        : []),
    ],
    ms: isTimed ? sum + idle : undefined,
    of: isTimed ? "kernels" : "bound",
    unit: captured.steps === undefined ? "window" : "step",
  };
}

/**
 * Returns the point of `gemm`, or why it has none. The recorder may know a reason that its sizes do
 * not show.
 */
function pointOf(gemm: CapturedGemm): GemmPoint | string {
  return gemm.op === "" && gemm.why_no_op !== ""
    ? gemm.why_no_op
    : pointOfGemm(gemm);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
