/**
 * The recorded results: a folder for each device, with a CSV and a file of samples for
 * each suite.
 *
 * @module
 */

import {
  type CsvRow,
  type KeptRow,
  readCsv,
  recordOf,
  writeCsv,
} from "./csv.ts";
import { onDisk, readIfThere, replaceFile } from "./disk.ts";
import type { Journal } from "./journal.ts";
import type { Calibration } from "./protocol.ts";
import { combine } from "./repeats.ts";
import { keyText } from "./row.ts";
import { groupSamples, readSamples, writeSamples } from "./samples.ts";

/**
 * A device's name as a folder's.
 *
 * @example
 * ```ts
 * import { deviceFolder } from "./results.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(deviceFolder("AMD EPYC(tm) 9654"), "amd-epyc-tm-9654");
 * ```
 */
export function deviceFolder(device: string): string {
  const name = device.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return name || "unnamed";
}

/**
 * Puts the rows of a finished run in the place of older rows of the same cases, keeps all
 * others, and removes the journal. May be repeated where it was stopped half way.
 *
 * @param outDir The folder of the devices' folders.
 * @returns The paths of the CSVs.
 * @throws {UserError} Where an old CSV is of another schema or the disk refuses; the
 * journal is then still there.
 */
export async function publish(
  journal: Journal,
  outDir: string,
): Promise<string[]> {
  const folder = `${outDir}/${deviceFolder(journal.info.device)}`;
  onDisk(folder, () => Deno.mkdirSync(folder, { recursive: true }));
  // Runs on two devices of the same name may end at the same moment.
  using lock = onDisk(folder, () => Deno.openSync(folder));
  await lock.lock(true);

  const suites = Map.groupBy(combined(journal), (row) => row.key.suite);
  // All are merged before any is written: an old one that cannot be read stops it here.
  const tables = [...suites].map(([suite, rows]) => {
    const path = `${folder}/${suite}.csv`;
    return { suite, path, rows: merge(readIfThere(path), { path, rows }) };
  });
  const fresh = groupSamples(journal.sampleLines());
  for (const { suite, path, rows } of tables) {
    const samplesPath = `${folder}/${suite}.samples.jsonl.gz`;
    const measured = new Set(suites.get(suite)!.map((r) => keyText(r.key)));
    const old = await readSamples(samplesPath);
    const lines = rows.filter((row) => row.status === "ok").flatMap((row) => {
      const key = keyText(row);
      const repeats = (measured.has(key) ? fresh : old).get(key) ?? [];
      // A repeat without samples leaves a hole.
      return repeats.filter((line) => line !== undefined);
    });
    await writeSamples(samplesPath, lines);
    replaceFile(path, writeCsv(rows));
  }
  const { calibration } = journal;
  if (calibration) {
    const { device, arch, harness } = journal.info;
    const path = `${folder}/device.json`;
    // A run measures the peaks of its own types; those of others stay.
    const peak = { ...peaksOf(readIfThere(path)), ...calibration.peak };
    const content = {
      device,
      arch,
      harness,
      run: journal.run,
      calibration: { ...calibration, peak },
    };
    replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
  }
  journal.finish();
  return tables.map(({ path }) => path);
}

/** The peaks in an earlier calibration; none where it cannot be read. */
function peaksOf(text: string | undefined): Calibration["peak"] {
  if (text === undefined) return {};
  try {
    const old: { calibration?: Partial<Calibration> } = JSON.parse(text);
    return old.calibration?.peak ?? {};
  } catch (error) {
    // It is about to be replaced, and no row depends on it.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** One row for each case, in the order of measuring. */
export function combined({ rows }: Journal): KeptRow[] {
  const cases = Map.groupBy(rows, ({ row }) => keyText(row.key));
  return [...cases.values()].map((repeats) =>
    combine(repeats.map(({ row }) => row))
  );
}

/** Old rows where they were, replaced where `rows` has the same case; then the new ones. */
function merge(
  old: string | undefined,
  { path, rows }: { path: string; rows: readonly KeptRow[] },
): CsvRow[] {
  const fresh = new Map(
    rows.map((row) => [keyText(row.key), recordOf(row)] as const),
  );
  const kept = old === undefined ? [] : readCsv(old, path);
  const merged = new Map(kept.map((row) => [keyText(row), row] as const));
  for (const [key, row] of fresh) merged.set(key, row);
  return [...merged.values()];
}
