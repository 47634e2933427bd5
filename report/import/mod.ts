/**
 * Converts published CSVs to rows of our schema.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { keyText } from "../../bench/row/row.ts";
import { aiterReader } from "./aiter.ts";
import { allUsReader, seedReader } from "./decompose_k.ts";
import { type Foreign, type ForeignRecord, readForeign } from "./foreign.ts";

/** Options of an import. */
interface ImportOptions {
  /** Named in errors, and by AITER's files also in rows. */
  readonly file: string;
  /**
   * What the rows' run is called. Of a file of several runs, only the rows of this one are
   * taken. AITER's name themselves.
   */
  readonly run: string | undefined;
}

interface Reader {
  readonly name: string;
  /** A column that only such files have. */
  readonly mark: string;
  of(
    foreign: Foreign,
    options: ImportOptions,
  ): (record: ForeignRecord) => CsvRow[];
}

const READERS: readonly Reader[] = [
  { name: "decompose-k, all versions", mark: "dk_us", of: allUsReader },
  { name: "decompose-k, one suite", mark: "eager_ms", of: suiteReader },
  { name: "AITER, tuned", mark: "cu_num", of: aiterReader },
];

/** Columns by which published CSVs are known. */
export const MARKS: readonly string[] = READERS.map(({ mark }) => mark);

/**
 * The rows of a published CSV; what kind it is, its columns say.
 *
 * @throws {UserError} For text that is none of them, naming file, row and column.
 */
export function importCsv(text: string, options: ImportOptions): CsvRow[] {
  const { file, run } = options;
  const foreign = readForeign(text, file);
  const reader = READERS.find(({ mark }) => foreign.columns.includes(mark));
  if (reader === undefined) {
    const marks = READERS.map(({ name, mark }) => `${mark} (${name})`);
    throw new UserError(
      `Cannot import ${file}: row 1 has none of the columns ${
        marks.join(", ")
      }; give one of these files`,
    );
  }
  const rowsOf = reader.of(foreign, options);
  const seen = new Map<string, number>();
  const rows: CsvRow[] = [];
  for (const record of foreign.records) {
    for (const row of rowsOf(record)) {
      const identity = JSON.stringify([row.run, row.device, keyText(row)]);
      const before = seen.get(identity);
      if (before !== undefined) {
        throw new UserError(
          `Cannot import ${file}: row ${record.row} is ${row.kernel} at ${row.m}×${row.n}×${row.k} of ${row.suite}, and so is row ${before}; take one out`,
        );
      }
      seen.set(identity, record.row);
      rows.push(row);
    }
  }
  if (rows.length > 0) return rows;
  throw new UserError(
    `Cannot import ${file}: it has no time${
      run === undefined ? "" : ` of run ${run}`
    }; leave out --run or give another file`,
  );
}

function suiteReader(
  foreign: Foreign,
  { file, run }: ImportOptions,
): (record: ForeignRecord) => CsvRow[] {
  if (run !== undefined) return seedReader(foreign, { file, run });
  throw new UserError(
    `Cannot import ${file}: it does not say which run it is of; give --run, as in --run decompose-k-v3`,
  );
}
