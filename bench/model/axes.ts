/**
 * The points of a suite as values: its axes, ties and what a user has in their place.
 *
 * @module
 */

import { UserError } from "./errors.ts";
import { formatValues, grid, type Scalar, type Values } from "./grid.ts";

/** Lists by name, of values of the field of that name or of several fields at once. */
export type ChoiceAxes = Readonly<
  Record<string, readonly (Scalar | Values)[]>
>;

/** Values that replace a suite's own, by field: `{ m: [24], k: [16, 32] }`. */
export type Overrides = Readonly<Record<string, readonly Scalar[]>>;

/** What the points of a suite are made from. */
export interface ChoiceSpec {
  readonly name: string;
  readonly axes: ChoiceAxes;
  /** Fields that follow another unless overridden. */
  readonly tie?: Readonly<Record<string, string>>;
}

/**
 * Every choice, lazily, the last axis varying fastest.
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
  { name, axes, tie = {} }: ChoiceSpec,
  overrides: Overrides,
): Generator<Values> {
  const lists = Object.entries(axes).map(([axis, list]) =>
    list.map((value): Values =>
      typeof value === "object" ? value : { [axis]: value }
    )
  );
  const fields = new Set(lists.flat().flatMap(Object.keys));
  const known = [...fields, ...Object.keys(tie)];
  for (const field of Object.keys(overrides)) {
    if (known.includes(field)) continue;
    throw new UserError(
      `Suite ${name} has no axis ${field}: its axes are ${known.join(", ")}`,
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
  for (const chosen of product(all)) {
    const tied = Object.entries(tie).filter(([field]) => !overrides[field])
      .map(([field, other]) => [field, chosen[other]!]);
    yield { ...chosen, ...Object.fromEntries(tied) };
  }
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

function* product(lists: readonly (readonly Values[])[]): Generator<Values> {
  const [first, ...rest] = lists;
  if (first === undefined) return yield {};
  for (const values of first) {
    for (const more of product(rest)) yield { ...values, ...more };
  }
}
