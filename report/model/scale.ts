/**
 * Chooses the range and the ticks of a value axis. Every chart and the page use it.
 *
 * @module
 */

/** The part of an axis that is drawn. */
export interface Range {
  readonly type: "linear" | "logarithmic";
  readonly min: number;
  readonly max: number;
}

/** The choices of {@linkcode rangeOf}. */
export interface RangeOptions {
  /** @default {"logarithmic" where values differ by more than a factor of 12} */
  readonly type?: Range["type"];
  /**
   * Starts a linear axis at 0. If false, the axis starts near the least value unless that is
   * below half of the greatest.
   *
   * @default {true}
   */
  readonly fromZero?: boolean;
}

/** Beyond this ratio a linear axis would squeeze the small values. */
const LINEAR_UP_TO = 12;

/**
 * Returns the range of an axis for `values`, at least one, with round ends.
 *
 * @example
 * ```ts
 * import { rangeOf } from "./scale.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(rangeOf([5, 16.4]), { type: "linear", min: 0, max: 17.5 });
 * deepStrictEqual(rangeOf([5, 90]), { type: "logarithmic", min: 5, max: 90 });
 * ```
 */
export function rangeOf(
  values: readonly number[],
  { type, fromZero = true }: RangeOptions = {},
): Range {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const chosen = type ??
    (most <= LINEAR_UP_TO * least ? "linear" : "logarithmic");
  if (chosen === "logarithmic") {
    const [min, max] = [nice(least, Math.floor), nice(most, Math.ceil)];
    return { type: chosen, min, max: max > min ? max : 2 * min };
  }
  const near = !fromZero && least >= most / 2;
  const step = stepOf((near ? most - least : most) || most || 1);
  const min = near ? rounded(Math.floor(least / step) * step) : 0;
  const max = rounded(Math.ceil(most / step) * step);
  return { type: chosen, min, max: max > min ? max : min + step };
}

/** First digits of finer and finer ticks: 1, 1.5 to 9.5, and 1, 1.1 to 9.9. */
const HALVES = Array.from({ length: 18 }, (_, i) => (2 + i) / 2);
const TENTHS = Array.from({ length: 90 }, (_, i) => (10 + i) / 10);

/** Returns the round values within `range`, from 2 to about 12. */
export function ticksOf({ type, min, max }: Range): number[] {
  if (type === "linear") {
    const step = stepOf(max - min);
    const first = Math.ceil(min / step - 1e-9);
    const last = Math.floor(max / step + 1e-9);
    return Array.from(
      { length: last - first + 1 },
      (_, i) => rounded((first + i) * step),
    );
  }
  const decades = Math.log10(max / min);
  const digits = decades > 4.2 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  // A narrow range may contain none of these.
  return [digits, HALVES, TENTHS].map((steps) => logTicks({ min, max }, steps))
    .find((ticks) => ticks.length > 1) ?? [];
}

/** Returns a tick as text: `2.5`, `3G`. */
export function tickText(value: number): string {
  if (value >= 1e12) return `${value / 1e12}T`;
  if (value >= 1e9) return `${value / 1e9}G`;
  return `${Number(value.toPrecision(6))}`;
}

/** Returns the position of `value` on `range`: 0 at its start, 1 at its end. */
export function shareOf({ type, min, max }: Range, value: number): number {
  return type === "linear"
    ? (value - min) / (max - min)
    : Math.log(value / min) / Math.log(max / min);
}

function logTicks(
  { min, max }: Pick<Range, "min" | "max">,
  digits: readonly number[],
): number[] {
  const ticks = [];
  for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) {
    for (const digit of digits) {
      const tick = Number(`${digit}e${e}`);
      if (tick >= min && tick <= max) ticks.push(tick);
    }
  }
  return ticks;
}

/** Returns 1, 2, 2.5 or 5 times a power of ten that divides `span` into about six steps. */
function stepOf(span: number): number {
  const rough = span / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((digit) => digit * power)
    .find((step) => step >= rough * 0.999)!;
}

/** Returns `value` with one digit, rounded by `to`. */
function nice(value: number, to: (value: number) => number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return Number((to(value / power) * power).toPrecision(1));
}

/** Removes the digits that sums of a step such as 0.2 leave. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
