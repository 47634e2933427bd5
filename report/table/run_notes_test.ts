import { deepStrictEqual } from "node:assert/strict";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { publishedRow } from "../import/published.ts";
import { runNotes } from "./run_notes.ts";

function row(
  kernel: string,
  run: string,
  time = "2026-11-21T08:00:00Z",
): CsvRow {
  return { ...publishedRow({ kernel }), run, time };
}

Deno.test("runNotes() names what is of other runs than most rows are", () => {
  const most = [row("a", "1"), row("b", "1"), row("c", "1")];
  deepStrictEqual(runNotes(most), []);
  deepStrictEqual(runNotes([row("d", "2"), ...most, row("e", "2")]), [
    "d, e: 2 of 5 rows are from a different run, of 2026-11-21",
  ]);
  deepStrictEqual(runNotes([...most, row("d", "2", "")]), [
    "d: 1 of 4 rows are from a different run",
  ]);
});

Deno.test("runNotes() counts many runs together", () => {
  const rows = ["1", "1", "2", "3", "4", "5", "6"].map((run) => row("a", run));
  deepStrictEqual(runNotes(rows).slice(2), [
    "a: 1 of 7 rows are from a different run, of 2026-11-21",
    "Rows are of 2 more runs",
  ]);
});
