/**
 * Enumerates the points of a suite from its axes, ties and the user's overrides.
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
