/**
 * What the page of `mnkbench report` is made of.
 *
 * @module
 */

import { basename } from "node:path";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { ReportInput } from "../../../report/page/report.ts";
import type { RunInput } from "../../../report/page/encode.ts";
import { suites } from "../../../suites/mod.ts";
import { evidenceOf } from "../../../session/evidence.ts";
import { ofProgram } from "../../../session/home.ts";
import { outcomesOf } from "./pairs.ts";
import { readRows, type SourcedRow } from "../../../session/read_rows.ts";

const RESULTS = "results";

/** What speed-ups are relative to where a suite is not one of ours, or none of its own is there. */
const USUAL = ["cublas", "openblas", "naive", "torch.mm+relu", "torch.mm"];

/** Which rows a page has. */
export interface Source {
  /** None stands for `results`. */
  readonly paths: readonly string[];
  /** The other run. */
  readonly against: string | undefined;
  /** Per cent; missing means 3. */
  readonly threshold: number | undefined;
  /** Whether every sample goes along. */
  readonly samples: boolean;
}

/** Reads what a page is made of. @throws {UserError} For what cannot be read or compared. */
export async function inputOf(options: Source): Promise<ReportInput> {
  const { against } = options;
  const paths = options.paths.length > 0 ? options.paths : [ofProgram(RESULTS)];
  const shared = {
    baselines: Object.fromEntries([
      ...suites.map(({ name, baselines }) =>
        [name, [...new Set([...baselines, ...USUAL])]] as const
      ),
      ["", USUAL] as const,
    ]),
    allSamples: options.samples,
  };
  if (against === undefined) {
    const rows = await readRows(paths);
    if (rows.length === 0) throw nothingIn(paths);
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

/** `rows` with those of their samples that the figures are of. */
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
        Math.abs(medianOf(a) - middle) - Math.abs(medianOf(b) - middle)
      )[0];
    },
  };
}

function medianOf(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

function labelOf(paths: readonly string[]): string {
  return paths.map((path) => basename(path).replace(/\.csv$/i, "")).join(", ");
}

/** The shortest names that tell the two paths apart. */
function labelsOf(base: string, now: string): { base: string; now: string } {
  const [a, b] = [labelOf([base]), labelOf([now])];
  return a === b ? { base: `base ${a}`, now: `new ${b}` } : { base: a, now: b };
}

/** The names of files: a page that is sent on should not tell where they were. */
function sourcesOf(rows: readonly SourcedRow[]): string[] {
  return [...new Set(rows.map(({ file }) => basename(file)))];
}
