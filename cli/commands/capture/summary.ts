/**
 * Formats what a program's GEMMs cost.
 *
 * @module
 */

import {
  aligned,
  counted,
  shortened,
} from "../../../bench/files/terminal_text.ts";
import type { Captured, CapturedGemm } from "../../../bench/model/captured.ts";
import { BOUND, boundMs } from "../../../session/capture/lines.ts";

const MOST_GEMMS = 20;
const MOST_OTHERS = 5;
/** Columns of a kernel's name. */
const NAME_WIDTH = 100;

/**
 * Returns the lines of a summary: GEMMs in the order of what they cost, with shares of the time of all
 * kernels, or of the bound where no time is known, and what is not covered.
 */
export function summaryOf(captured: Captured): readonly string[] {
  const { gemms, other, clock, window_s, gpu_busy_us, notes } = captured;
  const time = timeOf(gemms);
  const unseen = other.filter(({ is_gemm }) => is_gemm);
  const rest = other.filter(({ is_gemm }) => !is_gemm);
  const calls = gemms.reduce((sum, gemm) => sum + gemm.calls, 0);
  const busy = gpu_busy_us === undefined
    ? ""
    : `; the GPU was busy for ${percent(gpu_busy_us, window_s * 1e6)} of it`;
  const timed = clock === "none" ? "" : `, ${milliseconds(time)} of kernels`;
  // A model that was not run has no window.
  const window = window_s > 0
    ? ` in ${Number(window_s.toPrecision(3))} s${busy}`
    : "";
  return [
    `${counted(gemms.length, "GEMM")} in ${
      counted(calls, "call")
    }${timed}${window}`,
    ...(clock === "none"
      ? boundTable(gemms)
      : timeTable(gemms, time + timeOf(other))),
    ...(clock === "cupti"
      ? [
        `GEMM time covered: ${percent(time, time + timeOf(unseen))}${
          unseen.length === 0 ? "" : "; not seen as calls:"
        }`,
        ...kernelLines(unseen),
        `Other kernels: ${milliseconds(timeOf(rest))}${
          rest.length === 0 ? "" : ", the slowest:"
        }`,
        ...kernelLines(rest),
      ]
      : []),
    ...notes.map((note) => `Note: ${note}`),
  ];
}

function timeTable(
  gemms: readonly CapturedGemm[],
  time: number,
): readonly string[] {
  return tableOf(gemms, ["share of kernels", "calls", "us/call"], (gemm) => [
    gemm.time_us === null ? "" : percent(gemm.time_us, time),
    `${gemm.calls}`,
    gemm.time_us === null ? "" : (gemm.time_us / gemm.calls).toFixed(2),
  ]);
}

function boundTable(gemms: readonly CapturedGemm[]): readonly string[] {
  const costOf = (gemm: CapturedGemm) => gemm.calls * boundMs(gemm);
  const sum = gemms.reduce((sum, gemm) => sum + costOf(gemm), 0);
  const sorted = gemms.toSorted((a, b) => costOf(b) - costOf(a));
  return [
    ...tableOf(sorted, ["share of bound", "calls"], (gemm) => [
      percent(costOf(gemm), sum),
      `${gemm.calls}`,
    ]),
    ...(gemms.length > 0 ? [`No time is known: shares are of ${BOUND}`] : []),
  ];
}

/** @param figures The first columns of a GEMM, whose names are `heads`. */
function tableOf(
  gemms: readonly CapturedGemm[],
  heads: readonly string[],
  figures: (gemm: CapturedGemm) => readonly string[],
): readonly string[] {
  if (gemms.length === 0) return [];
  const shown = gemms.slice(0, MOST_GEMMS);
  const lines = shown.map((gemm) => [
    ...figures(gemm),
    `${gemm.m}x${gemm.n}x${gemm.k}${gemm.batch > 1 ? ` x${gemm.batch}` : ""}`,
    typesOf(gemm),
    gemm.layout,
    gemm.epilogue,
    gemm.phase,
    gemm.op === "" ? `no op: ${gemm.why_no_op}` : gemm.op,
  ]);
  const more = gemms.length - shown.length;
  return [
    ...aligned([
      [...heads, "MxNxK", "types", "layout", "epilogue", "phase", "op"],
      ...lines,
    ], new Set(heads.keys())),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function typesOf({ a, b, c, compute, scale }: CapturedGemm): string {
  const types = a === b && b === c
    ? a
    : a === b
    ? `${a}>${c}`
    : `${a},${b}>${c}`;
  return `${types}${compute === "f32" ? "" : `/${compute}`}${
    scale === undefined ? "" : ` ${scale}`
  }`;
}

function kernelLines(kernels: Captured["other"]): readonly string[] {
  return kernels.slice(0, MOST_OTHERS).map(({ name, calls, time_us }) =>
    `  ${milliseconds(time_us)} in ${counted(calls, "call")}: ${
      shortened(plain(name), NAME_WIDTH)
    }`
  );
}

/** The name of a kernel without its result, arguments and parameters of templates. */
function plain(name: string): string {
  return name.replace(/^void /, "").replaceAll("(anonymous namespace)::", "")
    .replace(/[<(].*/, "") || name;
}

function timeOf(
  all: readonly { readonly time_us: number | null }[],
): number {
  return all.reduce((sum, { time_us }) => sum + (time_us ?? 0), 0);
}

function milliseconds(us: number): string {
  return `${(us / 1000).toFixed(2)} ms`;
}

function percent(part: number, whole: number): string {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "0 %";
}
