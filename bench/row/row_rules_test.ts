import { match, strictEqual } from "node:assert/strict";
import { writeCsv } from "./csv.ts";
import type { Column } from "./csv_row.ts";
import { COLUMNS } from "./row.ts";
import { writeTable } from "./csv.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { read, refusal } from "../testdata/parsing.ts";

const HEAD = COLUMNS.join(",");

/** A CSV of one row with `column` as `value`. */
function one(column: Column, value: string): string {
  return writeCsv([csvRow({ [column]: value })]);
}

Deno.test("parseRows() refuses what cannot be, by line and column", () => {
  const without = (column: Column) => {
    const columns = COLUMNS.filter((c) => c !== column);
    const row = csvRow();
    return writeTable([columns, columns.map((c) => row[c])]);
  };
  const cases: readonly (readonly [string, string])[] = [
    ["", "line 1 has no columns: the file is empty"],
    ["\ufeff\n\n", "line 1 has no columns: the file is empty"],
    [
      "a,b\n1,2\n",
      "line 1, column schema is missing: it is not a CSV of results; `import` reads those of others",
    ],
    [without("m"), "line 1, column m is missing; measure again with `bench`"],
    [
      `${HEAD},extra\n`,
      'line 1, column "extra" is unknown; measure again with `bench`',
    ],
    [
      `${HEAD},m\n`,
      'line 1, column "m" is there twice; measure again with `bench`',
    ],
    [
      writeTable([["schema", "what"], ["2", "x"]]),
      'line 2, column schema is "2", and this program reads 1; measure again with `bench`',
    ],
    [one("schema", "2"), 'line 2, column schema is "2": this program reads 1'],
    [
      one("median_us", "NaN"),
      'line 2, column median_us is "NaN": it must be a time from 1e-6 us to a year',
    ],
    [
      one("median_us", "-3"),
      'line 2, column median_us is "-3": it must be a time from 1e-6 us to a year',
    ],
    [
      one("median_us", "0.0"),
      'line 2, column median_us is "0.0": it must be a time from 1e-6 us to a year',
    ],
    [
      one("median_us", "1e-300"),
      'line 2, column median_us is "1e-300": it must be a time from 1e-6 us to a year',
    ],
    [
      one("median_us", "1e+308"),
      'line 2, column median_us is "1e+308": it must be a time from 1e-6 us to a year',
    ],
    [
      one("mean_us", "1e15"),
      'line 2, column mean_us is "1e15": it must be a time from 1e-6 us to a year',
    ],
    [
      one("q3_us", "1e308"),
      'line 2, column q3_us is "1e308": it must be a time of at most a year',
    ],
    [
      one("median_us", ""),
      'line 2, column median_us is "": a row with status ok must have one',
    ],
    [
      one("q1_us", "1e999"),
      'line 2, column q1_us is "1e999": it must be a time of at most a year',
    ],
    [
      one("q3_us", "0x1f"),
      'line 2, column q3_us is "0x1f": it must be a time of at most a year',
    ],
    [
      one("samples", "1.5"),
      'line 2, column samples is "1.5": it must be a whole number',
    ],
    [
      one("status", "fine"),
      'line 2, column status is "fine": it must be one of ok, unsupported, compile, launch, oom, wrong, timeout, crash, untuned',
    ],
    [
      `${HEAD}\n${"x,".repeat(10)}16\n`,
      `line 2, column k is missing: the line is cut off (11 fields, not ${COLUMNS.length})`,
    ],
  ];
  for (const [text, why] of cases) {
    const said = refusal(text).replace(/; mend that line.*$/, "");
    strictEqual(said, `Cannot read a.csv: ${why}`);
  }
});

Deno.test("parseRows() names the column that a comma without quotes moved", () => {
  const row = csvRow();
  const fields = COLUMNS.map((c) => c === "kernel" ? "a,b" : row[c]);
  match(
    refusal(`${HEAD}\n${fields.join(",")}\n`),
    /line 2, column m: a comma before it is not in quotes/,
  );
});

Deno.test("parseRows() refuses a case that is there twice, with both lines", () => {
  match(
    refusal(
      writeCsv([csvRow(), csvRow({ kernel: "b" }), csvRow({ config: "x" })]),
    ),
    /line 4, columns suite to params: the same case as on line 2/,
  );
  // The same on another device is another row.
  strictEqual(read(writeCsv([csvRow(), csvRow({ device: "B" })])).length, 2);
});

Deno.test("parseRows() refuses quotes that do not fit, with the line", () => {
  const broken = writeCsv([csvRow(), csvRow({ kernel: "zz" })])
    .replace("zz,", '"zz,');
  match(
    refusal(broken),
    /line 3, field near character 1: a quote is misplaced or never closed/,
  );
  match(
    refusal(writeCsv([csvRow()]).replace("kernel,", 'ker"nel,')),
    /line 1, field near character \d+: a quote is misplaced/,
  );
  match(
    refusal(`${HEAD}\n"a"b,`),
    /line 2, field near character 3: a quote is misplaced/,
  );
});
