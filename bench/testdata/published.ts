/**
 * Runs that are published, and what is there then.
 *
 * @module
 */

import { readCsv } from "../row/read_csv.ts";
import type { KeptRow } from "../row/csv_row.ts";
import { Journal } from "../worker/journal.ts";
import { publish } from "../row/results.ts";
import { parseSamples, readSamples } from "../row/samples.ts";
import { INFO } from "./jobs.ts";
import { within } from "./temporary.ts";

/** The folders of a run and of its results. */
export interface Folders {
  readonly runs: string;
  readonly out: string;
  /** The device's folder. */
  readonly device: string;
}

/** Gives `work` folders that are gone after it. */
export function inFolder(
  work: (folders: Folders) => unknown,
): Promise<void> {
  return within((folder) => {
    const out = `${folder}/results`;
    return work({ runs: `${folder}/.runs`, out, device: `${out}/fake-1` });
  });
}

/** Measures `rows`, each with three samples around its mean, and publishes them. */
export async function measure(
  { runs, out }: Folders,
  rows: readonly KeptRow[],
): Promise<string[]> {
  using journal = new Journal(runs, INFO);
  fill(journal, rows);
  return await publish(journal, out);
}

/** Adds `rows` to a journal, each with three samples around its mean. */
export function fill(
  journal: Journal,
  rows: readonly KeptRow[],
  repeat = 0,
): void {
  for (const row of rows) {
    const samples = row.status === "ok"
      ? [0.5, 1, 1.5].map((share) => share * row.figures.mean_us * 1e3)
      : undefined;
    journal.append({ row, repeat }, samples);
  }
}

/** `kernel median` of every row of a file, and the same of its samples, in microseconds. */
export async function recorded({ device }: Folders, suite = "s") {
  const path = `${device}/${suite}.csv`;
  const rows = readCsv(await Deno.readTextFile(path), path);
  const lines = await readSamples(`${device}/${suite}.samples.jsonl.gz`, rows);
  const samples = [...lines.values()].flat().map(parseSamples);
  return {
    rows: rows.map((r) => `${r.kernel} ${r.median_us || r.status}`),
    samples: samples.map((s) => `${s.key.kernel} ${s.samples_ns[1]! / 1e3}`),
  };
}
