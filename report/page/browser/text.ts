/**
 * Writes numbers and verdicts as people read them.
 *
 * @module
 */

import { VERDICTS } from "../../diff/verdict.ts";

/** Returns microseconds with four digits that count, as in the tables of the terminal. */
export function microseconds(us: number | undefined): string {
  if (us === undefined) return "";
  const whole = Math.max(1, `${Math.floor(us)}`.length);
  return us.toFixed(Math.max(0, 4 - whole));
}

/** Returns a speed-up: `1.35×`. */
export function factor(ratio: number | undefined): string {
  return ratio === undefined ? "" : `${ratio.toFixed(2)}×`;
}

/** Returns a share of one: `42 %`; small ones with a digit more. */
export function percent(share: number | undefined): string {
  if (share === undefined) return "";
  const hundredths = share * 100;
  return `${hundredths.toFixed(Math.abs(hundredths) < 9.95 ? 1 : 0)} %`;
}

/** Returns a change in time: `+3.1 %` is slower. */
export function change(ratio: number | undefined): string {
  if (ratio === undefined) return "";
  const sign = ratio >= 1 ? "+" : "−";
  return `${sign}${Math.abs((ratio - 1) * 100).toFixed(1)} %`;
}

/** Returns three digits that count, without an exponent where that is short. */
export function digits(value: number | undefined): string {
  if (value === undefined) return "";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) {
    return value.toExponential(2);
  }
  return `${Number(value.toPrecision(3))}`;
}

/** Returns `3 rows`, `1 row`. */
export function count(many: number, noun: string): string {
  return `${many.toLocaleString("en")} ${noun}${many === 1 ? "" : "s"}`;
}

/** Returns bytes as `256 MiB`. */
export function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? "" : `${digits(bytes / 2 ** 20)} MiB`;
}

/** Returns the place of a verdict among the others, as `diff` lists them: the worst first. */
export function rankOf(verdict: string): number {
  const at = VERDICTS.findIndex((name) => name === verdict);
  return at < 0 ? VERDICTS.length : at;
}

const ALARMS = ["broken", "less-accurate", "missing", "slower", "suspect"];

/** Returns `bad`, `good`, or nothing for a verdict that is neither. */
export function moodOf(verdict: string): "bad" | "good" | "" {
  if (["faster", "fixed"].includes(verdict)) return "good";
  return ALARMS.includes(verdict) ? "bad" : "";
}
