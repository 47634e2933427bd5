import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { writeCsv } from "./csv.ts";
import type { Column, CsvRow } from "./csv_row.ts";
import { UserError } from "../model/errors.ts";
import { COLUMNS } from "./row.ts";
import { writeTable } from "./csv.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { parseRows } from "./read_csv.ts";
import { read, refusal } from "../testdata/parsing.ts";

const TEXT_COLUMNS = [
  "suite",
  "layout",
  "params",
  "device",
  "config",
  "note",
  "driver",
  "library",
  "run",
] as const satisfies readonly Column[];

/** A field with what a CSV finds awkward in it. */
const field = fc.array(
  fc.constantFrom(",", '"', "\n", "\r\n", " ", "'", "ü", "😀", "=", "a", "0"),
  { maxLength: 6 },
).map((parts) => parts.join(""));

const figure = fc.double({ min: 1e-6, max: 1e9, noNaN: true })
  .map((value) => `${value}`);

/** Rows of different cases. */
const rows = fc.array(
  fc.record({
    texts: fc.tuple(...TEXT_COLUMNS.map(() => field)),
    median_us: figure,
    max_abs_err: fc.constantFrom("NaN", "Infinity", "", "0", "1.5e-7"),
  }),
  { minLength: 1, maxLength: 6 },
).map((list) =>
  list.map(({ texts, median_us, max_abs_err }, i) =>
    csvRow({
      ...Object.fromEntries(TEXT_COLUMNS.map((c, j) => [c, texts[j]!])),
      kernel: `k${i}`,
      median_us,
      max_abs_err,
    })
  )
);

/** What the reader makes of a row: line ends in fields are LF. */
function asRead(row: CsvRow): CsvRow {
  const entries = Object.entries(row).map(([column, value]) =>
    [column, value.replaceAll("\r\n", "\n")] as const
  );
  return Object.fromEntries(entries) as CsvRow;
}

Deno.test("parseRows() gives back what writeCsv() wrote, whatever is in it", () => {
  fc.assert(fc.property(rows, (some) => {
    deepStrictEqual(read(writeCsv(some)), some.map(asRead));
  }));
});

Deno.test("parseRows() reads CRLF, a byte order mark, empty lines and any order of columns alike", () => {
  const order = fc.shuffledSubarray([...COLUMNS], {
    minLength: COLUMNS.length,
  });
  fc.assert(fc.property(rows, order, (some, columns) => {
    const records = some.map((row) => columns.map((column) => row[column]));
    const text = writeTable([columns, ...records]);
    const quotedAll = [columns, ...records].map((fields) =>
      fields.map((f) => `"${f.replaceAll('"', '""')}"`).join(",")
    ).join("\r\n");
    deepStrictEqual(read(text), some.map(asRead));
    deepStrictEqual(read(`\ufeff\r\n${quotedAll}\r\n\r\n`), some.map(asRead));
  }));
});

Deno.test("parseRows() reads a damaged file whole or refuses it in one line", () => {
  const some = ["a", "b", "c"].map((kernel) => csvRow({ kernel }));
  const whole = writeCsv(some);
  const damage = fc.tuple(
    fc.nat(whole.length),
    fc.nat(3),
    fc.constantFrom("", ",", '"', "\n", "\r", "-", "NaN", "x", "\ufeff"),
  );
  fc.assert(
    fc.property(damage, ([at, cut, put]) => {
      const text = whole.slice(0, at) + put + whole.slice(at + cut);
      try {
        const found = parseRows(text, "a.csv");
        strictEqual(found.length, some.length);
      } catch (error) {
        ok(error instanceof UserError, `${error}`);
        match(error.message, /^Cannot read a\.csv: line \d+, (column|field)/);
        strictEqual(error.message.split("\n").length, 1);
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("parseRows() never takes a file that was cut off for a whole one", () => {
  const some = ["a", "b"].map((kernel) =>
    csvRow({ kernel, time: "2026-11-20T15:49:05.427Z" })
  );
  const whole = writeCsv(some);
  const second = whole.indexOf("\n", whole.indexOf("\n") + 1) + 1;
  for (let end = second + 1; end < whole.length - 1; end++) {
    refusal(whole.slice(0, end));
  }
  strictEqual(read(whole.slice(0, -1)).length, 2);
});

Deno.test("parseRows() says on which lines rows start, beyond quoted line ends", () => {
  const some = ["a", "b", "c"].map((kernel) =>
    csvRow({ kernel, note: "one\ntwo\r\nthree" })
  );
  deepStrictEqual(
    parseRows(writeCsv(some), "a.csv").map(({ line }) => line),
    [2, 5, 8],
  );
});
