/**
 * Reads the files beside a CSV of results: samples and minimal detectable effects.
 *
 * @module
 */

import { readIfThere } from "../bench/files/disk.ts";
import { keyText } from "../bench/row/row.ts";
import { readSamples, type Samples } from "../bench/row/samples.ts";
import type { Evidence } from "../report/diff/interval.ts";
import { type Effects, parseEffects } from "../report/diff/mde.ts";
import type { SourcedRow } from "./read_rows.ts";

/** The path of what is named `kind` beside the CSV at `file`. */
export function besides(file: string, kind: string): string {
  return `${file.replace(/\.csv$/i, "")}.${kind}`;
}

/** The effects beside the CSV at `file`. @throws {UserError} For other content. */
export function effectsBeside(file: string): Effects | undefined {
  const path = besides(file, "mde.json");
  const text = readIfThere(path);
  return text === undefined ? undefined : parseEffects(text, path);
}

/**
 * The samples of `rows`, from the files beside their CSVs; those of another run than the
 * row's are not its own and are left out.
 *
 * @throws {UserError} For a file of samples that cannot be read.
 */
export async function evidenceOf(
  rows: Iterable<SourcedRow>,
): Promise<ReadonlyMap<SourcedRow, Evidence>> {
  const found = new Map<SourcedRow, Evidence>();
  for (const [file, own] of Map.groupBy(rows, (one) => one.file)) {
    const lines = await readSamples(besides(file, "samples.jsonl.gz"));
    for (const one of own) {
      const repeats = (lines.get(keyText(one.row)) ?? [])
        .filter((line) => line !== undefined)
        .map((line) => JSON.parse(line) as Samples)
        .filter(({ run }) => run === one.row.run)
        .map(({ samples_ns }) => samples_ns);
      found.set(one, { row: one.row, repeats });
    }
  }
  return found;
}
