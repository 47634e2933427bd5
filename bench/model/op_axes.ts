/**
 * Defines the axes of an operation, whose values name its points.
 *
 * @module
 */

import { UserError } from "./errors.ts";
import type { Scalar, Values } from "./grid.ts";
import { AXIS_COLUMNS, type OpKey } from "./problem.ts";

/** One axis of an operation. A suite fixes it, sweeps it, or leaves it at its default. */
export interface Axis {
  readonly name: string;
  /** The meaning, for listings and error texts: `rows of A`. */
  readonly about: string;
  /**
   * The allowed values: a whole number of at least 1 (`size`), such numbers joined by `+`,
   * one for each problem of a list, of which some may be 0 (`sizes`), or one of a list.
   */
  readonly values: "size" | "sizes" | readonly Scalar[];
  /** The value where a suite gives none. */
  readonly default?: Scalar;
  /** Whether a point may have no value on it: its meaning depends on another axis. */
  readonly optional?: boolean;
  /**
   * The column of {@linkcode OpKey} that holds the value.
   *
   * @default {the column of the same name, otherwise an entry of `params`}
   */
  readonly column?: keyof OpKey;
}

/** An operation by its name and axes. */
export interface Axed {
  readonly name: string;
  readonly axes: readonly Axis[];
}

/**
 * Checks `values` against the axes of `op` and fills in defaults.
 *
 * @throws {UserError} For a value on no axis of `op`, a missing one, and one that is not
 * allowed.
 * @example
 * ```ts
 * import { readAxes } from "./op_axes.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const op = {
 *   name: "sum",
 *   axes: [
 *     { name: "n", about: "numbers", values: "size" },
 *     { name: "type", about: "their type", values: ["f32", "f16"], default: "f32" },
 *   ],
 * } as const;
 * deepStrictEqual(readAxes(op, { n: 8 }), { n: 8, type: "f32" });
 * ```
 */
export function readAxes(op: Axed, values: Values): Values {
  demandNames(op, Object.keys(values));
  const read: Record<string, Scalar> = {};
  for (const axis of op.axes) {
    const value = values[axis.name] ?? axis.default;
    if (value === undefined && axis.optional) continue;
    read[axis.name] = demandValue(axis, value);
  }
  return read;
}

/** Checks names of axes. @throws {UserError} If one of `names` is no axis of the operation. */
export function demandNames(
  { name, axes }: Axed,
  names: readonly string[],
): void {
  const known = axes.map((axis) => axis.name);
  const unknown = names.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  throw new UserError(
    `${name} has no axis ${unknown.join(", ")}: its axes are ${
      known.join(", ")
    }`,
  );
}

function demandValue(axis: Axis, value: Scalar | undefined): Scalar {
  const found = allowedBy(axis, value);
  if (found !== undefined) return found;
  throw notAllowed(axis, value ?? "missing", "--axis");
}

/** Returns `value` if `axis` allows it, as a number where the axis lists it as one. */
export function allowedBy(
  { values }: Axis,
  value: Scalar | undefined,
): Scalar | undefined {
  if (values === "size") {
    return Number.isInteger(value) && Number(value) >= 1 ? value : undefined;
  }
  if (values === "sizes") {
    return /^\d+(\+\d+)*$/.test(`${value}`) ? value : undefined;
  }
  return values.find((allowed) => `${allowed}` === `${value}`);
}

/** Makes the error for a `value` that an axis does not allow. @param option Its option. */
export function notAllowed(
  { name, values }: Pick<Axis, "name" | "values">,
  value: Scalar,
  option: "--axis" | "--where",
): UserError {
  const hint = values === "size"
    ? `a whole number of at least 1, as in ${option} ${name}=64`
    : values === "sizes"
    ? `whole numbers, as in ${option} ${name}=80+176`
    : `one of ${values.join(", ")}`;
  return new UserError(`${name} is ${value}: give ${hint}`);
}

/** The column of a key that holds the values of `axis`; nothing where `params` does. */
export function columnOf(axis: Axis): keyof OpKey | undefined {
  const name = axis.column ?? axis.name;
  return AXIS_COLUMNS.find((column) => column === name);
}
