import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { parse } from "@std/csv";
import fc from "fast-check";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { UserError } from "../model/errors.ts";
import { writeCsv, writeTable } from "./csv.ts";
import { backends } from "../../backends/mod.ts";
import { BACKENDS, type Column, type CsvRow } from "./csv_row.ts";
import { parseRows, streamRows } from "./read_csv.ts";
import {
  ADDED_COLUMNS,
  COLUMNS,
  LATER_COLUMNS,
  PUBLISHED,
  TIMING_COLUMNS,
} from "./row.ts";

function read(text: string): CsvRow[] {
  return parseRows(text, "a.csv").map(({ row }) => row);
}

/** The one line with which `text` is refused. */
function refusal(text: string): string {
  const { message } = assertThrows(() => parseRows(text, "a.csv"), UserError);
  assertMatch(message, /^Cannot read a\.csv: line \d+/);
  assertEquals(message.split("\n").length, 1);
  return message;
}

const TEXT_COLUMNS = [
  "op",
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
    assertEquals(read(writeCsv(some)), some.map(asRead));
  }));
});

Deno.test("parseRows() reads CRLF, a byte order mark, empty lines and any order of columns alike", () => {
  const order = fc.shuffledSubarray([...COLUMNS], {
    minLength: COLUMNS.length,
  });
  fc.assert(fc.property(rows, order, (some, columns) => {
    const records = some.map((row) => columns.map((column) => row[column]));
    const text = writeTable([columns, ...records]);
    const quotedAll = parse(text).map((fields) =>
      fields.map((f) => `"${f.replaceAll('"', '""')}"`).join(",")
    ).join("\r\n");
    assertEquals(read(text), some.map(asRead));
    assertEquals(read(`\ufeff\r\n${quotedAll}\r\n\r\n`), some.map(asRead));
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
        assertEquals(found.length, some.length);
      } catch (error) {
        assert(error instanceof UserError, `${error}`);
        assertMatch(
          error.message,
          /^Cannot read a\.csv: line \d+, (column|field)/,
        );
        assertEquals(error.message.split("\n").length, 1);
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
  assertEquals(read(whole.slice(0, -1)).length, 2);
});

Deno.test("parseRows() says on which lines rows start, beyond quoted line ends", () => {
  const some = ["a", "b", "c"].map((kernel) =>
    csvRow({ kernel, note: "one\ntwo\r\nthree" })
  );
  assertEquals(
    parseRows(writeCsv(some), "a.csv").map(({ line }) => line),
    [2, 5, 8],
  );
});

/** A CSV of schema 1, which had the timer and the cache behind the errors. */
function ofSchema1(rows: readonly CsvRow[]): string {
  const timing = TIMING_COLUMNS as readonly Column[];
  const known = COLUMNS.filter((column) =>
    !timing.includes(column) &&
    !([...ADDED_COLUMNS, ...LATER_COLUMNS] as Column[]).includes(column)
  );
  const columns = known.toSpliced(known.indexOf("flush"), 0, ...timing);
  return writeTable([
    columns,
    ...rows.map((row) =>
      columns.map((column) => column === "schema" ? "1" : row[column])
    ),
  ]);
}

Deno.test("parseRows() reads schema 1 as rows of this schema without what that lacks", () => {
  const some = ["graph", "do_bench"].map((timer) => csvRow({ timer }));
  const text = ofSchema1(some);
  assertEquals(read(text), some);
  const lean = parseRows(text, "a.csv", { lean: true });
  assertEquals(
    lean.map(({ row }) => [row.schema, row.bits, row.machine, row.timer]),
    [["2", "", "", "graph"], ["2", "", "", "do_bench"]],
  );
});

Deno.test("parseRows() reads CSVs of before the columns of the commit", () => {
  const later: readonly Column[] = LATER_COLUMNS;
  const columns = COLUMNS.filter((column) => !later.includes(column));
  const row = csvRow({ commit: "", dirty: "", code_hash: "" });
  const text = writeTable([columns, columns.map((column) => row[column])]);
  assertEquals(read(text), [row]);
  const [lean] = parseRows(text, "a.csv", { lean: true });
  assertEquals([lean!.row.commit, lean!.row.code_hash], ["", ""]);
});

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
      writeTable([["schema", "what"], ["3", "x"]]),
      'line 2, column schema is "3", and this program reads 1 and 2; measure again with `bench`',
    ],
    [
      one("schema", "3"),
      'line 2, column schema is "3": this program reads 1 and 2',
    ],
    [
      one("schema", "1"),
      'line 2, column schema is "1": the columns are those of schema 2',
    ],
    [
      ofSchema1([csvRow()]).replace(",1,r,", ",2,r,"),
      'line 2, column schema is "2": the columns are those of schema 1',
    ],
    [
      one("median_us", "NaN"),
      'line 2, column median_us is "NaN": it must be a time from 1e-6 µs to a year',
    ],
    [
      one("median_us", "-3"),
      'line 2, column median_us is "-3": it must be a time from 1e-6 µs to a year',
    ],
    [
      one("median_us", "0.0"),
      'line 2, column median_us is "0.0": it must be a time from 1e-6 µs to a year',
    ],
    [
      one("median_us", "1e-300"),
      'line 2, column median_us is "1e-300": it must be a time from 1e-6 µs to a year',
    ],
    [
      one("median_us", "1e+308"),
      'line 2, column median_us is "1e+308": it must be a time from 1e-6 µs to a year',
    ],
    [
      one("mean_us", "1e15"),
      'line 2, column mean_us is "1e15": it must be a time from 1e-6 µs to a year',
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
      'line 2, column samples is "1.5": it must be a whole number of at most 2^53 - 1',
    ],
    [
      // A number of JavaScript has another last digit.
      one("seed", "9007199254740993"),
      'line 2, column seed is "9007199254740993": it must be a whole number of at most 2^53 - 1',
    ],
    ...["chain:0", "chain:1:pdl", "batch:0", "batch:x"].map((timer) =>
      [
        one("timer", timer),
        `line 2, column timer is "${timer}": it must be batch:N, chain:N or chain:N:pdl, as in chain:32 (at most 9999 calls)`,
      ] as const
    ),
    ...([
      ["m", "0", "it must be a whole number from 1 to 2^53 - 1"],
      ["n", "00", "it must be a whole number from 1 to 2^53 - 1"],
      ["k", "8.5", "it must be a whole number from 1 to 2^53 - 1"],
      ["m", "", "a row that was measured has it"],
      ["suite", "", "a row that was measured has it"],
      [
        "suite",
        "a b",
        "it must be the name of a suite: letters, digits, _, . and -, at most 100",
      ],
      ["b_type", "", "a row that was measured has it"],
      [
        "a_type",
        "q9",
        "it must be one of f64, f32, f16, bf16, e4m3, e5m2, e2m1x2, e8m0, i32, u32, u8",
      ],
      ["backend", "foo", "it must be one of cuda, hip, metal, cpu"],
      ["layout", "n n", "it must be a word such as nn"],
      [
        "params",
        "epilogue",
        "it must be name=value words, as in epilogue=relu",
      ],
      [
        "kernel",
        "a\nb",
        "it must be a name without line ends and control characters",
      ],
      [
        "kernel",
        "\x1b[2J",
        "it must be a name without line ends and control characters",
      ],
    ] as const).map(([column, value, why]) =>
      [
        one(column, value),
        `line 2, column ${column} is ${JSON.stringify(value)}: ${why}`,
      ] as const
    ),
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
    const said = refusal(text).replace(/; fix that line.*$/, "");
    assertEquals(said, `Cannot read a.csv: ${why}`);
  }
});

Deno.test("parseRows() names the column that a comma without quotes moved", () => {
  const row = csvRow();
  const fields = COLUMNS.map((c) => c === "kernel" ? "a,b" : row[c]);
  assertMatch(
    refusal(`${HEAD}\n${fields.join(",")}\n`),
    /line 2, column backend: a comma before it is not in quotes/,
  );
});

Deno.test("parseRows() refuses a case that is there twice, with both lines", () => {
  assertMatch(
    refusal(
      writeCsv([csvRow(), csvRow({ kernel: "b" }), csvRow({ config: "x" })]),
    ),
    /line 4, columns suite to cache: the same case as on line 2/,
  );
  // The same on another device, or timed in another way, is another row.
  for (
    const other of [{ device: "B" }, { timer: "graph" }, { cache: "warm" }]
  ) {
    assertEquals(read(writeCsv([csvRow(), csvRow(other)])).length, 2);
  }
});

Deno.test("parseRows() refuses quotes that do not fit, with the line", () => {
  const broken = writeCsv([csvRow(), csvRow({ kernel: "zz" })])
    .replace("zz,", '"zz,');
  assertMatch(
    refusal(broken),
    /line 3, field near character 1: a quote is misplaced or never closed/,
  );
  assertMatch(
    refusal(writeCsv([csvRow()]).replace("kernel,", 'ker"nel,')),
    /line 1, field near character \d+: a quote is misplaced/,
  );
  assertMatch(
    refusal(`${HEAD}\n"a"b,`),
    /line 2, field near character 3: a quote is misplaced/,
  );
});

Deno.test("streamRows() reads a file at most twice, whatever is in its pieces", () => {
  const path = Deno.makeTempFileSync({ suffix: ".csv" });
  const original = Deno.readFileSync;
  let whole = 0;
  try {
    const rows = (note: string) =>
      Array.from({ length: 3000 }, (_, i) => csvRow({ m: `${i + 1}`, note }));
    Deno.readFileSync = (from) => {
      whole++;
      return original(from);
    };
    for (
      const [text, expected] of [
        [writeCsv(rows("")).replaceAll("\n", "\r\n"), 0],
        [writeCsv(rows("a bell: \x07")), 1],
      ] as const
    ) {
      // Several pieces of 64 KiB.
      assert(text.length > 3 * (1 << 16));
      Deno.writeTextFileSync(path, text);
      whole = 0;
      assertEquals(streamRows(path).length, 3000);
      assertEquals(whole, expected);
    }
  } finally {
    Deno.readFileSync = original;
    Deno.removeSync(path);
  }
});

Deno.test("parseRows() refuses numbers of a row that contradict one another", () => {
  const refusal = (change: Partial<CsvRow>) =>
    assertThrows(
      () => parseRows(writeCsv([{ ...csvRow(), ...change }]), "a.csv"),
      UserError,
    ).message;
  const fix = "; fix that line, or measure again with `bench`";
  for (
    const [change, why] of [
      [
        { median_us: "20" },
        "column tflops is 0.8: flops and median_us make it 0.4",
      ],
      [
        { bytes: "8000" },
        "column gbps is 0.4: bytes and median_us make it 0.8",
      ],
      [
        { min_us: "9.96" },
        "column min_us is 9.96: it is more than q1_us, 9.95",
      ],
      [{ q3_us: "9" }, "column q1_us is 9.95: it is more than q3_us, 9"],
      [{ mean_us: "1" }, "column min_us is 9.9: it is more than mean_us, 1"],
      [
        { status: "crash" },
        "column median_us is 10: a row with status crash has none",
      ],
      [
        { mismatches: "5" },
        "column mismatches is 5: a row with status ok has none",
      ],
      [{ runs: "0" }, "column runs is 0: a row with a time has at least 1"],
      [{ temp_c: "٤٠" }, 'column temp_c is "٤٠": it must be a temperature'],
    ] as const
  ) {
    assertEquals(refusal(change), `Cannot read a.csv: line 2, ${why}${fix}`);
  }
  // As a spreadsheet rounds them.
  const rounded = { median_us: "30", tflops: "0.266666666666667", gbps: "" };
  assertEquals(
    parseRows(writeCsv([{ ...csvRow(), ...rounded }]), "a").length,
    1,
  );
});

Deno.test("parseRows() reads operations and layouts of others, and published rows without a suite", () => {
  const own = csvRow({ op: "softmax", layout: "row-major", params: "" });
  const published = csvRow({
    harness: PUBLISHED,
    suite: "",
    backend: "",
    c_type: "",
    k: "",
  });
  assertEquals(read(writeCsv([own, published])), [own, published]);
});

Deno.test("parseRows() refuses a layout that no product has", () => {
  assertMatch(
    refusal(writeCsv([csvRow({ op: "matmul", layout: "zz" })])),
    /line 2, column layout is "zz": the op matmul has nn, nt, tn, tt; /,
  );
});

Deno.test("BACKENDS are those that there are", () => {
  assertEquals([...BACKENDS], Object.keys(backends));
});
