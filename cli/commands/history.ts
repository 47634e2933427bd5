/**
 * `mnkbench history`: keeps runs in one file, and shows where times changed.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { aligned, counted } from "../../bench/files/terminal_text.ts";
import { refuseOther, replaceFile } from "../../bench/files/replace.ts";
import { PAGE } from "../../report/page/html.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { formatMicroseconds } from "../../report/table/metrics.ts";
import { formatChange } from "../../report/diff/diff.ts";
import {
  caseHistories,
  type CaseHistory,
  changeOf,
  driftOf,
  type HistoryRun,
  nameOf,
  pointHistories,
  type PointHistory,
} from "../../report/history/case_history.ts";
import { LEAST_TO_CHANGE } from "../../report/history/levels.ts";
import { HISTORY, History } from "../../session/history.ts";
import { typed } from "../../session/home.ts";
import { namedSuites } from "../../session/library/suite_text.ts";
import { checkSamples, csvFiles, readRows } from "../../session/read_rows.ts";
import { BRIEFS, type Command, define } from "../command.ts";
import {
  paths,
  preset,
  rowFlags,
  toggle,
  type Words,
} from "../options/flags.ts";
import {
  isNamed,
  noRow,
  refuseAxes,
  refuseUnknown,
  type RowNames,
} from "../options/named_rows.ts";
import { path } from "../options/readers.ts";
import { USUAL, usualPaths } from "../options/usual_paths.ts";
import { logLine, printLine } from "../terminal/output.ts";

const file = () =>
  preset("--history", path("FILE"), "The file of all runs.", HISTORY);

const parts: readonly Command[] = [
  define({
    name: "history add",
    brief: "Add the rows of runs to the history.",
    examples: [
      "history add results/nvidia-h200",
      "history add nightly/*/nvidia-h200 --history h200.sqlite",
    ],
    codes: { 0: "the rows are there", 3: "no row of a run is there" },
    flags: () =>
      object("Adding", {
        paths: paths("PATH", `CSVs, folders or globs (default: ${USUAL}).`),
        history: file(),
      }),
    run: add,
  }),
  define({
    name: "history show",
    brief: "Show the cases whose time changed, and since which run.",
    examples: ["history show", "history show --suite epilogue-bf16 --all"],
    codes: {
      0: "the cases are shown",
      3: "no row is there, or none is chosen",
    },
    flags: showFlags,
    run: show,
  }),
  define({
    name: "history page",
    brief: "Make one HTML page with a line for each case over the runs.",
    examples: [
      "history page",
      "history page --suite epilogue-bf16 --out epilogue.html",
    ],
    codes: {
      0: "the page is written",
      3: "no row is there, or none is chosen",
    },
    flags: pageFlags,
    run: page,
  }),
];

/** `mnkbench history`. */
export const command = define({
  name: "history",
  brief: BRIEFS.history,
  examples: ["history add results/nvidia-h200", "history show"],
  codes: { 0: "the cases are shown", 3: "no row is there, or none is chosen" },
  flags: showFlags,
  run: show,
  parts,
});

function showFlags(words: Words) {
  return merge(
    rowFlags(words, "history"),
    object("History", {
      history: file(),
      all: toggle("--all", "Show the cases whose time did not change, too."),
    }),
  );
}

function pageFlags(words: Words) {
  return merge(
    rowFlags(words, "history"),
    object("Page", {
      history: file(),
      out: preset("--out", path("FILE"), "The page.", "history.html"),
    }),
  );
}

/** The chosen cases of a history. */
type Choice = RowNames & { readonly history: string };

async function add(
  { paths, history }: { paths: readonly string[]; history: string },
): Promise<number> {
  const from = usualPaths(paths);
  // One by one: the runs of several files are of the same cases.
  const sets: (readonly CsvRow[])[] = [];
  for (const one of await csvFiles(from)) {
    const found = await readRows([one]);
    await checkSamples(found);
    sets.push(found.map(({ row }) => row));
  }
  using open = History.open(history, { make: true });
  const { fresh, replaced } = open.add(sets.flat());
  const again = replaced === 0 ? "" : ` (${replaced} were there)`;
  logLine(
    `${history}: ${counted(fresh, "new row")}${again}, ${
      counted(open.runs().length, "run")
    } in all`,
  );
  if (fresh + replaced > 0) return EXIT.ok;
  throw new UserError(
    `No row of a run is in ${from.join(", ")}: measure some with \`${
      typed("bench")
    }\``,
    EXIT.nothing,
  );
}

/** The chosen cases of a suite. */
interface SuiteHistory {
  readonly suite: string;
  readonly cases: readonly CaseHistory[];
  readonly points: readonly PointHistory[];
}

function suiteHistories(
  history: History,
  runs: readonly HistoryRun[],
  choice: Choice,
): readonly SuiteHistory[] {
  const known = history.suites();
  if (known.length === 0) {
    throw new UserError(
      `${choice.history} is empty: add runs with \`history add\``,
      EXIT.nothing,
    );
  }
  const { suites: chosen } = namedSuites(
    choice.suites,
    new Set(known),
    logLine,
  );
  refuseUnknown("suite", chosen, known);
  const names = chosen.length > 0 ? chosen : known;
  const named = { ...choice, suites: chosen };
  const all = names.map((suite) => ({ suite, series: history.series(suite) }));
  const rows = all.flatMap(({ series }) => series.map(({ row }) => row));
  refuseUnknown("kernel", choice.kernels, rows.map(({ kernel }) => kernel));
  refuseAxes(rows, choice.point);
  const suites = all.map(({ suite, series }): SuiteHistory => {
    const cases = caseHistories(
      series.filter(({ row }) => isNamed(row, named)),
    );
    return { suite, cases, points: pointHistories(cases, runs) };
  }).filter(({ cases }) => cases.length > 0);
  if (suites.length > 0) return suites;
  if (rows.some((row) => isNamed(row, named))) {
    throw new UserError(
      `Each chosen case in ${choice.history} was unsupported in all runs: add runs of other kernels or devices with \`history add\``,
      EXIT.nothing,
    );
  }
  throw noRow(
    rows.filter((row) => isNamed(row, { ...named, point: {} })),
    named,
  );
}

function show(options: InferValue<ReturnType<typeof showFlags>>): number {
  using history = History.open(options.history);
  const runs = history.runs();
  const byId = new Map(runs.map((run) => [run.id, run]));
  for (const { suite, cases } of suiteHistories(history, runs, options)) {
    const own = new Set(
      cases.flatMap(({ timed }) => timed.map((t) => t.run)),
    );
    printLine(
      `${suite}: ${counted(own.size, "run")}, ${counted(cases.length, "case")}`,
    );
    const shown = cases.filter((one) =>
      options.all || changeOf(one) !== undefined || one.last !== "ok"
    );
    for (const line of linesOf(shown, byId)) printLine(`  ${line}`);
    const rest = cases.filter((one) => !shown.includes(one));
    const short = rest.filter(isShort).length;
    if (short < rest.length) {
      printLine(
        `  ${
          counted(rest.length - short, "case")
        } whose time did not change; --all lists them`,
      );
    }
    if (short > 0) {
      printLine(
        `  ${
          counted(short, "case")
        } timed in fewer than ${LEAST_TO_CHANGE} runs, too few to find a change; --all lists them`,
      );
    }
  }
  return EXIT.ok;
}

/** Whether a change could not be found, however great it is. */
function isShort({ timed }: CaseHistory): boolean {
  return timed.length < LEAST_TO_CHANGE;
}

function linesOf(
  cases: readonly CaseHistory[],
  runs: ReadonlyMap<number, HistoryRun>,
): readonly string[] {
  return aligned(cases.map((one) => {
    const { row, label, timed, levels, last } = one;
    const name = `${row.kernel} ${label}`;
    const now = levels.at(-1);
    if (now === undefined) return [name, last, ""];
    const change = changeOf(one);
    const drift = driftOf(one);
    const since = timed[now.from]!;
    return [
      name,
      `${formatMicroseconds(now.center)} µs`,
      [
        change !== undefined
          ? formatChange(change)
          : isShort(one)
          ? "too few runs to find a change"
          : "no change",
        `since ${nameOf(runs.get(since.run)!, since.source)}${
          drift === undefined
            ? ""
            : `; ${formatChange(drift)} since its first run`
        }`,
        ...(last === "ok" ? [] : [`${last} in its last run`]),
      ].join(", "),
    ];
  }));
}

async function page(
  options: InferValue<ReturnType<typeof pageFlags>>,
): Promise<number> {
  using history = History.open(options.history);
  refuseOther(options.out, PAGE);
  const runs = history.runs();
  const suites = suiteHistories(history, runs, options);
  const { formatHistory } = await import("../../report/history/page.ts");
  const html = formatHistory({ suites, runs, source: options.history });
  replaceFile(options.out, html);
  const megabytes = (new TextEncoder().encode(html).length / 1e6).toFixed(2);
  logLine(`${options.out}: ${megabytes} MB, needs nothing else to be read`);
  return EXIT.ok;
}
