/**
 * Compares what `auto` chooses with recorded times, and makes suites of random shapes for it.
 *
 * @module
 */

import fc from "fast-check";
import type { DeviceInfo } from "../../bench/device/device.ts";
import type { Axis } from "../../bench/model/axes.ts";
import { CaseError, UserError } from "../../bench/model/errors.ts";
import {
  formatValues,
  type Scalar,
  type Values,
} from "../../bench/model/grid.ts";
import type { Op } from "../../bench/model/op.ts";
import { defineSuite, type Suite } from "../../bench/model/suite.ts";
import { chooseAuto } from "../../bench/tune/auto.ts";
import { recordedPoint } from "../../bench/tune/recorded_points.ts";
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
  const early = first!.timer.endsWith(":pdl");
  const options = {
    op,
    kernels,
    backend: "cuda",
    info,
    rows: left,
    library,
    early,
  };
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

/** Sizes at most, and their product: the emulator takes a second for so many multiply-adds. */
const MOST = { m: 100, n: 160, k: 1500, product: 2e6 };

/**
 * Defines a suite of the CUDA kernels of the operation in `folder` at `count` random points: tiny,
 * odd, misaligned and round sizes, empty problems of lists, and each value of the other axes.
 */
export function randomSuite(
  folder: string,
  { count, seed }: { readonly count: number; readonly seed: number },
): Suite {
  const { op, kernels } = ops.find((entry) => entry.folder === folder)!;
  const shapes = fc.sample(valuesOf(op), { numRuns: 3 * count, seed });
  const distinct = new Map(shapes.map((one) => [formatValues(one), one]));
  return defineSuite({
    name: `${folder}-random`,
    title: `${op.name} at random points`,
    // `check` adds the operation's own to the suite's.
    op: { ...op, edgeCases: op.edgeCases.slice(0, 1) },
    axes: { shape: [...distinct.values()].slice(0, count) },
    kernels: kernels.filter(({ backend }) => backend === "cuda"),
    baselines: [],
  });
}

/** The values of a random point of `op`. */
function valuesOf<P>(op: Op<P>): fc.Arbitrary<Values> {
  const given = op.axes.filter(({ optional }) => !optional);
  return fc.record(
    Object.fromEntries(given.map((axis) => [axis.name, valueOf(axis)])),
  ).filter((values) => {
    try {
      const { m, n, k } = op.key(op.point(values));
      return m * n * k <= MOST.product;
    } catch (error) {
      // As of a K that is no multiple of a group.
      if (error instanceof UserError) return false;
      throw error;
    }
  });
}

function valueOf({ name, values }: Axis): fc.Arbitrary<Scalar> {
  if (typeof values !== "string") return fc.constantFrom(...values);
  const most = MOST[name as keyof typeof MOST] ?? MOST.m;
  const size = fc.oneof(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: most }),
    ...[8, 16, 64, 256].filter((step) => step <= most).map((step) =>
      fc.integer({ min: 1, max: Math.floor(most / step) })
        .map((count) => count * step)
    ),
  );
  if (values === "size") return size;
  // As many problems on each axis, some of them empty, or one size for all.
  const some = name === "m" ? fc.oneof(size, fc.constant(0)) : size;
  const list = fc.array(some, { minLength: 3, maxLength: 3 });
  return fc.oneof(size, list.map((sizes) => sizes.join("+")));
}
