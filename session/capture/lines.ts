/**
 * Arranges what a program spends a step on: a line for each point of its GEMMs, and the rest.
 *
 * @module
 */

import type { Captured, CapturedGemm } from "../../bench/model/captured.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { type GemmPoint, pointOfGemm } from "./points.ts";

/** What a program spends a part of its step on. */
export interface CapturedLine {
  /** Sizes, types, layout and epilogue, or the name of another kernel. */
  readonly label: string;
  /** Names of the kernels or layers. */
  readonly names: readonly string[];
  /** What called it; empty for what is no GEMM. */
  readonly source: string;
  /** Calls a step; undefined for time without a kernel. */
  readonly calls?: number;
  /** Milliseconds a step; undefined where they are unknown. */
  readonly ms: number | undefined;
  /** Share of the time of all kernels, from 0 to 1; undefined where it is unknown, and of no kernel. */
  readonly share: number | undefined;
  /** The point of an operation that computes it. */
  readonly point?: GemmPoint;
  /** Why no operation does; of GEMMs alone. */
  readonly why?: string;
}

/** The lines of a step. */
export interface CapturedStep {
  /** GEMMs: those with the largest share first. */
  readonly gemms: readonly CapturedLine[];
  /** Other kernels, the largest share first, and the time without a kernel. */
  readonly rest: readonly CapturedLine[];
  /** Milliseconds of a step; undefined where no time is known. */
  readonly ms: number | undefined;
  /** What shares are of: the time of kernels, or least times where no time is known. */
  readonly of: "kernels" | "bound";
  /** What a step is: the whole window where the steps in it are unknown. */
  readonly unit: "step" | "window";
}

/** NVIDIA's data sheet of the H200: bytes and dense operations a second. */
const H200 = {
  bytes: 4.8e12,
  flops: { f32: 67e12, bf16: 989e12, f16: 989e12, e4m3: 1979e12 },
} as const;

/** Names the bound of {@linkcode boundMs}. */
export const BOUND =
  "the bound on an H200 (4.8 TB/s, 989 TFLOP/s in bf16 and fp16, 1979 in FP8, 67 in fp32)";

/** The least time of a call on an H200 in milliseconds: operands read and written once. */
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

/** Returns a GEMM's sizes, types, layout and what else tells it from others. */
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
 * Returns the lines of a step of `captured`. Shares are of the time of kernels, and add up to 1: that of
 * the window says little where the GPU mostly waits.
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
  // Kernels of several streams may run at once: their sum is more than the time in which any ran.
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
      // Rounding of the sum is no time without a kernel.
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

/** Returns the point of `gemm`, or why it has none: what captured it may know more than its sizes. */
function pointOf(gemm: CapturedGemm): GemmPoint | string {
  return gemm.op === "" && gemm.why_no_op !== ""
    ? gemm.why_no_op
    : pointOfGemm(gemm);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
