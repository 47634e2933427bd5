/**
 * Shifts decimal numbers as text, where binary arithmetic would change the last digit.
 *
 * @module
 */

/**
 * Returns `text` times 10^`places` with the same digits, in the shortest plain notation;
 * undefined for a text that is no decimal number.
 *
 * @example
 * ```ts
 * import { shiftDecimal } from "./decimal.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(shiftDecimal("0.015647999942302704", 3), "15.647999942302704");
 * strictEqual(shiftDecimal("9.6", -3), "0.0096");
 * ```
 */
export function shiftDecimal(text: string, places: number): string | undefined {
  const parts = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (!parts) return undefined;
  const [, sign, whole, fraction, exponent] = parts;
  const digits = `${whole}${fraction}`;
  if (digits === "") return undefined;
  const point = whole!.length + Number(exponent ?? 0) + places;
  const padded = digits.padStart(digits.length - Math.min(0, point - 1), "0")
    .padEnd(point, "0");
  const at = Math.max(1, point);
  const left = padded.slice(0, at).replace(/^0+(?=\d)/, "");
  const right = padded.slice(at).replace(/0+$/, "");
  const minus = sign === "-" ? "-" : "";
  return right === "" ? `${minus}${left}` : `${minus}${left}.${right}`;
}

/**
 * Returns a number from 1e-4 to 1e16 as Python's `repr` prints a float: whole numbers end
 * in `.0`.
 */
export function pythonFloat(plain: string): string {
  return /^-?\d+$/.test(plain) ? `${plain}.0` : plain;
}
