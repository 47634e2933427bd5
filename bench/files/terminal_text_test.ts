import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../row/csv.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { within } from "../../cli/testdata/program.ts";
import {
  aligned,
  escapeAllButColors,
  escapeControls,
  padded,
  percent,
  shortened,
  widthOf,
} from "./terminal_text.ts";

Deno.test("escapeControls() leaves layout and every other script alone", () => {
  const text = "a\tb\r\nü ×\n😀";
  assertEquals(escapeControls(text), text);
});

Deno.test("escapeAllButColors() leaves colours, and nothing else that a terminal obeys", () => {
  const painted = "\x1b[1mhead\x1b[0m";
  assertEquals(escapeAllButColors(painted), painted);
  assertEquals(escapeControls(painted), "␛[1mhead␛[0m");
  assertEquals(
    escapeAllButColors(`\x1b[2J${painted}\x1b]0;title\x07\x9b31m`),
    `␛[2J${painted}␛]0;title␇\ufffd31m`,
  );
});

Deno.test("escapeControls() shows what would turn the order of characters round", () => {
  assertEquals(
    escapeControls("a\u202eb\u2066c\u2069"),
    "a\ufffdb\ufffdc\ufffd",
  );
});

Deno.test("table, diff and errors show what would move the cursor", () =>
  within(async (run, folder) => {
    const kernel = "na\x1b[2J\x1b[31mive\x9b\r";
    const rows = (median_us: string) => [csvRow({ kernel, median_us })];
    Deno.writeTextFileSync(join(folder, "a.csv"), writeCsv(rows("10")));
    Deno.writeTextFileSync(join(folder, "b.csv"), writeCsv(rows("20")));
    for (
      const args of [
        ["table", "a.csv"],
        ["table", "a.csv", "--format", "csv"],
        ["diff", "a.csv", "b.csv"],
        ["table", "a.csv", "--kernel", "other"],
      ]
    ) {
      const { stdout, stderr } = await run(...args);
      assertMatch(stdout + stderr, /na␛\[2J␛\[31mive/, args.join(" "));
      assertNotMatch(stdout + stderr, /[^\P{Cc}\n]/u);
    }
  }));

Deno.test("widthOf() counts columns, not characters", () => {
  assertEquals(["", "16×16", "naïve", "核心", "µs"].map(widthOf), [
    0,
    5,
    5,
    4,
    2,
  ]);
});

Deno.test("padded() never cuts", () => {
  assertEquals(padded("核心", 3), "核心");
  assertEquals(padded("核", 4, "right"), "  核");
});

Deno.test("shortened() leaves room for the ellipsis, also beside a wide character", () => {
  assertEquals(shortened("bench 3/12", 11), "bench 3/12");
  assertEquals(shortened("bench 3/12", 10), "bench 3/…");
  assertEquals(shortened("核心核心", 6), "核心…");
  assertEquals(shortened("核心核心", 5), "核…");
  assertEquals(shortened("ab", 1), "…");
});

Deno.test("aligned() keeps columns in line where text is wide", () => {
  assertEquals(
    aligned([["核", "1", "a"], ["naive", "22", ""]], new Set([1])),
    ["核      1  a", "naive  22"],
  );
});

Deno.test("percent() keeps two digits of a small share", () => {
  assertEquals(
    [1, 0.1234, 0.01, 0.00089, 0, -0.004].map(percent),
    ["100.0 %", "12.3 %", "1.0 %", "0.089 %", "0.0 %", "-0.4 %"],
  );
});
