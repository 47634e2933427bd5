/**
 * Chooses rows by the names of suites, kernels and axes, and says which of these no row has.
 *
 * @module
 */

import { findSimilar } from "@optique/core/suggestion";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { pointOf } from "../../report/model/axes.ts";

/** The values of axes that rows must have. */
export type PointChoice = Readonly<Record<string, readonly string[]>>;

/** Returns the values of a row on its axes, of which ops call the type of A `type` too. */
export function valuesByAxis(row: CsvRow): ReadonlyMap<string, string> {
  const own = pointOf(row);
  return new Map(Object.entries({ ...own, type: own.type ?? row.a_type }));
}

/**
 * Refuses a name that no row has.
 *
 * @param what The kind of the names: `kernel`, `axis`.
 * @param known The names that rows have.
 * @throws {UserError} For the first of `names` that is not among `known`.
 */
export function refuseUnknown(
  what: string,
  names: readonly string[],
  known: readonly string[],
): void {
  const all = [...new Set(known)];
  const name = names.find((n) => !all.includes(n));
  if (name === undefined) return;
  if (all.length === 0) {
    throw new UserError(`No ${what} is in these rows: leave out ${name}`);
  }
  const near = findSimilar(name, all, { maxSuggestions: 2 });
  const hint = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `there are ${all.join(", ")}`;
  throw new UserError(`No ${what} in these rows is named ${name}: ${hint}`);
}

/**
 * Refuses axes that none of `rows` has.
 *
 * @throws {UserError} For such an axis, and for a value with another axis in it.
 */
export function refuseAxes(rows: readonly CsvRow[], point: PointChoice): void {
  refuseUnknown(
    "axis",
    Object.keys(point),
    rows.flatMap((row) => [...valuesByAxis(row).keys()]),
  );
  for (const [axis, values] of Object.entries(point)) {
    const other = values.find((value) => value.includes("="));
    if (other === undefined) continue;
    throw new UserError(
      `${axis} is ${other}: give --where ${other} as an option of its own`,
    );
  }
}

/** Makes the error for a selection without a row. @param named The rows of its names, at any point. */
export function noRow(
  named: readonly CsvRow[],
  { kernels, suites, point }: {
    readonly kernels: readonly string[];
    readonly suites: readonly string[];
    readonly point: PointChoice;
  },
): UserError {
  const points = Object.entries(point);
  const given = [
    ...(kernels.length > 0 ? [`kernel ${kernels.join(" or ")}`] : []),
    ...(suites.length > 0 ? [`suite ${suites.join(" or ")}`] : []),
    ...points.map(([axis, values]) => `${axis} ${values.join(" or ")}`),
  ];
  const there = points.map(([axis]) => {
    const values = named.map((row) => valuesByAxis(row).get(axis) ?? "none");
    return `${axis} is ${[...new Set(values)].join(", ")}`;
  });
  return new UserError(
    `No row has ${given.join(" and ")}: ${
      named.length > 0 ? there.join("; ") : "leave out one of these options"
    }`,
    EXIT.nothing,
  );
}
