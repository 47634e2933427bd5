/**
 * Reads the content of the page of `mnkbench report`.
 *
 * @module
 */

import { basename } from "node:path";
import { median } from "../../../bench/measure/stats.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { causesOf, type Judged } from "../../../report/diff/verdict.ts";
import { rowOf } from "../../../report/diff/diff.ts";
import { ofOneTiming } from "../../../report/model/timing.ts";
import type {
  Outcome,
  ReportInput,
  RunInput,
} from "../../../report/page/report.ts";
import {
  evidenceOf,
  readRows,
  type SourcedRow,
} from "../../../session/read_rows.ts";
import { usualPaths } from "../../options/usual_paths.ts";
import { logLine, logWrapped } from "../../terminal/output.ts";
import { suiteNames } from "../../../suites/mod.ts";
import { compareRows } from "../../../session/library/compare_rows.ts";
import {
  baselinesOf,
  USUAL_BASELINES,
} from "../../../session/library/baselines.ts";

/** The rows of a page. */
export interface Source {
  /** None stands for the usual folder. */
  readonly paths: readonly string[];
  /** The other run. */
  readonly against: string | undefined;
  /** Percent. @default {3} */
  readonly threshold: number | undefined;
  /** Rows of one timing for each suite and device. */
  readonly timer: string | undefined;
  readonly cache: string | undefined;
}

/** Reads the content of a page. @throws {UserError} For what cannot be read or compared. */
export async function inputOf(options: Source): Promise<ReportInput> {
  const { against } = options;
  const paths = usualPaths(options.paths);
  const shared = {
    baselines: Object.fromEntries([
      ...suiteNames.map((name) => [name, baselinesOf(name)] as const),
      ["", USUAL_BASELINES] as const,
    ]),
  };
  if (against === undefined) {
    const all = await readRows(paths);
    if (all.length === 0) throw nothingIn(paths);
    const rows = ofOneTiming(all, ({ row }) => row, {
      ...options,
      note: logWrapped,
    });
    return {
      ...shared,
      now: await runOf(rows, labelOf(paths)),
      sources: sourcesOf(rows),
    };
  }
  const [path, ...more] = paths;
  if (more.length > 0) {
    throw new UserError(
      `--against compares with one PATH, and there are ${paths.length}: name a folder or a glob`,
    );
  }
  const { base, now, outcomes } = await outcomesOf(options, {
    base: against,
    next: path!,
  });
  if (now.length === 0) throw nothingIn([path!]);
  const labels = labelsOf(against, path!);
  return {
    ...shared,
    now: await runOf(now, labels.now),
    against: { base: await runOf(base, labels.base), outcomes },
    sources: [...sourcesOf(now), ...sourcesOf(base)],
  };
}

function nothingIn(paths: readonly string[]): UserError {
  return new UserError(
    `Cannot make a report of ${
      paths.join(", ")
    }: there is no row; run \`bench\` first, or name its results`,
    EXIT.nothing,
  );
}

/** Returns `rows` with those of their samples that the figures are of. */
async function runOf(
  rows: readonly SourcedRow[],
  label: string,
): Promise<RunInput> {
  const evidence = await evidenceOf(rows);
  return {
    label,
    rows: rows.map(({ row }) => row),
    samples: (at) => {
      const { row } = rows[at]!;
      const repeats = evidence.get(rows[at]!)?.repeats ?? [];
      const middle = Number(row.median_us) * 1000;
      // With several runs, the row has the figures of the one with the median median.
      return repeats.toSorted((a, b) =>
        Math.abs(median(a) - middle) - Math.abs(median(b) - middle)
      )[0];
    },
  };
}

function labelOf(paths: readonly string[]): string {
  return paths.map((path) => basename(path).replace(/\.csv$/i, "")).join(", ");
}

/** Returns the shortest names that tell the two paths apart. */
function labelsOf(base: string, now: string): { base: string; now: string } {
  const [a, b] = [labelOf([base]), labelOf([now])];
  return a === b ? { base: `base ${a}`, now: `new ${b}` } : { base: a, now: b };
}

/** Returns the names of files: a page that is sent on should not tell where they were. */
function sourcesOf(rows: readonly SourcedRow[]): string[] {
  return [...new Set(rows.map(({ file }) => basename(file)))];
}

/** The rows of both runs, and the verdict on each case, by the places of its rows. */
interface Pairs {
  readonly base: readonly SourcedRow[];
  readonly now: readonly SourcedRow[];
  readonly outcomes: readonly Outcome[];
}

/** Verdicts whose likely cause is worth a look. */
const EXPLAINED = ["slower", "faster", "unclear", "suspect", "less-accurate"];

/**
 * Reads and judges both sides, as `diff` does.
 *
 * @throws {UserError} For what `diff` refuses.
 */
async function outcomesOf(
  options: Source,
  paths: { readonly base: string; readonly next: string },
): Promise<Pairs> {
  const { judged: all } = await compareRows(
    { ...paths, threshold: options.threshold },
    { lean: false, note: logLine },
  );
  const judged = ofOneTiming(all, ({ pair }) => rowOf(pair), {
    ...options,
    note: logWrapped,
  });
  const base = inOrder(judged.map(({ pair }) => pair.base));
  const now = inOrder(judged.map(({ pair }) => pair.next));
  const places = new Map(
    [base, now].flatMap((rows) => [...rows.entries()])
      .map(([at, row]) => [row, at]),
  );
  const outcomes = judged.map((one): Outcome => ({
    ...(one.pair.next && { now: places.get(one.pair.next)! }),
    ...(one.pair.base && { base: places.get(one.pair.base)! }),
    verdict: one.verdict,
    why: whyOf(one),
  }));
  return { base, now, outcomes };
}

/** Returns rows as they stand in their files: verdicts have the worst first. */
function inOrder(rows: readonly (SourcedRow | undefined)[]): SourcedRow[] {
  return rows.filter((row) => row !== undefined).toSorted((a, b) =>
    a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1
  );
}

function whyOf({ pair, verdict, also, why }: Judged): string {
  const causes = EXPLAINED.includes(verdict) ? causesOf(pair) : [];
  return [
    why,
    also === undefined ? "" : `otherwise ${also}`,
    causes.length > 0 ? `what else changed: ${causes.join(", ")}` : "",
  ].filter((part) => part !== "").join("; ");
}
