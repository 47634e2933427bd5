import { assertEquals, assertThrows } from "@std/assert";
import { parse } from "@std/csv";
import { UserError } from "../model/errors.ts";
import { formatRow, numberOf, recordOf, writeCsv } from "./csv.ts";
import { readCsv } from "./read_csv.ts";
import type { KeptRow } from "./csv_row.ts";
import { COLUMNS, SCHEMA } from "./row.ts";
import { timedRow } from "../testdata/rows.ts";

/** Numbers in [0, 1) that are the same in every run. */
function* chances(seed: number): Generator<number, never> {
  while (true) {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    yield seed / 2 ** 31;
  }
}

/** A row of every status in turn, its texts and numbers from awkward ones. */
function generate(i: number): KeptRow {
  const chance = chances(i);
  const one = <T>(of: readonly T[]): T =>
    of[Math.floor(chance.next().value * of.length)]!;
  const bits = [
    "a",
    ",",
    '"',
    "\n",
    " ",
    "ü",
    "\u{1f600}",
    "=",
    "\t",
    "0",
    "'",
  ];
  const text = () =>
    Array.from({ length: Math.floor(chance.next().value * 6) }, () => one(bits))
      .join("");
  const number = () =>
    one([
      0,
      1,
      0.1 + 0.2,
      1e-300,
      5e-324,
      2 ** 53,
      1e21,
      2.5,
      chance.next().value,
    ]);
  const mapped = <T extends object>(object: T, value: () => unknown): T =>
    Object.fromEntries(Object.keys(object).map((k) => [k, value()])) as T;
  const timed = timedRow("k");
  const base = {
    key: {
      ...timed.key,
      op: text(),
      kernel: `k${i}${text().replaceAll(/[\n\t]/g, "")}`,
    },
    place: mapped(timed.place, text),
    config: text(),
    config_by: one(["fixed", "search", "cache", "tuner", ""] as const),
    note: text(),
    provenance: {
      timer: text(),
      cache: text(),
      schema: SCHEMA,
      ...(one([true, false])
        ? { fill: "x" + text(), flush_bytes: number() }
        : {}),
    },
  };
  const accuracy = {
    ...mapped(timed.accuracy, () => one([number(), NaN, Infinity])),
    mismatches: number(),
    deterministic: one([true, false]),
  };
  const status = one(["ok", "wrong", "crash", "oom"] as const);
  if (status !== "ok") {
    return { ...base, status, ...(status === "wrong" ? { accuracy } : {}) };
  }
  // Times of more than a year are no measurements.
  const time = () => Math.min(number(), 1.5e13);
  const [flops, bytes] = [number(), number()];
  const [min_us, q1_us, q3_us] = [time(), time(), time()]
    .toSorted((a, b) => a - b) as [number, number, number];
  const median_us = 1 + min_us + time();
  const figures = {
    ...mapped(timed.figures, number),
    median_us,
    min_us,
    q1_us,
    q3_us,
    mean_us: 1 + min_us + time(),
    flops,
    bytes,
    tflops: flops / median_us / 1e6,
    gbps: bytes / median_us / 1e3,
    samples: 3,
    runs: 1,
    ...(one([true, false])
      ? { sol_us: number(), between_run_us: number() }
      : {}),
  };
  return { ...base, status, figures, accuracy: { ...accuracy, mismatches: 0 } };
}

Deno.test("readCsv() gives back what recordOf() and writeCsv() wrote", () => {
  const rows = Array.from({ length: 300 }, (_, i) => generate(i));
  const statuses = new Set(rows.map((row) => row.status));
  assertEquals(statuses.size, 4);
  assertEquals(readCsv(writeCsv(rows), "x.csv"), rows.map(recordOf));
});

Deno.test("writeCsv() gives the same for rows and for their records", () => {
  const rows = Array.from({ length: 20 }, (_, i) => generate(i));
  assertEquals(writeCsv(rows.map(recordOf)), writeCsv(rows));
});

Deno.test("writeCsv() quotes as RFC 4180 has it, with LF ends and full precision", () => {
  const row: KeptRow = {
    ...timedRow("k", { median_us: 0.1 + 0.2 }),
    note: 'a "b",\r\nc',
  };
  assertEquals(
    writeCsv([row]),
    `${COLUMNS.join(",")}\n` +
      "s,op0,k,cuda,f32,f32,f32,f32,nn,1,2,3,param=0,do_bench,cold," +
      'Fake (1),fake,BM=16,search,ok,"a ""b"",\nc",' +
      "0.30000000000000004,0.22500000000000003,0.37500000000000006,0.15000000000000002," +
      "0.30000000000000004,3,1,,8000000,4000," +
      "26.666666666666664,13.333333333333332,,1,0.125,0.001,0.0001,0,true,," +
      ",,,,,,,,,,,,,,,,,,,,,,,,,,,2,r,\n",
  );
});

Deno.test("writeCsv() writes no cell that a spreadsheet runs, and numbers as they are", () => {
  const texts = [
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "+1+1",
    "-2+3",
    "\t=1",
    "＝1",
  ];
  const others = ["-5", "+1e-3", "'s", "a=b", ""];
  for (const text of [...texts, ...others, ...texts.map((t) => `'${t}`)]) {
    const row = { ...recordOf(timedRow("k")), note: text, temp_c: "-5" };
    const csv = writeCsv([row]);
    const [, cells] = parse(csv);
    const isGuarded = !others.includes(text);
    assertEquals(
      cells![COLUMNS.indexOf("note")],
      isGuarded ? `'${text}` : text,
    );
    assertEquals(cells![COLUMNS.indexOf("temp_c")], "-5");
    assertEquals(readCsv(csv, "a.csv"), [row]);
  }
});

Deno.test("recordOf() clips a note that no cell has room for, and readCsv() refuses one", () => {
  const { figures: _, accuracy: __, ...base } = timedRow("k");
  const note = "x".repeat(30_000);
  const row = recordOf({ ...base, status: "compile", note });
  assertEquals(row.note, `${"x".repeat(19_999)}…`);
  assertEquals(readCsv(writeCsv([row]), "a.csv"), [row]);
  assertThrows(
    () => readCsv(writeCsv([{ ...row, note }]), "a.csv"),
    UserError,
    "it has 30000 characters, and 20000 are the most",
  );
});

Deno.test("writeCsv() begins with the columns", () => {
  assertEquals(writeCsv([]), `${COLUMNS.join(",")}\n`);
});

Deno.test("formatRow() writes the schema of this program", () => {
  const { provenance } = timedRow("k");
  const row = { ...timedRow("k"), provenance: { ...provenance, schema: 99 } };
  assertEquals(formatRow(row)[COLUMNS.indexOf("schema")], `${SCHEMA}`);
});

Deno.test("readCsv() accepts CRLF, a byte order mark and columns in another order", () => {
  const row = timedRow("k");
  const text = writeCsv([row]);
  const [head, line] = text.split("\n").map((l) => l.split(","));
  const turned = [head!.toReversed().join(","), line!.toReversed().join(",")];
  const awkward = `\ufeff${turned.join("\r\n")}\r\n`;
  assertEquals(readCsv(awkward, "x.csv"), [recordOf(row)]);
});

const refusals = {
  "of a later schema": [
    (text: string) => text.replace(",2,r,", ",7,r,"),
    `line 2, column schema is "7": this program reads 1 and 2`,
  ],
  "without a schema": [
    () => "m,n\n1,2\n",
    "line 1, column schema is missing: it is not a CSV of results",
  ],
  "that is empty": [
    () => "",
    "line 1 has no columns: the file is empty",
  ],
  "with other columns": [
    (text: string) => text.replace("median_us", "median_ms"),
    'line 1, column "median_ms" is unknown',
  ],
  "with a column twice": [
    (text: string) => text.replace("median_us", "mean_us"),
    'line 1, column "mean_us" is there twice',
  ],
  "with a short record": [
    (text: string) => text + "a,b\n",
    `line 3, column kernel is missing: the line is cut off (2 fields, not ${COLUMNS.length})`,
  ],
  "with an open quote": [
    (text: string) => text + '"a',
    "line 3, field near character 1: a quote is misplaced or never closed",
  ],
  "with a median that is none": [
    (text: string) => text.replace(",4,", ",NaN,"),
    'line 2, column median_us is "NaN": it must be a time from 1e-6 µs to a year',
  ],
  "with a time that is cut off": [
    (text: string) => text.replace(/,\n$/, ",2026-11-2"),
    'line 2, column time is "2026-11-2": it must be a date and time such as 2026-11-20T15:49:05Z',
  ],
  "with a time of a month that is none": [
    (text: string) => text.replace(/,\n$/, ",2026-13-20T15:49:05Z\n"),
    'line 2, column time is "2026-13-20T15:49:05Z": it must be a date and time such as 2026-11-20T15:49:05Z',
  ],
} as const;

for (const [what, [spoil, message]] of Object.entries(refusals)) {
  Deno.test(`readCsv() refuses a file ${what}`, () => {
    const text = spoil(writeCsv([timedRow("k")]));
    assertEquals(
      assertThrows(() => readCsv(text, "r.csv"), UserError).message,
      `Cannot read r.csv: ${message}; fix it, move it away or pass --out with another folder`,
    );
  });
}

Deno.test("numberOf() tells nothing, numbers and other text apart", () => {
  const record = recordOf(timedRow("k"));
  assertEquals(numberOf(record, "median_us"), 4);
  assertEquals(numberOf(record, "sol_us"), undefined);
  const nan = { ...record, max_abs_err: "NaN" };
  assertEquals(numberOf(nan, "max_abs_err"), NaN);
  assertEquals(
    assertThrows(
      () => numberOf({ ...record, median_us: "4 us" }, "median_us"),
      Error,
    ).message,
    "Column median_us is 4 us, which is not a number",
  );
});
