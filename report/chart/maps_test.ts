import { assertEquals, assertStrictEquals } from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { failedRow, rowAt } from "../testdata/plot_rows.ts";
import { textsOf } from "../testdata/texts.ts";
import { chartData } from "./data.ts";
import { lead, speedup } from "./maps.ts";
import type { Picture } from "./frame.ts";
import { openStudio } from "./studio.ts";

const BASELINES = ["tuned", "library"];

/** A row at M of N = 64, K = 512, on a device whose speed of light is not known. */
function at(kernel: string, m: number, us: number): CsvRow {
  return { ...rowAt(kernel, [64, 512, us]), m: `${m}`, sol_us: "" };
}

const ROWS = [
  at("library", 1, 5),
  at("library", 2, 4),
  at("tuned", 1, 4),
  failedRow(at("tuned", 2, 4), "timeout"),
  at("mine", 1, 2),
  at("mine", 2, 8),
  at("yours", 1, 3),
  at("yours", 2, 5),
];

const leadOf = (rows: readonly CsvRow[], baselines = BASELINES) =>
  lead(chartData(rows, { theme: "light", baselines }));

Deno.test("lead() sets the fastest kernel of a shape against its fastest baseline", async () => {
  await openStudio();
  const [picture] = leadOf(ROWS) as readonly Picture[];
  assertStrictEquals(picture!.name, "lead");
  const texts = (await textsOf(picture!)).map(({ text }) => text);
  const from = texts.indexOf("2.00×");
  assertEquals(texts.slice(from, from + 6), [
    ...["2.00×", "mine 2.00 µs", "tuned 4.00 µs"],
    ...["0.80×", "yours 5.00 µs", "library 4.00 µs"],
  ]);
  assertEquals(
    texts.filter((text) => /^N=|^Geometric/.test(text)),
    [
      "N=64 K=512  1.26×",
      "Geometric mean 1.26×, from 0.80× to 2.00×, over 2 shapes",
    ],
  );
});

Deno.test("lead() says which side has no time at a shape", async () => {
  await openStudio();
  const rows = [...ROWS, at("mine", 4, 8), at("tuned", 8, 8)];
  const [picture] = leadOf(rows) as readonly Picture[];
  const texts = (await textsOf(picture!)).map(({ text }) => text);
  const from = texts.indexOf("–");
  assertEquals(texts.slice(from, from + 6), [
    ...["–", "mine 8.00 µs", "no baseline has a time"],
    ...["–", "no other has a time", "tuned 8.00 µs"],
  ]);
});

Deno.test("lead() counts a kernel of Python among the baselines", async () => {
  await openStudio();
  const [picture] = leadOf(
    ROWS.filter(({ kernel }) => kernel !== "tuned")
      .map((row) =>
        row.kernel === "yours" ? { ...row, library: "torch 2.11" } : row
      ),
  ) as readonly Picture[];
  const texts = (await textsOf(picture!)).map(({ text }) => text);
  const from = texts.indexOf("1.50×");
  assertEquals(texts.slice(from, from + 3), [
    ...["1.50×", "mine 2.00 µs", "yours 3.00 µs"],
  ]);
});

Deno.test("speedup() is left out without a baseline, and says how to name one", () => {
  const said = (rows: readonly CsvRow[]) =>
    speedup(chartData(rows, { theme: "light" }));
  assertStrictEquals(
    said(ROWS),
    "no baseline has a time; --baseline NAME takes another kernel",
  );
  assertStrictEquals(
    said(ROWS.map((row) => failedRow(row, "crash"))),
    "no case has a time",
  );
});

Deno.test("lead() is left out where it shows nothing of its own", () => {
  const of = (...kernels: string[]) =>
    leadOf(ROWS.filter(({ kernel }) => kernels.includes(kernel)));
  assertStrictEquals(
    of("library", "mine"),
    "there is one kernel and one baseline: see speedup",
  );
  assertStrictEquals(typeof of("library", "mine", "yours"), "object");
  assertStrictEquals(
    of("library", "tuned"),
    "no kernel but baselines and peers has a time",
  );
  assertStrictEquals(
    leadOf(ROWS.map((row) => failedRow(row, "crash"))),
    "no case has a time",
  );
  const apart = [at("library", 1, 5), at("tuned", 1, 5), at("mine", 2, 5)];
  assertStrictEquals(leadOf(apart), "no shape has a time of either side");
  assertStrictEquals(leadOf(ROWS, []), "no baseline and no peer has a time");
});
