import { assertEquals, assertMatch } from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { freshNote } from "../../bench/measure/guarded.ts";
import { timedRow } from "../../bench/testdata/rows.ts";
import { formatMarkdown, formatText } from "../table/sheet.ts";
import { isAboveSol, isRemembered, SUSPECT_LEGEND } from "./sol.ts";
import { pivots } from "./pivot.ts";
import { pivotsCsv } from "../table/pivot_data.ts";
import { tableSheet } from "../table/table.ts";
import { winsSheets } from "../table/wins_sheet.ts";
import { formatTable } from "../table/table.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { winsOf } from "./wins.ts";

const SCREEN = { width: Infinity, color: false };

/** A row of `us`, where SOL is 5 us. */
function row(kernel: string, k: string, us: string): CsvRow {
  return csvRow({
    kernel,
    k,
    median_us: us,
    sol_us: "5",
    q1_us: us,
    q3_us: us,
    mean_us: us,
  });
}

// At the second shape `mine` would win by a factor of 2.5, were it possible.
const ROWS = [
  row("cublas", "8192", "12"),
  row("mine", "8192", "8"),
  row("cublas", "16384", "10"),
  row("mine", "16384", "4"),
  row("other", "16384", "8"),
];
const baselines = () => ["cublas"];

Deno.test("isAboveSol() is of cold rows with a time and a speed of light", () => {
  const fast = { median_us: "4", sol_us: "5" };
  assertEquals(isAboveSol(csvRow(fast)), true);
  const others: readonly Partial<CsvRow>[] = [
    { median_us: "4.8" },
    { cache: "warm" },
    { sol_us: "" },
    { status: "wrong" },
    { median_us: "", mean_us: "" },
  ];
  for (const other of others) {
    assertEquals(isAboveSol(csvRow({ ...fast, ...other })), false);
  }
});

Deno.test("tableSheet() marks rows above SOL, and has them in no mean and best", () => {
  const [table] = pivots(ROWS, { baselines });
  assertEquals(table!.shapes.map(({ best }) => best), ["mine", "other"]);
  const lines = formatText(tableSheet(table!), SCREEN);
  assertMatch(lines[3]!, /^16×16×16384 +10\.00 +4\.000† +8\.000\* +1\.25x$/);
  assertMatch(lines[4]!, /^geomean vs cublas +1\.00x +1\.50x +1\.25x +1\.37x$/);
  assertEquals(lines.filter((line) => line === `  ${SUSPECT_LEGEND}`), [
    `  ${SUSPECT_LEGEND}`,
  ]);
  assertMatch(formatMarkdown(tableSheet(table!)).join("\n"), /\| 4\.000† \|/);
});

Deno.test("winsOf() counts no row above SOL, and winsSheets() says so", () => {
  const [table] = pivots(ROWS, { baselines });
  const { wins, losses, missing, suspect, max } = winsOf(
    table!,
    "mine",
    "cublas",
  );
  assertEquals([wins, losses, missing, suspect, max], [1, 0, 1, 1, 1.5]);
  assertEquals(winsSheets(table!, ["cublas"])[0]!.notes, [
    "mine: at 1 of 2 shapes it or cublas is suspect (above SOL, or results may be remembered), and not counted",
    "other: 1 of 2 shapes are not measured for it or cublas, and not counted",
  ]);
});

Deno.test("pivotsCsv() says which rows are above SOL, without a speed-up", () => {
  const lines = pivotsCsv(pivots(ROWS, { baselines })).trimEnd().split("\n");
  assertMatch(lines[0]!, /,speedup,suspect$/);
  const suspect = lines.filter((line) => line.endsWith(",true"));
  assertEquals(suspect.length, 1);
  assertMatch(suspect[0]!, /,mine,.*,4,median,false,cublas,,,,,true$/);
});

Deno.test("formatTable() marks rows above SOL, and has none as the best", () => {
  const provenance = { timer: "do_bench", cache: "cold" };
  const rows = [["cublas", 10], ["mine", 4], ["other", 8]] as const;
  const lines = formatTable(
    rows.map(([kernel, median_us]) => {
      const row = timedRow(kernel, { median_us });
      // Quiet: no row is marked for its spread.
      const spread = { q1_us: median_us, q3_us: median_us, mean_us: median_us };
      const figures = { ...row.figures, ...spread, sol_us: 5 };
      return { ...row, figures, provenance };
    }),
    { ...SCREEN, baselines: { s: ["cublas"] } },
  );
  assertMatch(lines[2]!, / 8\.000\* +4\.000† +1\.25x$/);
  assertEquals(lines.includes(`  ${SUSPECT_LEGEND}`), true);
});

// Every seventh sample has new inputs, and is slow.
const FRESH = new Set(Array.from({ length: 12 }, (_, i) => 7 * i));
const NOTE = freshNote(
  Array.from({ length: 84 }, (_, i) => FRESH.has(i) ? 5000 : 800),
  { after: FRESH },
);

Deno.test("isRemembered() knows the note of freshNote(), also among others", () => {
  const median_us = "4";
  const ahead =
    "suspect: a thread that it started works on between its calls: results may be computed ahead";
  for (const note of [NOTE, `untuned; ${NOTE}`, `${NOTE}; untuned`, ahead]) {
    assertEquals(isRemembered(csvRow({ median_us, note })), true, note);
  }
  const cold = "suspect: as fast with a cold cache (3 µs) as with a warm one";
  for (const note of ["", cold]) {
    assertEquals(isRemembered(csvRow({ median_us, note })), false, note);
  }
  const wrong = csvRow({ status: "wrong", median_us: "", note: NOTE });
  assertEquals(isRemembered(wrong), false);
});

Deno.test("tableSheet() treats rows that may be remembered as those above SOL", () => {
  const rows = ROWS.map((row) => ({
    ...row,
    ...(row.kernel === "mine" && row.k === "16384"
      ? { sol_us: "", note: NOTE }
      : {}),
  }));
  const [table] = pivots(rows, { baselines });
  assertEquals(table!.shapes.map(({ best }) => best), ["mine", "other"]);
  const lines = formatText(tableSheet(table!), SCREEN);
  assertMatch(lines[3]!, /^16×16×16384 +10\.00 +4\.000† +8\.000\* +1\.25x$/);
  assertMatch(lines[4]!, /^geomean vs cublas +1\.00x +1\.50x +1\.25x +1\.37x$/);
  assertEquals(lines.includes(`  ${SUSPECT_LEGEND}`), true);
  assertEquals(winsOf(table!, "mine", "cublas").suspect, 1);
  assertMatch(pivotsCsv([table!]), /,mine,.*,4,median,false,.*,true$/m);
});
