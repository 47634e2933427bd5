/**
 * Compares what `auto` chooses with recorded times.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { chooseAuto, recordedPoint } from "../../bench/tune/auto.ts";
import type { HintRow } from "../../bench/tune/hints.ts";
import { ops, type RegisteredOp } from "../mod.ts";

/** What is compared, and with which rows. */
export interface AutoTrial {
  readonly info: DeviceInfo;
  readonly rows: readonly HintRow[];
  /** Whether `auto-library` chooses. */
  readonly library: boolean;
  /**
   * Leaves out rows at the point and at all others nearer than so many factors of two, in the root
   * of squares over M, N and K. @default {none is left out}
   */
  readonly without?: number;
}

/** A choice at a recorded point. */
export interface AutoTried {
  readonly suite: string;
  readonly title: string;
  readonly by: "table" | "model";
  /** The kernel of the choice, and the fastest one. */
  readonly kernels: readonly [chosen: string, best: string];
  /** The time of the fastest recorded row over that of the chosen kernel, at its recorded config. */
  readonly ratio: number;
  /** Whether the chosen config is the recorded one. */
  readonly exact: boolean;
  /** The time of the fastest library over that of the chosen kernel; missing without one. */
  readonly overLibrary?: number;
}

/**
 * Tries each recorded point of CUDA kernels whose chosen kernel has a row there. Points that have rows
 * of no kernel that may be chosen are left out, and times of a group (suite, timer) alone compared.
 */
export function tryAuto(trial: AutoTrial): readonly AutoTried[] {
  const groups = Map.groupBy(
    trial.rows.filter(({ backend }) => backend === "cuda"),
    (row) => [row.suite, row.timer, row.cache, textOf(row)].join(),
  );
  return [...groups.values()].flatMap((group) => {
    const found = ops.find(({ op }) => op.name === group[0]!.op)!;
    return tryPoint(found, group, trial) ?? [];
  });
}

function tryPoint<P>(
  { op, kernels }: RegisteredOp<P>,
  group: readonly HintRow[],
  { info, rows, library, without }: AutoTrial,
): AutoTried | undefined {
  const [first] = group;
  const wanted = kernels.filter((kernel) =>
    kernel.backend === "cuda" && !kernel.python
  );
  const rowOf = (row: HintRow) => wanted.find((k) => k.name === row.kernel);
  const own = group.filter((row) => {
    const kernel = rowOf(row);
    return kernel && (library || !kernel.library);
  });
  if (own.length === 0) return undefined;
  const left = without === undefined
    ? rows
    : rows.filter((row) =>
      row.op === op.name && textOf(row) !== textOf(first!) &&
      apart(row, first!) >= without
    );
  const point = recordedPoint(op, first!)!;
  const options = { op, kernels, backend: "cuda", info, rows: left, library };
  let choice;
  try {
    choice = chooseAuto(point, options);
  } catch (error) {
    // As where no row is left, of an operation whose kernels have no model.
    if (error instanceof CaseError) return undefined;
    throw error;
  }
  const { kernel, config, by } = choice;
  const timed = own.find((row) => row.kernel === kernel.name);
  if (timed === undefined) return undefined;
  const best = fastest(own);
  const libraries = group.filter((row) => rowOf(row)?.library);
  const us = Number(timed.median_us);
  return {
    suite: first!.suite,
    title: textOf(first!),
    by,
    kernels: [kernel.name, best.kernel],
    ratio: Number(best.median_us) / us,
    exact: timed.config === formatValues(config),
    ...(libraries.length === 0
      ? {}
      : { overLibrary: Number(fastest(libraries).median_us) / us }),
  };
}

function fastest(rows: readonly HintRow[]): HintRow {
  return rows.reduce((a, b) =>
    Number(b.median_us) < Number(a.median_us) ? b : a
  );
}

/** All that tells a point from others. */
function textOf(row: HintRow): string {
  const { op, a_type, b_type, c_type, layout, m, n, k, params } = row;
  return [op, a_type, b_type, c_type, layout, m, n, k, params].join(" ");
}

function apart(a: HintRow, b: HintRow): number {
  return Math.hypot(
    ...(["m", "n", "k"] as const).map((name) =>
      Math.log2(Number(a[name]) / Number(b[name]))
    ),
  );
}
