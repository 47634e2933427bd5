/**
 * `mnkbench table`: shows recorded rows as tables.
 *
 * @module
 */

import { shownJson } from "../../bench/files/json_file.ts";
import { merge, object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { BRIEFS, define } from "../command.ts";
import {
  lists,
  maybe,
  paths,
  preset,
  shown,
  shownCache,
  shownTimer,
  toggle,
  type Words,
} from "../options/flags.ts";
import { name, number, path, reader } from "../options/readers.ts";
import { USUAL } from "../options/usual_paths.ts";
import { say, screenOf, tell } from "../terminal/output.ts";
import {
  amdahl,
  limitNote,
  wholeSheet,
  wholeSpeedups,
} from "../../report/table/amdahl.ts";
import { METRICS } from "../../report/table/metrics.ts";
import { formatMarkdown, formatText } from "../../report/table/sheet.ts";
import { leftOut, type Pivot, pivots } from "../../report/model/pivot.ts";
import {
  baselinesOf,
  formatTables,
  tableRows,
  tablesOf,
  USUAL_BASELINES,
  wide,
} from "./table/tables.ts";

/** The options of `table`. */
export type TableOptions = InferValue<ReturnType<typeof tableFlags>>;

/** `mnkbench table`. */
export const command = define({
  name: "table",
  brief: BRIEFS.table,
  examples: [
    "table results/nvidia-h200/epilogue-bf16.csv --wins",
    "table --weights results/nvidia-h200 --gemm-fraction 0.85 --kernel decompose-k",
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
  return merge(
    object("Tables", {
      paths: paths("PATH", `CSVs, folders or globs (default: ${USUAL}).`),
      suites: lists("--suite", {
        metavar: "NAME",
        words: words.suites,
        what: "Suites, or files of your own (default: all in the rows).",
      }),
      kernels: ofKernels(
        "--kernel",
        "Kernels, such as decompose-k or, of a published run, decomposeK@decompose-k-v3 (default: all).",
      ),
      baseline: maybe(
        "--baseline",
        name("NAME", words.kernels),
        `Kernel that speed-ups are relative to (default: the suite's, or of a suite of your own the first of ${
          USUAL_BASELINES.join(", ")
        }).`,
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
      timer: shownTimer(),
      cache: shownCache(),
      wins: toggle("--wins", "Show only wins, ties and losses."),
      top: maybe(
        "--top",
        number("COUNT", { least: 1 }),
        "Show so many kernels: the baseline, then the fastest of ours and of the peers in turns.",
      ),
      all: toggle(
        "--all",
        "Show every kernel (default: those named by --kernel, else as many as fit the terminal).",
      ),
      metrics: lists("--metric", {
        metavar: "NAME",
        words: METRICS,
        what:
          "Instead of times: sol, the share of the speed of light; score, the SOL score against the fastest of --against (default: baseline and PyTorch).",
      }),
      format: preset(
        "--format",
        shown(["text", "md", "csv", "json"]),
        "Output format.",
        "text",
      ),
      wide: toggle(
        "--wide",
        "Use the columns of the decompose-k measurements.",
      ),
      out: maybe(
        "--out",
        path("DIR"),
        "With --wide: folder of one file for each suite.",
      ),
    }),
    object("End to end", {
      weights: toggle(
        "--weights",
        "Show what speed-ups of GEMMs make of the whole program.",
      ),
      gemmFraction: maybe(
        "--gemm-fraction",
        share(),
        "With --weights: share of the run time in GEMMs, such as 0.85.",
      ),
      speedup: maybe(
        "--speedup",
        speedups(),
        "With --weights: speed-ups to use instead of rows.",
      ),
    }),
  );
}

/** Reads a share, from 0 to 1. */
function share() {
  return reader({
    metavar: "SHARE",
    placeholder: 0.85,
    read(input) {
      const value = input.trim() === "" ? NaN : Number(input);
      if (value >= 0 && value <= 1) return value;
      throw new UserError(
        `${input || "nothing"} is no share: give 0 to 1, as in 0.85`,
      );
    },
  });
}

/** Reads speed-ups, as in 1.05,1.3. */
function speedups() {
  return reader({
    metavar: "FACTORS",
    placeholder: [1] as readonly number[],
    read: (input) =>
      input.split(",").map((part) => {
        const value = part.trim() === "" ? NaN : Number(part);
        if (value > 0 && Number.isFinite(value)) return value;
        throw new UserError(
          `${
            part || "nothing"
          } is no speed-up: give factors above 0, as in 1.05,1.3`,
        );
      }),
  });
}

async function table(options: TableOptions): Promise<number> {
  if (options.weights) return await weighted(options);
  const { gemmFraction, speedup } = options;
  refuseWithout("--weights", {
    "--gemm-fraction": gemmFraction !== undefined,
    "--speedup": speedup !== undefined,
  });
  if (options.out !== undefined && !options.wide) {
    throw new UserError("--out is for --wide: add it, or leave out --out");
  }
  const rows = await tableRows(options);
  if (options.wide) return wide(rows, options.out);
  const tables = tablesOf(rows, options);
  const left = leftOut(rows, tables).length;
  if (left > 0) {
    tell(
      `${left} published rows are at other shapes and are not shown; name only their files to see them`,
    );
  }
  const showsTimes = !options.wins && options.metrics.length === 0;
  for (const { suite, contenders, baseline } of showsTimes ? tables : []) {
    if (baseline !== undefined || contenders.length < 2) continue;
    tell(
      `${suite} has no baseline here: --baseline NAME, such as ${
        contenders[0]!.name
      }, gives speed-ups`,
    );
  }
  const { top, kernels } = options;
  const all = options.all || top !== undefined || kernels.length > 0;
  say(formatTables(tables, { ...options, all }, screenOf(Deno.stdout)));
  return EXIT.ok;
}

/** Returns what `table` prints for `options` into a file. */
export async function tableText(options: TableOptions): Promise<string> {
  const tables = tablesOf(await tableRows(options), options);
  return formatTables(tables, options, { width: Infinity, color: false });
}

async function weighted(options: TableOptions): Promise<number> {
  const { gemmFraction, against, published, publishedRuns, format } = options;
  const meaningless = Object.entries({
    "--against": against.length > 0,
    "--published": published,
    "--run": publishedRuns.length > 0,
    "--wins": options.wins,
    "--metric": options.metrics.length > 0,
    "--wide": options.wide,
    "--out": options.out !== undefined,
    "--format csv": format === "csv",
  }).filter(([, given]) => given).map(([name]) => name);
  if (meaningless.length > 0 || format === "csv") {
    throw new UserError(
      `--weights does not take ${meaningless.join(", ")}: leave ${
        meaningless.length === 1 ? "it" : "them"
      } out`,
    );
  }
  if (gemmFraction === undefined) {
    throw new UserError(
      "--weights needs the share of the run time that is in GEMMs: give --gemm-fraction, as in --gemm-fraction 0.85",
    );
  }
  return await weights({ ...options, gemmFraction, format });
}

function refuseWithout(
  needed: string,
  given: Readonly<Record<string, boolean>>,
): void {
  const [stray] = Object.keys(given).filter((name) => given[name]);
  if (stray === undefined) return;
  throw new UserError(
    `${stray} is for ${needed}: add it, or leave out ${stray}`,
  );
}

/** The share of GEMMs, and the source of their speed-ups. */
export interface Weighting {
  readonly paths: readonly string[];
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  readonly timer: string | undefined;
  readonly cache: string | undefined;
  readonly gemmFraction: number;
  readonly speedup: readonly number[] | undefined;
  readonly format: "text" | "md" | "json";
}

/** Prints end-to-end speed-ups. @returns The exit code. */
export async function weights(options: Weighting): Promise<number> {
  const { speedup, paths, gemmFraction, format } = options;
  if (speedup && paths.length > 0) {
    throw new UserError(
      "Cannot take speed-ups from both --speedup and files: leave out one of them",
    );
  }
  if (speedup) {
    for (const s of speedup) {
      const end_to_end = amdahl(gemmFraction, s);
      say(
        format === "json"
          ? shownJson({ speedup: s, end_to_end })
          : `${s}x in GEMMs: ${end_to_end.toFixed(4)}x the whole`,
      );
    }
    if (format !== "json") say(limitNote(gemmFraction));
    return EXIT.ok;
  }
  const { baseline, suites, kernels } = options;
  const rows = await tableRows({
    paths,
    suites,
    kernels: [],
    baseline,
    // Not a filter: the baseline is needed too.
    against: kernels,
    published: false,
    publishedRuns: [],
    timer: options.timer,
    cache: options.cache,
  });
  const tables = pivots(rows, {
    baselines: (suite) =>
      baseline === undefined ? baselinesOf(suite) : [baseline],
  }).map((table) => only(table, kernels))
    .filter((table) => wholeSpeedups(table, gemmFraction).length > 0);
  if (tables.length === 0) {
    throw new UserError(
      "No row has a baseline beside it: name a kernel with --baseline",
      EXIT.nothing,
    );
  }
  for (const [i, table] of tables.entries()) {
    if (format === "json") {
      for (const one of wholeSpeedups(table, gemmFraction)) {
        say(shownJson(one));
      }
      continue;
    }
    if (i > 0) say("");
    const sheet = wholeSheet(table, gemmFraction);
    const lines = format === "md"
      ? formatMarkdown(sheet)
      : formatText(sheet, screenOf(Deno.stdout));
    for (const line of lines) say(line);
  }
  return EXIT.ok;
}

/** Returns `table` with the contenders named `kernels`, or all, and its baseline. */
function only(table: Pivot, kernels: readonly string[]): Pivot {
  if (kernels.length === 0) return table;
  const contenders = table.contenders.filter(({ name, kernel }) =>
    kernels.includes(kernel) || kernels.includes(name) ||
    name === table.baseline
  );
  return { ...table, contenders };
}
