import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { csvRow, flatRow } from "./flat_row.ts";
import { streamRows } from "./read_csv.ts";
import { AMOUNT_COLUMNS, COLUMNS } from "./row.ts";

const RESULTS = fileURLToPath(new URL("../../results/", import.meta.url));

for (const name of ["nvidia-h200/epilogue-bf16", "published/decompose-k-v1"]) {
  Deno.test(`flatRow() loses nothing of ${name}`, () => {
    const rows = streamRows(`${RESULTS}${name}.csv`);
    assert(rows.length > 0);
    for (const { row } of rows) {
      const flat = flatRow(row);
      const again = csvRow(flat);
      for (const column of COLUMNS) {
        // The text of a number may be another one of the same number.
        const isSame = again[column] === row[column] ||
          Number(again[column]) === Number(row[column]);
        assert(isSame, `${column}: ${again[column]}, not ${row[column]}`);
      }
      for (const column of ["m", ...AMOUNT_COLUMNS] as const) {
        assertEquals(
          typeof flat[column],
          row[column] === "" ? "undefined" : "number",
        );
      }
      assert(flat.status !== "ok" || typeof flat.median_us === "number");
    }
  });
}
