/**
 * Defines the axes of an operation, whose values name its points, and enumerates the points of a
 * suite from its axes, ties and the user's overrides.
 *
 * @module
 */

import { UserError } from "./errors.ts";
import {
  formatValues,
  grid,
  product,
  type Scalar,
  type Values,
} from "./grid.ts";
import { AXIS_COLUMNS, type OpKey } from "./problem.ts";

/** Lists of values by axis. A value that is an object sets several axes at once. */
export type ChoiceAxes = Readonly<
  Record<string, readonly (Scalar | Values)[]>
>;

/** Values that replace a suite's own, by axis: `{ m: [24], k: [16, 32] }`. */
export type Overrides = Readonly<Record<string, readonly Scalar[]>>;

/** Allowed values by axis, as text: `{ mode: ["affine"], bits: ["3", "4"] }`. */
export type Where = Readonly<Record<string, readonly string[]>>;

/** Describes the points of a suite. */
export interface ChoiceSpec {
  readonly name: string;
  readonly axes: ChoiceAxes;
  /** Fields that follow another unless overridden. */
  readonly tie?: Readonly<Record<string, string>>;
  /** The value of a field at every point unless overridden. */
  readonly fixed?: Values;
  /** Further fields that an override may set. */
  readonly known?: readonly string[];
}

/**
 * Yields every point, the last axis varying fastest.
 *
 * An override replaces a field wherever an axis sets it; what is then alike is there once.
 *
 * @throws {UserError} If an override names no field of the suite.
 * @example
 * ```ts
 * import { choices } from "./axes.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const weights = [{ n: 16, k: 32 }, { n: 64, k: 32 }];
 * const suite = { name: "mine", axes: { weights, m: [1] } };
 * deepStrictEqual([...choices(suite, { n: [8], m: [1, 2] })], [
 *   { n: 8, k: 32, m: 1 },
 *   { n: 8, k: 32, m: 2 },
 * ]);
 * ```
 */
export function* choices(
  { name, axes, tie = {}, fixed = {}, known: more = [] }: ChoiceSpec,
  overrides: Overrides,
): Generator<Values> {
  const lists = Object.entries(axes).map(([axis, list]) =>
    list.map((value): Values =>
      typeof value === "object" ? value : { [axis]: value }
    )
  );
  const fields = new Set(lists.flat().flatMap(Object.keys));
  const known = new Set([
    ...[...fields, ...Object.keys(tie), ...Object.keys(fixed)],
    ...more,
  ]);
  for (const field of Object.keys(overrides)) {
    if (known.has(field)) continue;
    throw new UserError(
      `Suite ${name} has no axis ${field}: its axes are ${
        [...known].join(", ")
      }`,
    );
  }
  refuseMany(name, lists, overrides);
  const own = lists.map((list) => replaced(list, overrides));
  // A tied field that is overridden becomes an axis beside the one that it followed.
  const all = own.flatMap((list) => [
    list,
    ...Object.keys(tie)
      .filter((field) => overrides[field] && tie[field]! in list[0]!)
      .map((field) => overrides[field]!.map((value) => ({ [field]: value }))),
  ]);
  // Any other field that is overridden is an axis of its own.
  const rest = Object.keys(overrides)
    .filter((field) => !fields.has(field) && tie[field] === undefined)
    .map((field) => overrides[field]!.map((value) => ({ [field]: value })));
  for (const chosen of product([...rest, ...all])) {
    const tied = Object.entries(tie).filter(([field]) => !overrides[field])
      .map(([field, other]) => [field, chosen[other]!]);
    yield { ...fixed, ...chosen, ...Object.fromEntries(tied) };
  }
}

/** More points would run for days, and their keys alone fill the memory. */
export const MOST_POINTS = 200_000;

/** @throws {UserError} Where there are more points than a sweep can have, before any is made. */
function refuseMany(
  name: string,
  lists: readonly (readonly Values[])[],
  overrides: Overrides,
): void {
  const kept = lists.filter((list) =>
    !list.some((values) => Object.keys(values).some((own) => overrides[own]))
  );
  const points = [...kept, ...Object.values(overrides)]
    .reduce((count, { length }) => count * length, 1);
  if (points <= MOST_POINTS) return;
  throw new UserError(
    `Suite ${name} cannot be used: its axes make ${points} points, and ${MOST_POINTS} are the most; give shorter lists or larger steps to it, or to --axis, --m, --n and --k`,
  );
}

/** Whether each axis of `where` that `values` have is one of its values. */
export function isWhere(
  values: Readonly<Record<string, Scalar>>,
  where: Where,
): boolean {
  return Object.entries(where).every(([name, allowed]) =>
    values[name] === undefined || allowed.includes(`${values[name]}`)
  );
}

/** `list` with overridden fields replaced by each of their values. */
function replaced(list: readonly Values[], overrides: Overrides): Values[] {
  const distinct = new Map<string, Values>();
  for (const values of list) {
    const own = Object.keys(values).filter((field) => overrides[field]);
    const lists = own.map((field) => [field, overrides[field]!] as const);
    for (const chosen of grid(Object.fromEntries(lists)) as Iterable<Values>) {
      const made = { ...values, ...chosen };
      distinct.set(formatValues(made), made);
    }
  }
  return [...distinct.values()];
}

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
  /** Words that stand for a size beside numbers: `channel`. */
  readonly words?: readonly string[];
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
 * import { readAxes } from "./axes.ts";
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
  // In a message that asks for a number, 8 would look like one.
  const isNumeric = typeof value === "string" && value !== "" &&
    allowedBy(axis, Number(value)) !== undefined;
  const shown = isNumeric ? `the text "${value}"` : value ?? "missing";
  throw notAllowed(axis, shown, "--axis");
}

/** Returns `value` if `axis` allows it, as a number where the axis lists it as one. */
export function allowedBy(
  { values, words = [] }: Axis,
  value: Scalar | undefined,
): Scalar | undefined {
  if (words.some((word) => word === value)) return value;
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
  { name, values, words = [] }: Pick<Axis, "name" | "values" | "words">,
  value: Scalar,
  option: "--axis" | "--where",
): UserError {
  const hint = values === "size"
    ? `${
      ["a whole number of at least 1", ...words].join(" or ")
    }, as in ${option} ${name}=64`
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
