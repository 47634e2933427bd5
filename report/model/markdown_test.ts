import { assertEquals, assertNotMatch } from "@std/assert";
import { diffMarkdown } from "../diff/text.ts";
import { summarizeDiff } from "../diff/diff.ts";
import { intervalOf } from "../diff/interval.ts";
import { join } from "../diff/join.ts";
import { thresholdsOf } from "../diff/thresholds.ts";
import { judge, VERDICTS } from "../diff/verdict.ts";
import { formatMarkdown } from "../table/sheet.ts";
import { tableSheet } from "../table/table.ts";
import { placed } from "../testdata/csv_rows.ts";
import { pivots } from "./pivot.ts";

/** What hosts of code make of Markdown, or look for in what was made of it. */
const OBEYED = [
  /(?<!\\)!?\[[^\]]*\]\(/,
  /(?<!\\)[<&`]/,
  /(?<!\w)@\w/,
  /@(everyone|here)/,
  /#\d/,
];

Deno.test("tables and verdicts in Markdown tell nobody and load nothing", () => {
  for (
    const text of [
      "@everyone",
      "x@here",
      "@org/team",
      "![x](http://a/b.png)",
      "[x](http://a)",
      "<img src=http://a>",
      "&#64;everyone",
      "fixes #12",
      "`a` | b\n\n# c\n\n@d",
    ]
  ) {
    const [base, next] = ["10", "20"].map((median_us) => [
      placed({ kernel: `k ${text}`, device: text, median_us }),
      placed({ kernel: "b", device: text, status: "crash", note: text }),
    ]) as [ReturnType<typeof placed>[], ReturnType<typeof placed>[]];
    const threshold = thresholdsOf()("s");
    const diff = summarizeDiff(
      join(base, next).map((pair) =>
        judge(pair, { threshold, interval: intervalOf })
      ),
    );
    const show = { only: VERDICTS, failOn: [], fold: true };
    const tables = pivots(base.map(({ row }) => row), { baselines: () => [] });
    const sheets = tables.map((table) => tableSheet(table));
    assertEquals(sheets.length, 1);
    for (
      const line of [
        ...diffMarkdown(diff, show),
        ...sheets.flatMap(formatMarkdown),
      ]
    ) {
      for (const obeyed of OBEYED) assertNotMatch(line, obeyed);
      assertEquals(line.split("\n").length, 1);
    }
  }
});
