/**
 * Merges the plans of consecutive M into rows, in which every number is a line in M.
 *
 * @module
 */

import { type LaunchPlan, mapPlan, textOf } from "./record.ts";

/** The number `base + slope * M`. */
export interface Linear {
  readonly base: number;
  readonly slope: number;
}

/** A plan at one M. */
export interface PointPlan {
  readonly m: number;
  readonly plan: LaunchPlan<number>;
}

/** The plan for all M from `from` to `to`. */
export interface PlanRow {
  readonly from: number;
  readonly to: number;
  readonly plan: LaunchPlan<Linear>;
}

/** Plans that may become one row. */
interface Run {
  readonly first: PointPlan;
  readonly last: number;
  /** All but the numbers. */
  readonly text: string;
  readonly numbers: readonly number[];
  /** Undefined for a single plan, which fits every slope. */
  readonly slopes: readonly number[] | undefined;
}

/**
 * Returns the fewest rows that have exactly the plans of `plans`, of which no two have the same M.
 *
 * @param plans In any order. An M that none has is in no row.
 */
export function mergeRows(plans: readonly PointPlan[]): readonly PlanRow[] {
  const rows: PlanRow[] = [];
  let run: Run | undefined;
  for (const next of plans.toSorted((a, b) => a.m - b.m)) {
    // A part of a line is a line: the longest run is never a mistake.
    const longer = run && extended(run, next);
    if (run && !longer) rows.push(rowOf(run));
    run = longer ?? runOf(next);
  }
  return run ? [...rows, rowOf(run)] : rows;
}

function runOf(first: PointPlan): Run {
  const { text, numbers } = taken(first.plan);
  return { first, last: first.m, text, numbers, slopes: undefined };
}

/** `run` with `next` at its end; nothing where that is no line. */
function extended(run: Run, { m, plan }: PointPlan): Run | undefined {
  const { first, last, text, numbers, slopes } = run;
  if (m !== last + 1) return undefined;
  const other = taken(plan);
  if (other.text !== text) return undefined;
  const own = slopes ?? other.numbers.map((value, i) => value - numbers[i]!);
  const fits = other.numbers.every((value, i) =>
    value === numbers[i]! + own[i]! * (m - first.m)
  );
  return fits ? { ...run, last: m, slopes: own } : undefined;
}

/** Takes a plan apart into the numbers that may depend on M, and all else as text. */
function taken(
  plan: LaunchPlan<number>,
): { readonly text: string; readonly numbers: readonly number[] } {
  const numbers: number[] = [];
  const text = textOf(mapPlan(plan, (value) => {
    numbers.push(value);
    return 0;
  }));
  return { text, numbers };
}

function rowOf({ first, last, slopes }: Run): PlanRow {
  let i = 0;
  const plan = mapPlan(first.plan, (value): Linear => {
    const slope = slopes?.[i++] ?? 0;
    return { base: value - slope * first.m, slope };
  });
  return { from: first.m, to: last, plan };
}
