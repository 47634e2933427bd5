/**
 * How often, and by how much, one kernel is faster than another.
 *
 * @module
 */

import { geomean, median } from "../../bench/measure/stats.ts";
import { withFastest } from "./fastest.ts";
import { isAboveSol, timeOf } from "./sol.ts";
import { contenderNamed, type Pivot, speedup } from "./pivot.ts";

/** A kernel against another, over the shapes at which both have a time. */
export interface Wins {
  readonly kernel: string;
  readonly against: string;
  /** Shapes at which it is faster, exactly equal and slower. */
  readonly wins: number;
  readonly ties: number;
  readonly losses: number;
  /** Shapes at which one of the two has no time, or one above SOL. */
  readonly missing: number;
  /** Those of the latter kind. */
  readonly suspect: number;
  /** Of the times of the other over its own; nothing where no shape has both. */
  readonly min: number | undefined;
  readonly median: number | undefined;
  readonly max: number | undefined;
  readonly geomean: number | undefined;
}

/** `kernel` against `against`: names of contenders of `table`. */
export function winsOf(table: Pivot, kernel: string, against: string): Wins {
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
        both.some((row) => isAboveSol(row!));
    }).length,
    min: some ? Math.min(...factors) : undefined,
    median: some ? median(factors) : undefined,
    max: some ? Math.max(...factors) : undefined,
    geomean: geomean(factors),
  };
}

/**
 * Every contender of `table` with a time against each of `against` that it has; where it has more
 * than one of them, those that are not named, and the fastest of these, against the fastest of them.
 */
export function allWins(table: Pivot, against: readonly string[]): Wins[] {
  const names = table.contenders.map(({ name }) => name);
  const others = against.flatMap((name) =>
    contenderNamed(table, name)?.name ?? []
  );
  const each = others.flatMap((other) =>
    names.filter((name) => name !== other)
      .map((name) => winsOf(table, name, other))
  );
  const fastest = withFastest(table, others);
  const together = others.length < 2
    ? []
    : fastest.others.map((name) => winsOf(fastest.table, name, fastest.name));
  return [...each, ...together].filter(({ geomean }) => geomean !== undefined);
}
