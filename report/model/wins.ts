/**
 * Counts how often, and by how much, one kernel is faster than another.
 *
 * @module
 */

import { geomean, median } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isAuto } from "../../bench/tune/auto_kernel.ts";
import { isNoisyRow } from "./noise.ts";
import {
  contenderNamed,
  type Pivot,
  type PivotRow,
  type PivotShape,
  speedup,
} from "./pivot.ts";
import { isSuspect, soundTimeOf, timeOf } from "./sol.ts";

/** The name of the fastest of our kernels that are not among those named. */
const OURS = "the fastest of ours";

/** A kernel against another, over the shapes at which both have a time. */
export interface Wins {
  readonly kernel: string;
  readonly against: string;
  /** Shapes at which it is faster, exactly equal and slower. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Shapes at which one of the two has no time, or a suspect one. */
  readonly missing: number;
  /** Shapes at which one of the two has a suspect time. */
  readonly suspect: number;
  /** Of the time of the other over its own; undefined where no shape has both. */
  readonly min: number | undefined;
  readonly median: number | undefined;
  readonly max: number | undefined;
  readonly geomean: number | undefined;
}

/** Wins, and how much of them is noise. */
export interface RowWins extends Wins {
  /** Shapes at which one of the two rows is noisy. */
  readonly noisy: number;
  /** Shapes at which it is slower, and the time of the other over its own there; the worst first. */
  readonly lost: readonly { readonly label: string; readonly factor: number }[];
}

/** Compares the contender `kernel` of `table` with the contender `against`. */
export function winsOf(
  table: { readonly shapes: readonly Pick<PivotShape<PivotRow>, "rows">[] },
  kernel: string,
  against: string,
): Wins {
  const all = table.shapes.map((shape) => speedup(shape, kernel, against));
  const factors = all.filter((factor) => factor !== undefined);
  const count = (is: (factor: number) => boolean) => factors.filter(is).length;
  const some = factors.length > 0;
  return {
    kernel,
    against,
    wins: count((factor) => factor > 1),
    ties: count((factor) => factor === 1),
    losses: count((factor) => factor < 1),
    missing: all.length - factors.length,
    suspect: table.shapes.filter(({ rows }) => {
      const both = [rows.get(kernel), rows.get(against)];
      return both.every((row) => timeOf(row) !== undefined) &&
        both.some((row) => isSuspect(row!));
    }).length,
    min: some ? Math.min(...factors) : undefined,
    median: some ? median(factors) : undefined,
    max: some ? Math.max(...factors) : undefined,
    geomean: geomean(factors),
  };
}

/**
 * Compares every contender of `table` with each of `against` that the table has, and with the
 * fastest of them where there are several. The fastest of ours comes first where some of several
 * are compared: those that are no library's.
 */
export function allWins(table: Pivot, against: readonly string[]): RowWins[] {
  const others = against.flatMap((name) =>
    contenderNamed(table, name)?.name ?? []
  );
  const fastest = withFastest(table, others);
  const each = others.flatMap((other) =>
    [
      ...fastest.ours,
      ...table.contenders.map(({ name }) => name)
        .filter((name) => name !== other),
    ].map((name) => rowWins(fastest.table, name, other))
  );
  const together = others.length < 2
    ? []
    : [...fastest.ours, ...fastest.others].map((name) =>
      rowWins(fastest.table, name, fastest.name)
    );
  return [...each, ...together].filter(({ geomean }) => geomean !== undefined);
}

function rowWins(table: Pivot, kernel: string, against: string): RowWins {
  const noisy =
    table.shapes.filter((shape) =>
      speedup(shape, kernel, against) !== undefined &&
      [kernel, against].some((name) => isNoisyRow(shape.rows.get(name)!))
    ).length;
  const lost = table.shapes.flatMap((shape) => {
    const factor = speedup(shape, kernel, against) ?? 1;
    return factor < 1 ? [{ label: shape.label, factor }] : [];
  }).toSorted((a, b) => a.factor - b.factor);
  return { ...winsOf(table, kernel, against), noisy, lost };
}

/** A table with a column for the fastest of some kernels, and for that of ours. */
interface Fastest {
  readonly table: Pivot;
  /** The name of the column. */
  readonly name: string;
  /** The name of the column of ours; none where they are fewer than two. */
  readonly ours: readonly string[];
  /** The contenders that are not among those of the first column. */
  readonly others: readonly string[];
}

/**
 * Returns `table` with columns for the fastest of the contenders `names` and for that of our
 * others. Times of other machines, but for named ones, and suspect ones are never the fastest.
 */
function withFastest(table: Pivot, names: readonly string[]): Fastest {
  const name = `the fastest of ${names.join(", ")}`;
  const measured = table.contenders.some(({ published }) => !published);
  const others = table.contenders.filter(({ name, published }) =>
    !names.includes(name) && !(measured && published)
  );
  // `auto` is one of the others, measured again.
  const own = others.filter(({ kernel, peer, published }) =>
    !peer && !published && !isAuto(kernel)
  ).map(({ name }) => name);
  const ours = own.length < 2 ? [] : [OURS];
  const shapes = table.shapes.map((shape) => ({
    ...shape,
    rows: new Map([
      ...shape.rows,
      ...fastestOf(shape, names).map((row) => [name, row] as const),
      ...ours.flatMap((title) =>
        fastestOf(shape, own).map((row) => [title, row] as const)
      ),
    ]),
  }));
  return {
    table: { ...table, shapes },
    name,
    ours,
    others: others.map(({ name }) => name),
  };
}

/** Returns the row of the fastest; none where none has a time. */
function fastestOf({ rows }: PivotShape, names: readonly string[]): CsvRow[] {
  const timed = names.flatMap((name) => rows.get(name) ?? [])
    .filter((row) => soundTimeOf(row) !== undefined);
  return timed.toSorted((a, b) => soundTimeOf(a)! - soundTimeOf(b)!)
    .slice(0, 1);
}
