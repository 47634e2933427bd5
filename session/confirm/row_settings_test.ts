import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { rowSettings } from "./jobs.ts";

Deno.test("rowSettings() has what a row was timed by", () => {
  const row = csvRow({
    timer: "batch:16",
    cache: "warm",
    flush: "",
    fill: "integers",
    seed: "7",
    warmup_ms: "0.5",
    rep_ms: "2",
  });
  assertEquals(rowSettings(row), {
    timer: "batch:16",
    cache: "warm",
    flush: "zero",
    fill: "integers",
    seed: 7,
    warmup: 0.5,
    rep: 2,
  });
  assertEquals(rowSettings(csvRow({ flush: "read" })).flush, "read");
});

Deno.test("rowSettings() takes a flush for rows whose operands took turns", () => {
  assertEquals(rowSettings(csvRow({ flush: "rotate" })).flush, "zero");
});

Deno.test("rowSettings() refuses what this program cannot do again", () => {
  for (
    const change of [
      { timer: "perftest" },
      { timer: "batch:0" },
      { cache: "hot" },
      { flush: "toString" },
      { fill: "zeros" },
    ]
  ) {
    const [[column, value]] = Object.entries(change) as [[string, string]];
    const error = assertThrows(() => rowSettings(csvRow(change)), UserError);
    assertMatch(
      error.message,
      new RegExp(
        `^Cannot confirm: .* was measured with ${column} ${value}, which`,
      ),
    );
  }
});
