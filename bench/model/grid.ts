/**
 * Enumerates products of named lists.
 *
 * @module
 */

/** A value of an axis or tunable. */
export type Scalar = number | string;
/** Values by name. */
export type Values = Readonly<Record<string, Scalar>>;
/** Lists of values by name. */
export type Axes = Readonly<Record<string, readonly Scalar[]>>;
/** One choice from each list of `A`. */
export type ChoiceOf<A extends Axes> = {
  readonly [K in keyof A]: A[K][number];
};

/**
 * Yields every combination of one value from each list, the last list varying fastest.
 *
 * @example
 * ```ts
 * import { grid } from "./grid.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual([...grid({ m: [1, 2], type: ["f16"] })], [
 *   { m: 1, type: "f16" },
 *   { m: 2, type: "f16" },
 * ]);
 * ```
 */
export function* grid<const A extends Axes>(axes: A): Generator<ChoiceOf<A>> {
  const lists = Object.entries(axes).map(([name, list]) =>
    list.map((value) => ({ [name]: value }))
  );
  yield* product(lists) as Generator<ChoiceOf<A>>;
}

/** Yields every union of one record from each list, the last list varying fastest. */
export function* product(
  lists: readonly (readonly Values[])[],
): Generator<Values> {
  const [first, ...rest] = lists;
  if (first === undefined) return yield {};
  for (const values of first) {
    for (const more of product(rest)) yield { ...values, ...more };
  }
}

/**
 * Formats `values` as text, in their order: `BM=16 SPLIT=64`.
 *
 * The text is a CSV column, a join key and a filter target, so it is also read back
 * by {@linkcode parseValues}.
 */
export function formatValues(values: Values): string {
  return Object.entries(values).map(([k, v]) => `${k}=${v}`).join(" ");
}

/** Parses the text of {@linkcode formatValues}. Numeric text becomes a number. */
export function parseValues(text: string): Values {
  const pairs = text.split(" ").filter((part) => part !== "").map((part) => {
    const at = part.indexOf("=");
    const [name, value] = [part.slice(0, at), part.slice(at + 1)];
    return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value];
  });
  return Object.fromEntries(pairs);
}
