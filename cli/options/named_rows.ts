/**
 * Chooses rows by the names of suites, kernels and axes, and says which of these no row has.
 *
 * @module
 */

import { findSimilar } from "@optique/core/suggestion";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { pointOf } from "../../report/model/axes.ts";
import type { Chooser } from "../../session/library/compare_rows.ts";
import { namedSuites } from "../../session/library/suite_text.ts";
import { logLine } from "../terminal/output.ts";

/** The values of axes that rows must have. */
export type PointChoice = Readonly<Record<string, readonly string[]>>;

/** Rows are chosen that have a value of each list; an empty list chooses all. */
export interface RowNames {
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly point: PointChoice;
}

/** Returns whether `names` leaves rows out. */
export function isChoice({ suites, kernels, point }: RowNames): boolean {
  return suites.length + kernels.length + Object.keys(point).length > 0;
}

/** Returns whether `row` has a suite, a kernel and values of axes that `names` lists. */
export function isNamed(
  row: CsvRow,
  { suites, kernels, point }: RowNames,
): boolean {
  if (suites.length > 0 && !suites.includes(row.suite)) return false;
  if (kernels.length > 0 && !kernels.includes(row.kernel)) return false;
  return isAt(row, point);
}

/** Returns whether `row` has a value that `point` lists of each of its axes. */
export function isAt(row: CsvRow, point: PointChoice): boolean {
  const axes = Object.entries(point);
  if (axes.length === 0) return true;
  const own = valuesByAxis(row);
  return axes.every(([name, values]) => values.includes(own.get(name) ?? ""));
}

/**
 * Returns a function that takes all rows and returns which of them `names` chooses; undefined where
 * it leaves none out. The function throws a {@linkcode UserError} for a name that no row has, and
 * where no row is chosen.
 */
export function chooserOf(names: RowNames): Chooser | undefined {
  if (!isChoice(names)) return undefined;
  return (all) => {
    const known = new Set(all.map(({ suite }) => suite));
    const { suites } = namedSuites(names.suites, known, logLine);
    refuseUnknown("suite", suites, [...known]);
    refuseUnknown("kernel", names.kernels, all.map(({ kernel }) => kernel));
    refuseAxes(all, names.point);
    const chosen = { ...names, suites };
    if (all.length > 0 && !all.some((row) => isNamed(row, chosen))) {
      const named = all.filter((row) => isNamed(row, { ...chosen, point: {} }));
      throw noRow(named, chosen);
    }
    return (row) => isNamed(row, chosen);
  };
}

/** Returns the values of a row on its axes, of which ops call the type of A `type` too. */
function valuesByAxis(row: CsvRow): ReadonlyMap<string, string> {
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
  if (Object.keys(point).length === 0) return;
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
  { kernels, suites, point }: RowNames,
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
