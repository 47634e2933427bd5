import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { pivots } from "./pivot.ts";
import { byTiming, ofOneTiming } from "./timing.ts";

const own = (timer: string, fields: Partial<CsvRow> = {}) =>
  csvRow({ timer, library: "cublas 13", ...fields });
const peer = (fields: Partial<CsvRow> = {}) =>
  own("graph", { kernel: "torch-eager", library: "torch 2.11.0", ...fields });
const names = (rows: readonly CsvRow[]) =>
  rows.map(({ kernel, timer, cache }) => `${kernel} ${timer} ${cache}`);

Deno.test("byTiming() never has two timers or caches of ours in one group", () => {
  const rows = [own("do_bench"), own("graph"), own("graph", { cache: "warm" })];
  assertEquals(byTiming(rows), rows.map((row) => [row]));
  const tables = pivots(rows, { baselines: () => [] });
  assertEquals(
    tables.map(({ shapes }) => shapes.map((s) => [...s.rows.values()])),
    rows.map((row) => [[row]]),
  );
});

Deno.test("byTiming() puts peers beside ours, unless ours have their timer", () => {
  const mixed = byTiming([own("do_bench"), peer(), own("batch:4")]);
  assertEquals(mixed.map(names), [
    ["kernel do_bench cold", "torch-eager graph cold"],
    ["kernel batch:4 cold", "torch-eager graph cold"],
  ]);
  const apart = byTiming([own("do_bench"), peer(), own("graph")]);
  assertEquals(apart.map(names), [
    ["kernel do_bench cold"],
    ["torch-eager graph cold", "kernel graph cold"],
  ]);
  const others = [peer(), own("do_bench", { cache: "warm" })];
  assertEquals(byTiming(others).length, 2);
});

/** The rows of one timing, and what is said of others. */
function chosenOf(
  rows: readonly CsvRow[],
  choice: { readonly timer?: string; readonly cache?: string } = {},
) {
  const notes: string[] = [];
  const chosen = ofOneTiming(rows, (row) => row, {
    ...choice,
    note: (line) => notes.push(line),
  });
  return { rows: chosen, notes };
}

Deno.test("ofOneTiming() takes what has the most rows for each suite and device", () => {
  const rows = [
    own("do_bench"),
    own("graph"),
    own("graph", { k: "9" }),
    own("do_bench", { suite: "t" }),
    own("graph", { suite: "t", k: "9", cache: "warm" }),
    own("perftest", { harness: "published" }),
  ];
  const equal = [own("graph"), own("do_bench")];
  assertEquals(chosenOf(equal).rows, [equal[1]!]);
  const chosen = chosenOf(rows);
  assertEquals(chosen.rows, [1, 2, 3, 5].map((at) => rows[at]!));
  assertEquals(chosen.notes, [
    "Not shown: rows of other timers or caches, 1 by do_bench, 1 by graph, warm; choose with --timer and --cache",
  ]);
});

Deno.test("ofOneTiming() takes the timer and the cache that are chosen, or refuses", () => {
  const rows = [
    own("do_bench"),
    own("graph"),
    own("graph", { k: "9" }),
    own("graph", { cache: "warm" }),
  ];
  assertEquals(chosenOf(rows, { timer: "do_bench" }).rows, [rows[0]!]);
  assertEquals(chosenOf(rows, { cache: "warm" }), {
    rows: [rows[3]!],
    notes: [],
  });
  assertEquals(
    assertThrows(() => chosenOf(rows, { timer: "batch:4" }), UserError)
      .message,
    "No row is timed by batch:4: there are rows by do_bench; graph; graph, warm",
  );
  assertEquals(
    assertThrows(
      () => chosenOf([own("graph")], { cache: "warm" }),
      UserError,
    ).message,
    "No row is timed by any timer, warm: there are rows by graph",
  );
});
