import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertMatch,
} from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { inBrowser } from "../page/testdata/browser.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { centerOf } from "./levels.ts";
import { formatHistory } from "./page.ts";
import {
  caseHistories,
  changeOf,
  driftOf,
  type HistorySeries,
  nameOf,
  pointHistories,
} from "./case_history.ts";

const RUNS = Array.from({ length: 20 }, (_, id) => ({
  id,
  time: `2026-01-${10 + id}T00:00:00Z`,
  commit: `c${id}`,
  dirty: "false",
}));

/** A series of `kernel` whose time is `from` until run 12 and then `to`. */
function series(kernel: string, from: number, to = from): HistorySeries {
  return {
    row: csvRow({ kernel, m: "16", n: "16", k: "8192" }),
    points: RUNS.map(({ id }) => ({
      run: id,
      status: "ok",
      source: "",
      median_us: (id < 12 ? from : to) * (1 + 0.001 * (id % 3)),
    })),
  };
}

Deno.test("caseHistories() finds the change of each case, and leaves out what never ran", () => {
  const never: HistorySeries = {
    row: csvRow({ kernel: "never" }),
    points: [{ run: 0, status: "unsupported", source: "" }],
  };
  const cases = caseHistories([series("a", 8, 6), series("b", 7), never]);
  assertEquals(cases.map(({ row }) => row.kernel), ["a", "b"]);
  assertAlmostEquals(changeOf(cases[0]!)!, -0.25, 0.01);
  assertEquals(cases[0]!.levels.map(({ from }) => from), [0, 12]);
  assertEquals(changeOf(cases[1]!), undefined);
});

Deno.test("driftOf() is the change since the first level where there are more than two", () => {
  const drifting: HistorySeries = {
    ...series("a", 8),
    points: RUNS.map(({ id }) => ({
      run: id,
      status: "ok",
      source: "",
      median_us: 8 * 1.01 ** id,
    })),
  };
  const [once, slow] = caseHistories([series("a", 8, 6), drifting]);
  assertEquals([once!.levels.length, driftOf(once!)], [2, undefined]);
  assert(slow!.levels.length > 2);
  assert(driftOf(slow!)! > 2 * changeOf(slow!)!);
  // 1.01¹⁹ is 1.21, less half of the first and of the last level.
  assertAlmostEquals(driftOf(slow!)!, 0.17, 0.02);
});

Deno.test("nameOf() names the commit of the user's repository before that of mnkbench", () => {
  const [run] = RUNS;
  assertEquals(
    [
      nameOf(run!, ""),
      nameOf({ ...run!, dirty: "true" }, "0123456789ab"),
      nameOf(run!, "0123456789ab+"),
    ],
    [
      "the run of 2026-01-10 00:00 UTC by mnkbench c0",
      "the run of 2026-01-10 00:00 UTC at 0123456789ab, by mnkbench c0 with changes",
      "the run of 2026-01-10 00:00 UTC at 0123456789ab with changes, by mnkbench c0",
    ],
  );
});

Deno.test("pointHistories() says who is the fastest at a point since when", () => {
  const cases = caseHistories([series("a", 8, 6), series("b", 7)]);
  const [point, ...more] = pointHistories(cases, RUNS);
  assertEquals(more, []);
  assertEquals(point!.leaders, [
    { kernel: "b", run: 0, source: "" },
    { kernel: "a", run: 12, source: "" },
  ]);
});

Deno.test("formatHistory() draws a line for each case and marks its changes", () => {
  const cases = caseHistories([series("a<b", 8, 6), series("b", 7)]);
  const points = pointHistories(cases, RUNS);
  const html = formatHistory({
    runs: RUNS,
    source: "h.sqlite",
    suites: [{ suite: "suite", points }],
  });
  assertEquals([...html.matchAll(/<polyline/g)].length, 2);
  assertEquals([...html.matchAll(/<line /g)].length, 1);
  assertMatch(
    html,
    /fastest is a&lt;b since the run of 2026-01-22 00:00 UTC by mnkbench c12, before that b/,
  );
  assertMatch(html, /<tr data-kernel="a&lt;b" data-change="faster"/);
  // Nothing but its own style and script may run.
  assertMatch(
    html,
    /default-src 'none'; img-src data:; style-src 'sha256-.*'; script-src 'sha256-/,
  );
});

Deno.test("centerOf() is the median of the last level, with the spread of its runs", () => {
  const row = (median_us: number, more: Partial<CsvRow> = {}) =>
    csvRow({ median_us: `${median_us}`, ...more });
  const newest = [6.2, 6.1, 6, 6.1, 8, 8, 8.1, 8].map((us) => row(us));
  const center = centerOf(newest)!;
  assertEquals([center.median_us, center.runs], ["6.1", "4"]);
  assertAlmostEquals(Number(center.between_run_us), 0.082, 0.001);
  // One that failed hides no slow-down behind the others.
  const broken = row(6, { status: "wrong" });
  assertEquals(centerOf([broken, ...newest]), center);
  assertEquals(centerOf([broken]), broken);
  assertEquals(centerOf([]), undefined);
});

inBrowser("shows what its filters leave", async (browser, complaints) => {
  const cases = caseHistories([series("a", 8, 6), series("b", 7)]);
  const points = pointHistories(cases, RUNS);
  const html = formatHistory({
    runs: RUNS,
    source: "h.sqlite",
    suites: [{ suite: "one", points }, { suite: "two", points }],
  });
  const look = { width: 1000, height: 800 };
  const opened = await browser.openFile("history.html", html, look);
  const { page } = opened;
  const shown = () => page.locator("tbody tr:visible").count();
  const said = () => page.locator("output").innerText();
  assertEquals([await shown(), await said()], [4, "4 cases"]);
  await page.selectOption("select[name=suite]", "two");
  assertEquals([await shown(), await said()], [2, "2 cases"]);
  await page.check("input[name=change]");
  assertEquals([await shown(), await said()], [1, "1 case"]);
  await page.fill("input[name=text]", "32×32");
  assertEquals([await shown(), await said()], [0, "0 cases"]);
  complaints.push(...opened.complaints, ...opened.requests);
}, "formatHistory()");
