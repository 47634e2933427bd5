/**
 * The axes of a row, by name.
 *
 * @module
 */

import { parseValues } from "../model/grid.ts";
import { AXIS_COLUMNS } from "../model/problem.ts";
import type { Key } from "./row.ts";

/** The columns that {@linkcode axesOf} reads. */
export type AxisColumns = Readonly<
  Record<typeof AXIS_COLUMNS[number] | "params", string>
>;

/**
 * The value of each axis of `key`, as text: its columns, then the entries of `params`, which
 * take precedence: an operation on a list of problems has its lists there.
 *
 * @example
 * ```ts
 * import { axesOf } from "./axes.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const types = { a_type: "bf16", b_type: "u32", c_type: "bf16", acc_type: "f32" };
 * const sizes = { m: "1", n: "64", k: "128", layout: "nt" };
 * const axes = axesOf({ ...types, ...sizes, params: "mode=affine bits=4" });
 * strictEqual(axes.bits, "4");
 * strictEqual(axes.m, "1");
 * ```
 */
export function axesOf(
  key: AxisColumns | Key,
): Readonly<Record<string, string>> {
  const axes: Record<string, string> = {};
  for (const column of AXIS_COLUMNS) axes[column] = key[column];
  for (const [name, value] of Object.entries(parseValues(key.params))) {
    axes[name] = `${value}`;
  }
  return axes;
}
