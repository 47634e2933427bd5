/**
 * `mnkbench report`: recorded rows as one HTML page, or as tables within a text.
 *
 * @module
 */

import { basename } from "node:path";
import { replaceFile } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { formatReport, type ReportInput } from "../../../report/page/report.ts";
import type { RunInput } from "../../../report/page/pack.ts";
import { suites } from "../../../suites/mod.ts";
import { evidenceOf } from "../../../session/evidence.ts";
import { ofProgram } from "../../../session/home.ts";
import type { ReportOptions } from "../../../session/options.ts";
import { outcomesOf } from "./pairs.ts";
import { readRows, type SourcedRow } from "../../../session/read_rows.ts";
import { tell } from "../../terminal/output.ts";
import { caseOfRun, twice } from "../../../session/duplicates.ts";

const RESULTS = "results";

/** What speed-ups are relative to where a suite is not one of ours, or none of its own is there. */
const USUAL = ["cublas", "openblas", "naive", "torch.mm+relu", "torch.mm"];

/** Writes the page, or makes tables again. @returns The exit code. */
export async function report(options: ReportOptions): Promise<number> {
  if (options.splice !== undefined) return await spliced(options);
  if (options.check) {
    throw new UserError(
      "--check is for --splice: name a text, or leave it out",
    );
  }
  const html = formatReport(await inputOf(options));
  replaceFile(options.out, html);
  const megabytes = (new TextEncoder().encode(html).length / 1e6).toFixed(2);
  tell(`${options.out}: ${megabytes} MB, needs nothing else to be read`);
  return EXIT.ok;
}

async function spliced(options: ReportOptions): Promise<number> {
  if (options.paths.length > 0 || options.against !== undefined) {
    throw new UserError(
      "--splice takes no other input: the rows are named in the text, at its markers",
    );
  }
  const { splice } = await import("./splice.ts");
  return await splice(options.splice!, { check: options.check });
}

async function inputOf(options: ReportOptions): Promise<ReportInput> {
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
    refuseTwice(rows);
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

function refuseTwice(rows: readonly SourcedRow[]): void {
  const found = twice(rows, ({ row }) => caseOfRun(row));
  if (found === undefined) return;
  const [{ file, line }, other] = found;
  throw new UserError(
    `Cannot make a report of ${file}: line ${line} is the same case as line ${other.line} of ${other.file}; name one of the two, and the other with --against`,
  );
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
