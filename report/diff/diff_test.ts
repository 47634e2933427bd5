import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { summarizeDiff } from "./diff.ts";
import { diffJson } from "./diff_json.ts";
import { diffJunit } from "./diff_junit.ts";
import { diffMarkdown } from "./diff_md.ts";
import { diffText } from "./diff_text.ts";
import { intervalOf } from "./interval.ts";
import { join } from "./join.ts";
import { placed } from "../testdata/csv_rows.ts";
import { DEFAULT_THRESHOLD } from "./thresholds.ts";
import { judge, type Verdict, VERDICTS } from "./verdict.ts";

const FAIL_ON: readonly Verdict[] = ["slower", "missing", "broken"];
const SHOWN = VERDICTS.filter((verdict) => verdict !== "same");
const SHOW = { only: SHOWN, failOn: FAIL_ON, fold: true };
const SCREEN = { color: false, width: 120 };

const DIFF = summarizeDiff(
  join(
    [
      placed({ kernel: "a" }),
      placed({ kernel: "b" }),
      placed({ kernel: "c" }),
      placed({ kernel: "d" }),
      placed({ kernel: "e|<e>" }),
    ],
    [
      placed({ kernel: "a" }),
      placed({ kernel: "b", median_us: "11" }),
      placed({ kernel: "c", median_us: "12", binary_hash: "x" }),
      placed({ kernel: "d", timer: "graph" }),
      placed({
        kernel: "e|<e>",
        status: "crash",
        median_us: "",
        note: 'a "bad"\n<launch>',
      }),
      placed({ kernel: "f" }),
    ],
  ).map((pair) =>
    judge(pair, { threshold: DEFAULT_THRESHOLD, interval: intervalOf })
  ),
);

Deno.test("summarizeDiff() puts the worst first and counts every verdict", () => {
  deepStrictEqual(
    DIFF.judged.map(({ verdict, pair }) =>
      `${verdict} ${(pair.next ?? pair.base)!.row.kernel}`
    ),
    [
      "broken e|<e>",
      "incomparable d",
      "slower c",
      "slower b",
      "new f",
      "same a",
    ],
  );
  deepStrictEqual(DIFF.counts, {
    broken: 1,
    "less-accurate": 0,
    missing: 0,
    incomparable: 1,
    slower: 2,
    suspect: 0,
    unclear: 0,
    new: 1,
    fixed: 0,
    faster: 0,
    same: 1,
  });
});

Deno.test("summarizeDiff() takes means over what both sides have timed, and says so", () => {
  const [mean, ...more] = DIFF.means;
  deepStrictEqual(more, []);
  deepStrictEqual([mean!.n, mean!.of], [3, 6]);
  ok(Math.abs(mean!.change! - (Math.cbrt(1 * 1.1 * 1.2) - 1)) < 1e-12);
  const none = summarizeDiff([{
    pair: { next: placed() },
    verdict: "new",
    why: "",
  }]);
  strictEqual(none.means[0]!.change, undefined);
});

Deno.test("diffText() lists what is worst with its cause, the means and the counts", () => {
  deepStrictEqual(diffText(DIFF, { ...SHOW, ...SCREEN }), [
    'broken        s e|<e> 16×16×8192 layout0 params0                              ok -> crash: a "bad" <launch>',
    "incomparable  s d 16×16×8192 layout0 params0                                  timer do_bench -> graph",
    "slower        s c 16×16×8192 layout0 params0      10.00 -> 12.00 us  +20.0 %",
    "    98 % interval +1.961 to +2.039 us; binary changed",
    "slower        s b 16×16×8192 layout0 params0      10.00 -> 11.00 us  +10.0 %  98 % interval +0.961 to +1.039 us",
    "new           s f 16×16×8192 layout0 params0",
    "",
    "s: geomean +9.7 % in time, over the 3 of 6 cases timed and comparable in both",
    "1 broken, 0 less-accurate, 0 missing, 1 incomparable, 2 slower, 0 suspect, 0 unclear, 1 new, 0 fixed, 0 faster, 1 same",
  ]);
});

Deno.test("diffText() wraps reasons to the width, and not where there is room", () => {
  const show = { ...SHOW, only: ["broken", "slower"] as const, color: false };
  const narrow = diffText(DIFF, { ...show, width: 40 });
  deepStrictEqual(narrow.slice(1, 3), [
    '    ok -> crash: a "bad" <launch>',
    "slower  s c 16×16×8192 layout0 params0      10.00 -> 12.00 us  +20.0 %",
  ]);
  deepStrictEqual(narrow.slice(3, 5), [
    "    98 % interval +1.961 to +2.039 us;",
    "    binary changed",
  ]);
  const [, wide] = diffText(DIFF, { ...show, width: 200 });
  ok(wide!.endsWith("  98 % interval +1.961 to +2.039 us; binary changed"));
});

Deno.test("diffText() prints the counts also where nothing is listed", () => {
  strictEqual(diffText(DIFF, { ...SHOW, only: [], ...SCREEN }).length, 2);
});

Deno.test("diffMarkdown() is a table that no name can break", () => {
  const lines = diffMarkdown(DIFF, SHOW);
  ok(lines[0]!.startsWith("1 broken, "));
  deepStrictEqual(lines.slice(4, 7), [
    "| verdict | case | base, us | new, us | change | why, and what else changed |",
    "| --- | --- | ---: | ---: | ---: | --- |",
    '| **broken** | s e\\|\\<e\\> 16×16×8192 layout0 params0 |  |  |  | ok -\\> crash: a "bad" \\<launch\\> |',
  ]);
  for (const line of lines.slice(4)) {
    strictEqual(line.replaceAll("\\|", "").split("|").length, 8);
  }
});

Deno.test("diffJson() has keys, figures, intervals and causes", () => {
  const { counts, geomeans, rows } = JSON.parse(diffJson(DIFF, SHOW));
  strictEqual(counts.slower, 2);
  strictEqual(geomeans[0].n, 3);
  strictEqual(rows.length, 5);
  const slower = rows[2];
  deepStrictEqual(
    [slower.verdict, slower.fails, slower.key.kernel, slower.new.median_us],
    ["slower", true, "c", 12],
  );
  deepStrictEqual(slower.causes, ["binary changed"]);
  ok(slower.interval_us.low > 1.9 && slower.interval_us.high < 2.1);
});

Deno.test("diffJunit() fails what is failed on and skips what cannot be compared", () => {
  deepStrictEqual(diffJunit(DIFF, { ...SHOW, only: VERDICTS }), [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites tests="6" failures="3">',
    '  <testsuite name="s" tests="6" failures="3" skipped="1">',
    '    <testcase classname="s.e|&lt;e&gt;" name="s e|&lt;e&gt; 16×16×8192 layout0 params0">',
    '      <failure type="broken" message="broken: ok -&gt; crash: a &quot;bad&quot; &lt;launch&gt;"/>',
    "    </testcase>",
    '    <testcase classname="s.d" name="s d 16×16×8192 layout0 params0">',
    '      <skipped message="incomparable: timer do_bench -&gt; graph"/>',
    "    </testcase>",
    '    <testcase classname="s.c" name="s c 16×16×8192 layout0 params0">',
    '      <failure type="slower" message="slower: 98 % interval +1.961 to +2.039 us; binary changed"/>',
    "    </testcase>",
    '    <testcase classname="s.b" name="s b 16×16×8192 layout0 params0">',
    '      <failure type="slower" message="slower: 98 % interval +0.961 to +1.039 us"/>',
    "    </testcase>",
    '    <testcase classname="s.f" name="s f 16×16×8192 layout0 params0"/>',
    '    <testcase classname="s.a" name="s a 16×16×8192 layout0 params0"/>',
    "  </testsuite>",
    "</testsuites>",
  ]);
});
