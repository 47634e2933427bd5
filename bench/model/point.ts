/**
 * Reading a point of a suite, with nothing of it left over.
 *
 * @module
 */

import { UserError } from "./errors.ts";
import type { Values } from "./grid.ts";
import type { Op } from "./op.ts";

/** A point, and the fields of its values that the operation did not look at. */
export interface ReadPoint<P> {
  readonly point: P;
  readonly unread: readonly string[];
  /** Those that it did look at. */
  readonly fields: readonly string[];
}

/** The point that `op` makes of `values`. @throws {UserError} If a value is off. */
export function readPoint<P>(
  op: Pick<Op<P>, "point">,
  values: Values,
): ReadPoint<P> {
  const names = Object.keys(values);
  const read = new Set<string>();
  const note = (name: string | symbol) => {
    if (typeof name === "string") read.add(name);
  };
  const watched = new Proxy(values, {
    get: (target, name) => (note(name), Reflect.get(target, name)),
    has: (target, name) => (note(name), Reflect.has(target, name)),
    ownKeys: (target) => (names.forEach(note), Reflect.ownKeys(target)),
  });
  const point = op.point(watched);
  // An operation whose points are the values themselves looks at them later.
  if (point === watched) {
    return { point: values as P, unread: [], fields: names };
  }
  return {
    point,
    unread: names.filter((name) => !read.has(name)),
    fields: [...read],
  };
}

/**
 * The point of `read`.
 *
 * @throws {UserError} Where a field of the suite means nothing to the operation: it would
 * seem to have been measured.
 */
export function wholePoint<P>(
  { point, unread, fields }: ReadPoint<P>,
  { suite, op }: { readonly suite: string; readonly op: string },
): P {
  if (unread.length === 0) return point;
  throw new UserError(
    `Cannot use the suite ${suite}: its operation ${op} has no field ${
      unread.join(", ")
    }; it has ${fields.toSorted().join(", ")}`,
  );
}
