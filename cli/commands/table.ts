/**
 * `mnkbench table`: shows recorded rows as tables.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { map } from "@optique/core/modifiers";
import { string } from "@optique/core/valueparser";
import type { InferValue } from "@optique/core/parser";
import { EXIT } from "../../bench/model/errors.ts";
import { runsInProgress } from "../../bench/worker/run_folder.ts";
import { LATEST, RUNS } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  axisFlags,
  lists,
  maybe,
  paths,
  preset,
  shown,
  shownCache,
  shownTimer,
  textByName,
  toggle,
  type Words,
} from "../options/flags.ts";
import { name, number, path } from "../options/readers.ts";
import { BASELINE } from "../options/baseline.ts";
import { USUAL } from "../options/usual_paths.ts";
import { logLine, printLine, screenOf } from "../terminal/output.ts";
import { METRICS } from "../../report/table/metrics.ts";
import { leftOut } from "../../report/model/pivot.ts";
import { formatTables, tablesOf, wideText } from "./table/tables.ts";
import { rowLines } from "./table/one_row.ts";
import { tableRows } from "./table/rows.ts";
import { weightsText } from "./table/weights.ts";

/** The options of `table`. */
export type TableOptions = InferValue<ReturnType<typeof tableFlags>>;

/** `mnkbench table`. */
export const command = define({
  name: "table",
  brief: BRIEFS.table,
  examples: [
    "table results/nvidia-h200/epilogue-bf16.csv --metric us,tflops,gbps,sol --top 4 --m 16",
    "table --weights captured.json .runs/latest/nvidia-h200",
  ],
  codes: {
    0: "the tables are printed",
    3: "no row is there, or none is selected",
  },
  flags: tableFlags,
  run: table,
});

/** Declares the options of `table`. */
export function tableFlags(words: Words) {
  const ofKernels = (flag: "--against" | "--kernel", what: string) =>
    lists(flag, { metavar: "NAME", words: words.kernels, what });
  const flags = object("Tables", {
    paths: paths(
      "PATH",
      `CSVs, folders or globs (default: ${USUAL}). Those with rows of the same cases stand side by side.`,
    ),
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: "Suites, or files of your own (default: all in the rows).",
    }),
    kernels: ofKernels(
      "--kernel",
      "Kernels, such as decompose-k or, of a published run, decomposeK@decompose-k-v3 (default: all).",
    ),
    ...axisFlags("Only rows with these values of an axis, as --where."),
    baseline: maybe(
      "--baseline",
      name("NAME", words.kernels),
      BASELINE,
    ),
    against: ofKernels(
      "--against",
      "Count wins against these kernels, each and the fastest of them (default: the baseline).",
    ),
    published: toggle(
      "--published",
      "Add the figures of results/published at the same shapes, marked.",
    ),
    publishedRuns: lists("--run", {
      metavar: "NAME",
      words: [],
      what:
        "Of published rows only those of these runs, such as decompose-k-v3.",
    }),
    row: maybe(
      "--row",
      string({ metavar: "WORDS" }),
      'Show one row in full: the one that all words name, as in --row "cluster-k 16x16x8192 graph".',
    ),
    timer: shownTimer(),
    cache: shownCache(),
    wins: toggle("--wins", "Show only wins, ties and losses."),
    tuning: toggle(
      "--tuning",
      "Show only what the search of a library gains over its heuristic, by class of shapes, and the fastest of ours.",
    ),
    top: maybe(
      "--top",
      number("COUNT", { least: 1 }),
      "Show so many kernels: the baseline, then the fastest of ours and of the peers in turns.",
    ),
    all: toggle(
      "--all",
      "Show every kernel (default: those named by --kernel, else as many as fit the terminal); with --wins name every lost shape.",
    ),
    lines: maybe(
      "--lines",
      number("COUNT"),
      "Show so many shapes, evenly spread. Means are over all.",
    ),
    metrics: lists("--metric", {
      metavar: "NAME",
      words: METRICS,
      what:
        "Figures (default: us): us, tflops, gbps; sol, the share of the speed of light; score, the SOL score against the fastest of --against (default: baseline and PyTorch); speedup over the baseline. Of several, each is a column.",
    }),
    weights: maybe(
      "--weights",
      path("FILE"),
      "Show only what the program of this captured.json spends its time on, and what the fastest kernel of these rows saves of it.",
    ),
    format: preset(
      "--format",
      shown(["text", "md", "csv", "json", "decompose-k"]),
      "Output format; decompose-k has the columns of that project's measurements.",
      "text",
    ),
  });
  return map(flags, ({ m, n, k, axis, where, ...rest }) => ({
    ...rest,
    point: textByName([...axis, ...m, ...n, ...k, ...where]),
  }));
}

async function table(options: TableOptions): Promise<number> {
  for (const { info, folder } of runsInProgress(RUNS)) {
    logLine(
      `A run is in progress, \`${
        info.command.join(" ")
      }\`: its rows are in ${folder} and come to ${
        info.out ?? LATEST
      } when it ends`,
    );
  }
  const chosen = await tableRows(options);
  const { rows, sides, own } = chosen;
  if (options.weights !== undefined) {
    printLine(weightsText(rows, options, screenOf(Deno.stdout)));
    return EXIT.ok;
  }
  if (options.format === "decompose-k") {
    printLine(wideText(rows));
    return EXIT.ok;
  }
  const tables = tablesOf(chosen, options);
  const left = leftOut(rows, tables).length;
  if (left > 0) {
    logLine(
      sides.length > 0
        ? `${left} rows are of suites that only one set has, and are not shown`
        : `${left} published rows are at other shapes and are not shown; name only their files to see them`,
    );
  }
  for (const { suite, contenders, baseline } of tables) {
    if (
      options.wins || options.tuning ||
      options.metrics.length + sides.length > 0
    ) break;
    if (options.row !== undefined) break;
    if (baseline !== undefined || contenders.length < 2) continue;
    logLine(
      `${suite} has no baseline here: --baseline NAME, such as ${
        contenders[0]!.name
      }, gives speed-ups`,
    );
  }
  if (options.row !== undefined) {
    for (const line of rowLines(tables, options.row)) printLine(line);
    return EXIT.ok;
  }
  const { top, kernels } = options;
  const all = options.all || top !== undefined || kernels.length > 0;
  const allLosses = options.all;
  printLine(
    formatTables(
      tables,
      { ...options, sides, own, all, allLosses },
      screenOf(Deno.stdout),
    ),
  );
  return EXIT.ok;
}

/** Returns what `table` prints for `options` into a file. */
export async function tableText(options: TableOptions): Promise<string> {
  const chosen = await tableRows(options);
  const screen = { width: Infinity, color: false };
  if (options.weights !== undefined) {
    return weightsText(chosen.rows, options, screen);
  }
  const tables = tablesOf(chosen, options);
  const { sides, own } = chosen;
  return formatTables(
    tables,
    { ...options, sides, own, allLosses: options.all },
    screen,
  );
}
