/**
 * What reading the text of a CSV gives.
 *
 * @module
 */

import { match, ok, strictEqual, throws } from "node:assert/strict";
import type { CsvRow } from "../row/csv_row.ts";
import { UserError } from "../model/errors.ts";
import { parseRows } from "../row/read_csv.ts";

/** The rows of `text`. */
export function read(text: string): CsvRow[] {
  return parseRows(text, "a.csv").map(({ row }) => row);
}

/** The one line with which `text` is refused. */
export function refusal(text: string): string {
  let line = "";
  throws(() => parseRows(text, "a.csv"), (error) => {
    ok(error instanceof UserError);
    line = error.message;
    return true;
  });
  match(line, /^Cannot read a\.csv: line \d+/);
  strictEqual(line.split("\n").length, 1);
  return line;
}
