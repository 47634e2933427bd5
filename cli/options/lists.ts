/**
 * Lists and ranges of sizes, as they are typed: `16,32`, `16:64:16`, `1:512:*2`, and
 * `80+176` for the sizes of a list of problems.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import type { Scalar } from "../../bench/model/grid.ts";

/** More would be a slip of the finger: no sweep over them would ever end. */
const MOST = 10_000;

/**
 * The sizes that `text` names, each once, in the order in which they stand.
 *
 * An item is a whole number of at least 1, or a range `first:last` or
 * `first:last:step`, whose last is included; a step `*f` multiplies.
 *
 * @throws {UserError} If an item is none of these, naming it.
 * @example
 * ```ts
 * import { parseSizes } from "./lists.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(parseSizes("8,16:64:16"), [8, 16, 32, 48, 64]);
 * deepStrictEqual(parseSizes("1:20:*2"), [1, 2, 4, 8, 16]);
 * ```
 */
export function parseSizes(text: string): readonly number[] {
  const sizes = new Set<number>();
  for (const item of text.split(",")) {
    for (const size of rangeOf(item.trim())) {
      sizes.add(size);
      if (sizes.size > MOST) {
        throw new UserError(`${item} names more than ${MOST} sizes`);
      }
    }
  }
  return [...sizes];
}

/**
 * As {@linkcode parseSizes}, but numbers joined by `+` are one item too, and stay text:
 * operations on lists of problems read them.
 *
 * @throws {UserError} If an item is neither.
 */
export function parseSizesAndSums(text: string): readonly Scalar[] {
  const items = text.split(",").map((item) => item.trim());
  const sums = (item: string) => /^\d+(\+\d+)+$/.test(item);
  if (!items.some(sums)) return parseSizes(text);
  return items.flatMap((item): readonly Scalar[] =>
    sums(item) ? [item] : parseSizes(item)
  );
}

/** Values of the axis of that name. */
export interface AxisValues {
  readonly name: string;
  readonly values: readonly Scalar[];
}

/**
 * An axis with its values, `name=list`: an item is a size or range as in
 * {@linkcode parseSizes}, a sum, or a word.
 *
 * @throws {UserError} If `text` has no name or an empty item.
 * @example
 * ```ts
 * import { parseAxis } from "./lists.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(parseAxis("bits=3,4"), { name: "bits", values: [3, 4] });
 * deepStrictEqual(parseAxis("mode=affine"), { name: "mode", values: ["affine"] });
 * ```
 */
export function parseAxis(text: string): AxisValues {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(at, 0)).trim();
  if (name === "") {
    throw new UserError(
      `${text || "nothing"} names no axis: write NAME=VALUES, as in bits=3,4,8`,
    );
  }
  const values = text.slice(at + 1).split(",").flatMap((part) => {
    const item = part.trim();
    if (item === "0" || /^\d+\.\d+$/.test(item)) return [Number(item)];
    return /^\d/.test(item) || item === "" ? parseSizesAndSums(item) : [item];
  });
  return { name, values: [...new Set(values)] };
}

function* rangeOf(item: string): Generator<number> {
  const [first, last, step, ...rest] = item.split(":");
  if (rest.length > 0) {
    throw new UserError(
      `${item} has too many colons: write a range as first:last:step`,
    );
  }
  const from = sizeOf(first!, item);
  if (last === undefined) return yield from;
  const to = sizeOf(last, item);
  if (to < from) {
    throw new UserError(
      `${item} is an empty range: its last is less than its first`,
    );
  }
  const factor = step?.startsWith("*");
  const by = step === undefined ? 1 : sizeOf(step.replace(/^\*/, ""), item);
  if (factor && by < 2) {
    throw new UserError(`${item} never ends: multiply by 2 or more`);
  }
  for (let at = from; at <= to; at = factor ? at * by : at + by) yield at;
}

function sizeOf(text: string, item: string): number {
  const size = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(size) && size >= 1) {
    return size;
  }
  throw new UserError(
    `${
      item === "" ? "An empty item" : item
    } is not a size: give whole numbers of at least 1, as in 16,32 or 16:64:16 or 1:512:*2`,
  );
}
