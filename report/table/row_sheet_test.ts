import { assertEquals } from "@std/assert";
import { pivots } from "../model/pivot.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { findRows, formatRow } from "./row_sheet.ts";

const timed = (kernel: string, median_us: string) =>
  csvRow({ kernel, median_us });

/** Returns how the row of `mine`, of 10 µs, compares with the rows of others. */
function beside(...others: readonly [kernel: string, us: string][]) {
  const rows = [timed("mine", "10"), ...others.map((one) => timed(...one))];
  const [found] = findRows(
    pivots(rows, { baselines: () => ["openblas"] }),
    ["mine"],
  );
  return formatRow(found!, {}).find((line) => line.startsWith("  beside"))!
    .split(/ {2,}/).at(-1);
}

Deno.test("formatRow() compares with the baseline and with the fastest, once with each", () => {
  assertEquals(beside(["openblas", "5"]), "0.50x openblas");
  assertEquals(
    beside(["openblas", "20"], ["fast", "5"]),
    "2.00x openblas, 2.00 times the time of fast",
  );
  assertEquals(beside(["fast", "5"]), "2.00 times the time of fast");
  assertEquals(beside(["slow", "20"]), "fastest at its shape");
  // It would be the fastest of itself.
  assertEquals(beside(), "not recorded");
});
