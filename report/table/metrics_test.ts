import { assertEquals, assertMatch } from "@std/assert";
import { pivots } from "../model/pivot.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import type { MetricName } from "./metrics.ts";
import { formatText } from "./sheet.ts";
import { tableSheet } from "./table.ts";

function row(kernel: string, k: string, us: string, more = {}) {
  return csvRow({ kernel, k, median_us: us, sol_us: "4", ...more });
}

const [table] = pivots([
  row("cublas", "1024", "12"),
  row("torch-compiled", "1024", "8", { library: "torch 2.11" }),
  row("mine", "1024", "5"),
  row("cublas", "2048", "4"),
  row("mine", "2048", "4.5"),
  row("cublas", "4096", "16"),
  row("mine", "4096", "10", { sol_us: "" }),
  row("other", "4096", "2"),
], { baselines: () => ["cublas"] });

/** The lines without marks of noise: the rows have one sample. */
const lines = (metric: MetricName, against: readonly string[] = []) =>
  formatText(tableSheet(table!, { metrics: [metric], against }), {
    width: Infinity,
    color: false,
  }).map((line) => line.replaceAll("~", " "));

Deno.test("tableSheet() has the share of SOL, but not of what is above it or has none", () => {
  const [, head, ...body] = lines("sol");
  assertMatch(head!, /^share of SOL +cublas +torch-compiled +mine +other$/);
  assertMatch(body[0]!, / 33\.3 % +50\.0 % +80\.0 %\*$/);
  assertMatch(body[1]!, / 100\.0 %\* +88\.9 %$/);
  assertMatch(body[2]!, / 25\.0 %$/);
  assertMatch(body[3]!, /^geomean +43\.7 % +50\.0 % +84\.3 %$/);
});

Deno.test("tableSheet() scores against the fastest peer at each shape", () => {
  const [, head, ...body] = lines("score");
  assertMatch(head!, /^SOL score /);
  // 1 / (1 + (T - 4) / (8 - 4)).
  assertMatch(body[0]!, / 0\.333 +0\.500 +0\.800\*$/);
  // A peer at SOL leaves nothing to score.
  assertMatch(body[1]!, /^\S+$/);
  assertMatch(body[2]!, / 0\.500$/);
  assertMatch(body[3]!, /^mean +0\.417 +0\.500 +0\.800$/);
  assertMatch(
    lines("score").join("\n"),
    /^ +0\.5 is as fast as the fastest of cublas, torch-compiled$/m,
  );
  assertMatch(lines("score", ["mine"])[2]!, / 0\.111 +0\.200 +0\.500\*$/);
});

Deno.test("tableSheet() has three digits of a small rate", () => {
  const [slow] = pivots([
    row("cublas", "1024", "12", { tflops: "0.0052683" }),
    row("mine", "1024", "5", { tflops: "0.3731" }),
  ], { baselines: () => ["cublas"] });
  const [, , body] = formatText(tableSheet(slow!, { metrics: ["tflops"] }), {
    width: Infinity,
    color: false,
  });
  assertMatch(body!, /^\S+ +~?0\.00527 +~?0\.373\*$/);
});

Deno.test("tableSheet() says once why no row has a share of SOL", () => {
  const notesOf = (...more: Record<string, string>[]) => {
    const rows = more.map((one, i) =>
      row(`mine-${i}`, "1024", "5", { sol_us: "", backend: "cpu", ...one })
    );
    const [table] = pivots(rows, { baselines: () => [] });
    return tableSheet(table!, { metrics: ["sol", "score"] }).notes
      .filter((note) => note.startsWith("no share of SOL"));
  };
  const why = "no share of SOL and no SOL score:";
  assertEquals(notesOf({}, {}), [`${why} a CPU is not calibrated`]);
  assertEquals(notesOf({ backend: "cuda" }), [
    `${why} the device was not calibrated with this timer`,
  ]);
  assertEquals(notesOf({}, { backend: "cuda", sol_us: "4" }), []);
});

Deno.test("tableSheet() stars no time that spreads over its median, and says so", () => {
  const mine = (k: string, q3_us: string) =>
    row("mine", k, "5", { q1_us: "4", q3_us });
  const linesOf = (...rows: CsvRow[]) => {
    const [one] = pivots(rows, { baselines: () => ["cublas"] });
    return formatText(tableSheet(one!), { width: Infinity, color: false });
  };
  const other = row("cublas", "1024", "12");
  const starsAt = (q3_us: string) =>
    linesOf(other, mine("1024", q3_us))
      .some((line) => line.startsWith("  * fastest"));
  assertEquals([starsAt("14"), starsAt("14.1")], [true, false]);
  const said = (...rows: CsvRow[]) =>
    linesOf(...rows).filter((line) => line.includes("not marked"));
  const where = "  the fastest is not marked where it spreads by over ±100 %:";
  assertEquals(said(other, mine("1024", "14")), []);
  assertEquals(said(other, mine("1024", "14.1")), [
    `${where} mine at ${other.m}×${other.n}×1024`,
  ]);
  assertEquals(said(other, mine("1024", "14.1"), mine("2048", "20")), [
    `${where} mine at 2 shapes`,
  ]);
  // Of one kernel there is no star to miss.
  assertEquals(said(mine("1024", "14.1")), []);
  // A slower one has none either way.
  const slow = row("cublas", "1024", "12", { q1_us: "4", q3_us: "40" });
  assertEquals(said(slow, mine("1024", "6")), []);
});

Deno.test("formatText() tells a legend once of several tables", () => {
  const options = { width: Infinity, color: false, told: new Set<string>() };
  const legends = () =>
    formatText(tableSheet(table!), options)
      .filter((line) => line.startsWith("  * fastest"));
  assertEquals([legends().length, legends().length], [1, 0]);
});
