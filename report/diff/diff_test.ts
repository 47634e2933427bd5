import { assert, assertEquals } from "@std/assert";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import { folded, summarizeDiff } from "./diff.ts";
import { diffJson, diffJunit } from "./machine.ts";
import { diffMarkdown, diffText } from "./text.ts";
import { intervalOf } from "./interval.ts";
import { join } from "./join.ts";
import { placed } from "../testdata/csv_rows.ts";
import { thresholdsOf } from "./thresholds.ts";
import { judge, type Verdict, VERDICTS } from "./verdict.ts";

const DEFAULT_THRESHOLD = thresholdsOf()("s");

const FAIL_ON: readonly Verdict[] = ["slower", "missing", "broken"];
const SHOWN = VERDICTS.filter((verdict) => verdict !== "same");
const SHOW = { only: SHOWN, failOn: FAIL_ON, fold: true };
const SCREEN = { color: false, width: 120 };

const diffOf = (base: readonly SourcedRow[], next: readonly SourcedRow[]) =>
  summarizeDiff(
    join(base, next).map((pair) =>
      judge(pair, { threshold: DEFAULT_THRESHOLD, interval: intervalOf })
    ),
  );
const DIFF = diffOf(
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
);

Deno.test("summarizeDiff() puts the worst first and counts every verdict", () => {
  assertEquals(
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
  assertEquals(DIFF.counts, {
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
  assertEquals(more, []);
  assertEquals([mean!.n, mean!.of], [3, 6]);
  assert(Math.abs(mean!.change! - (Math.cbrt(1 * 1.1 * 1.2) - 1)) < 1e-12);
  const none = summarizeDiff([{
    pair: { next: placed() },
    verdict: "new",
    why: "",
  }]);
  assertEquals(none.means[0]!.change, undefined);
});

Deno.test("summarizeDiff() has no mean of a suite that one side lacks", () => {
  const suites = ({ means }: ReturnType<typeof diffOf>) =>
    means.map(({ suite }) => suite);
  const [a, b, c] = ["a", "b", "c"].map((suite) => placed({ suite }));
  assertEquals(suites(diffOf([a!, b!], [a!, c!])), ["a", ""]);
  assertEquals(suites(diffOf([], [a!])), ["a"]);
  assertEquals(suites(diffOf([a!], [b!])), [""]);
});

Deno.test("diffText() lists what is worst with its cause, the means and the counts", () => {
  assertEquals(diffText(DIFF, { ...SHOW, ...SCREEN, width: 100 }), [
    "broken        s e|<e> 16×16×8192 nn f32 param=0",
    '    ok -> crash: a "bad" <launch>',
    "incomparable  s d 16×16×8192 nn f32 param=0 by graph",
    "    timer do_bench -> graph",
    "slower        s c 16×16×8192 nn f32 param=0           10.00 -> 12.00 µs  +20.0 %",
    "    98 % interval +1.961 to +2.039 µs; binary changed",
    "slower        s b 16×16×8192 nn f32 param=0           10.00 -> 11.00 µs  +10.0 %",
    "    98 % interval +0.961 to +1.039 µs",
    "new           s f 16×16×8192 nn f32 param=0",
    "",
    "s: geomean +9.7 % in time, over the 3 of 6 cases timed and comparable in both",
    "1 broken, 0 less-accurate, 0 missing, 1 incomparable, 2 slower, 0 suspect, 0 unclear, 1 new, 0 fixed, 0 faster, 1 same",
  ]);
});

Deno.test("diffText() wraps reasons to the width, and not where there is room", () => {
  const show = { ...SHOW, only: ["broken", "slower"] as const, color: false };
  const narrow = diffText(DIFF, { ...show, width: 40 });
  assertEquals(narrow.slice(1, 3), [
    '    ok -> crash: a "bad" <launch>',
    "slower  s c 16×16×8192 nn f32 param=0      10.00 -> 12.00 µs  +20.0 %",
  ]);
  assertEquals(narrow.slice(3, 5), [
    "    98 % interval +1.961 to +2.039 µs;",
    "    binary changed",
  ]);
  const [, wide] = diffText(DIFF, { ...show, width: 200 });
  assert(wide!.endsWith("  98 % interval +1.961 to +2.039 µs; binary changed"));
});

Deno.test("diffText() prints the counts also where nothing is listed", () => {
  assertEquals(diffText(DIFF, { ...SHOW, only: [], ...SCREEN }).length, 2);
});

Deno.test("diffMarkdown() is a table that no name can break", () => {
  const lines = diffMarkdown(DIFF, SHOW);
  assert(lines[0]!.startsWith("1 broken, "));
  assertEquals(lines.slice(4, 7), [
    "| verdict | case | base, µs | new, µs | change | why, and what else changed |",
    "| --- | --- | ---: | ---: | ---: | --- |",
    '| **broken** | s e\\|\\<e> 16×16×8192 nn f32 param=0 |  |  |  | ok -> crash: a "bad" \\<launch> |',
  ]);
  for (const line of lines.slice(4)) {
    assertEquals(line.replaceAll("\\|", "").split("|").length, 8);
  }
});

Deno.test("diffJson() has keys, figures, intervals and causes", () => {
  const { counts, geomeans, rows } = JSON.parse(diffJson(DIFF, SHOW));
  assertEquals(counts.slower, 2);
  assertEquals(geomeans[0].n, 3);
  assertEquals(rows.length, 5);
  const slower = rows[2];
  assertEquals(
    [slower.verdict, slower.fails, slower.key.kernel, slower.new.median_us],
    ["slower", true, "c", 12],
  );
  assertEquals(slower.causes, ["binary changed"]);
  assert(slower.interval_us.low > 1.9 && slower.interval_us.high < 2.1);
});

Deno.test("diffJunit() fails what is failed on and skips what cannot be compared", () => {
  assertEquals(diffJunit(DIFF, { ...SHOW, only: VERDICTS }), [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites tests="6" failures="3" time="0.0000530000">',
    '  <testsuite name="s" tests="6" failures="3" skipped="1" time="0.0000530000">',
    '    <testcase classname="s.e|&lt;e&gt;" name="s e|&lt;e&gt; 16×16×8192 nn f32 param=0" time="0.0000000000">',
    '      <failure type="broken" message="broken: ok -&gt; crash: a &quot;bad&quot; &lt;launch&gt;"/>',
    "    </testcase>",
    '    <testcase classname="s.d" name="s d 16×16×8192 nn f32 param=0 by graph" time="0.0000100000">',
    '      <skipped message="incomparable: timer do_bench -&gt; graph"/>',
    "    </testcase>",
    '    <testcase classname="s.c" name="s c 16×16×8192 nn f32 param=0" time="0.0000120000">',
    '      <failure type="slower" message="slower: 98 % interval +1.961 to +2.039 µs; binary changed"/>',
    "    </testcase>",
    '    <testcase classname="s.b" name="s b 16×16×8192 nn f32 param=0" time="0.0000110000">',
    '      <failure type="slower" message="slower: 98 % interval +0.961 to +1.039 µs"/>',
    "    </testcase>",
    '    <testcase classname="s.f" name="s f 16×16×8192 nn f32 param=0" time="0.0000100000"/>',
    '    <testcase classname="s.a" name="s a 16×16×8192 nn f32 param=0" time="0.0000100000"/>',
    "  </testsuite>",
    "</testsuites>",
  ]);
});

const ALL = { only: SHOWN, failOn: [], fold: true };
const CPU = { device: "CPU" };
const PARTIAL = diffOf([
  placed({ kernel: "a" }),
  placed({ kernel: "b" }),
  placed({ kernel: "a", suite: "other" }),
  placed({ kernel: "b", suite: "other" }),
  placed({ kernel: "cpu", ...CPU }),
  placed({ kernel: "never", status: "unsupported", median_us: "" }),
  placed({ kernel: "never", ...CPU, status: "unsupported", median_us: "" }),
], [placed({ kernel: "a" })]);

Deno.test("folded() has a line for each suite on a device that NEW lacks, and counts all", () => {
  const { rows, missing } = folded(PARTIAL, ALL);
  const { device } = placed().row;
  assertEquals(missing, [
    `2 missing in other on ${device}: no row of it in NEW`,
    "1 missing in s on CPU: no row of it in NEW",
  ]);
  assertEquals(rows.map(({ pair }) => pair.base!.row.kernel), ["b"]);
  assertEquals(PARTIAL.counts.missing, 4);
});

Deno.test("folded() keeps every row where it is not to fold, and lists what is asked for", () => {
  const all = folded(PARTIAL, { ...ALL, fold: false });
  assertEquals([all.rows.length, all.missing.length], [4, 0]);
  const none = folded(PARTIAL, { ...ALL, only: ["slower"] });
  assertEquals(none, { rows: [], missing: [], added: [] });
});

Deno.test("folded() has a line for each kernel that BASE lacks, and lists other new rows", () => {
  const at = (kernel: string, ...sizes: string[]) =>
    sizes.map((k) => placed({ kernel, k }));
  const diff = diffOf(at("old", "1", "2"), [
    ...at("old", "1", "2", "3", "4"),
    ...at("added", "1", "2"),
    ...at("one", "1"),
  ]);
  const { rows, added } = folded(diff, ALL);
  const { device } = placed().row;
  assertEquals(added, [
    `2 new of added in s on ${device}: no row of it in BASE`,
  ]);
  assertEquals(rows.map(({ pair }) => pair.next!.row.kernel), [
    ...["old", "old", "one"],
  ]);
  assert(
    diffText(diff, { ...ALL, ...SCREEN }).includes(added[0]!) &&
      diffMarkdown(diff, ALL).includes(`- ${added[0]}`),
  );
});

Deno.test("diffText() and diffMarkdown() fold, diffJson() has every row", () => {
  const text = diffText(PARTIAL, { ...ALL, color: false, width: 120 });
  assertEquals(text.filter((line) => line.includes("no row of it")).length, 2);
  assertEquals(text.filter((line) => line.startsWith("missing ")).length, 1);
  assert(
    diffMarkdown(PARTIAL, ALL).includes(
      "- 1 missing in s on CPU: no row of it in NEW",
    ),
  );
  assertEquals(JSON.parse(diffJson(PARTIAL, ALL)).rows.length, 4);
});

Deno.test("summarizeDiff() does not miss what BASE could not run", () => {
  const never = PARTIAL.judged.filter(({ pair }) =>
    pair.base?.row.kernel === "never"
  );
  assertEquals(
    never.map(({ verdict }) => verdict),
    ["same", "same"],
  );
  const crashed = diffOf([placed({ status: "crash", median_us: "" })], []);
  assertEquals(crashed.counts.missing, 1);
});

Deno.test("summarizeDiff() leaves what is above SOL out of means, whatever its verdict", () => {
  const sol = { sol_us: "8" };
  const { counts, means: [mean] } = diffOf([
    placed({ kernel: "a" }),
    placed({ kernel: "new", ...sol }),
    placed({ kernel: "base", median_us: "5", ...sol }),
    placed({ kernel: "hidden", rel_l2_err: "0.001", ...sol }),
    placed({ kernel: "warm", cache: "warm", ...sol }),
  ], [
    placed({ kernel: "a", median_us: "11" }),
    placed({ kernel: "new", median_us: "5", ...sol }),
    placed({ kernel: "base", ...sol }),
    placed({ kernel: "hidden", rel_l2_err: "1", median_us: "5", ...sol }),
    placed({ kernel: "warm", cache: "warm", median_us: "5", ...sol }),
  ]);
  assertEquals([counts.suspect, counts["less-accurate"]], [2, 1]);
  assertEquals([mean!.n, mean!.suspect, mean!.of], [2, 3, 5]);
  assert(Math.abs(mean!.change! - (Math.sqrt(1.1 * 0.5) - 1)) < 1e-12);
});
