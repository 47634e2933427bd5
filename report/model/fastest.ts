/**
 * The fastest of several kernels, shape by shape, as a kernel of its own.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { Pivot, PivotShape } from "./pivot.ts";
import { soundTimeOf } from "./sol.ts";

/** What the kernels that are not among those named are called where only their fastest counts. */
const OTHERS = "the fastest other";

/** A table in which the fastest of some kernels stands beside those that are not among them. */
export interface Fastest {
  readonly table: Pivot;
  /** The name under which their rows are. */
  readonly name: string;
  /** The others, and first the fastest of them at each shape. */
  readonly others: readonly string[];
}

/**
 * `table` with what was fastest of the contenders `names`. Times of other machines, but for named
 * ones, and those above SOL are never the fastest.
 */
export function withFastest(table: Pivot, names: readonly string[]): Fastest {
  const name = `the fastest of ${names.join(", ")}`;
  const measured = table.contenders.some(({ published }) => !published);
  const others = table.contenders
    .filter(({ name, published }) =>
      !names.includes(name) && !(measured && published)
    ).map(({ name }) => name);
  const shapes = table.shapes.map((shape) => ({
    ...shape,
    rows: new Map([
      ...shape.rows,
      ...fastestOf(shape, names).map((row) => [name, row] as const),
      ...fastestOf(shape, others).map((row) => [OTHERS, row] as const),
    ]),
  }));
  return { table: { ...table, shapes }, name, others: [OTHERS, ...others] };
}

/** Its row, or none where none has a time. */
function fastestOf({ rows }: PivotShape, names: readonly string[]): CsvRow[] {
  const timed = names.flatMap((name) => rows.get(name) ?? [])
    .filter((row) => soundTimeOf(row) !== undefined);
  return timed.toSorted((a, b) => soundTimeOf(a)! - soundTimeOf(b)!)
    .slice(0, 1);
}
