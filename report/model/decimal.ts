/**
 * Numbers as digits, where binary arithmetic would change the last one.
 *
 * @module
 */

/**
 * `text` times 10^`places`, digit for digit, in the shortest plain notation; nothing for a
 * text that is no decimal number.
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
 * A number as Python's `repr` has a float of its size, from 1e-4 to 1e16: whole numbers
 * end in `.0`.
 */
export function pythonFloat(plain: string): string {
  return /^-?\d+$/.test(plain) ? `${plain}.0` : plain;
}
