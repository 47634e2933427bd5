/**
 * `mnkbench tune`: searches configs, and shows and changes what is remembered of them.
 *
 * @module
 */

import { shownJson } from "../../bench/files/json_file.ts";
import { merge, object } from "@optique/core/constructs";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { BRIEFS, define } from "../command.ts";
import {
  choiceFlags,
  maybe,
  runningFlags,
  shard,
  targetFlags,
  timingFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";
import { number, parseSizes, path, reader } from "../options/readers.ts";
import { aligned } from "../../bench/files/terminal_text.ts";
import type { Shard } from "../../bench/model/settings.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { type Span, spansOf } from "../../bench/tune/dispatch.ts";
import {
  byRule,
  tuneCases,
  type TunedCase,
  type TuneOptions,
} from "./tune/session.ts";
import { writeDispatch } from "./tune/dispatch.ts";
import { parts } from "./tune/remembered.ts";
import { suiteFileFlags, withSuiteFile } from "./tune/suite_file.ts";
import { formatSeconds, logLine, printLine } from "../terminal/output.ts";
import { formatMicroseconds } from "../../report/table/metrics.ts";
import { settingsOf } from "../../session/options.ts";
import { fromCache, isTunable, keptIn } from "../../session/run_state.ts";
import { exitCodeOf, isFailure } from "../../session/run_job.ts";
import { nothing } from "../../session/cases.ts";
import {
  clusterFlags,
  type ClusterOptions,
  refuseCluster,
  reportProgress,
  runShards,
} from "../slurm.ts";
import { casesAnywhere, select, type Selected } from "../../session/select.ts";

/** `mnkbench tune`. */
export const command = define({
  name: "tune",
  brief: BRIEFS.tune,
  examples: [
    "tune --suite matmul-bf16 --kernel decompose-k --level 5",
    "tune --suite matmul-bf16 --dispatch m=1,8,32,128 --header dispatch.h",
  ],
  codes: {
    0: "every case has a config or is unsupported",
    1: "a case failed; stopped by Ctrl-C it is 130",
    3: "no usable device, or no case with a choice of configs",
  },
  flags,
  run: async (given) => {
    const options = withSuiteFile(given);
    const { dispatch, opt, ...rest } = options;
    refuseCluster(options, {
      "--shard": options.shard !== undefined,
      "--dispatch": dispatch !== undefined,
    });
    if (dispatch && options.shard) {
      throw new UserError(
        "Cannot make a dispatch table of a part of the cases: leave out --shard or --dispatch",
      );
    }
    if (dispatch) return await writeDispatch(rest, chosenAt(dispatch, opt));
    for (const name of ["out", "header", "opt"] as const) {
      if (options[name] === undefined) continue;
      throw new UserError(
        `Cannot write a dispatch table without its ranges: give --dispatch, as in --dispatch m=1,8,32, or leave out --${name}`,
      );
    }
    if (options.on) return await tuneOnCluster(options);
    reportProgress(options);
    return await search(options);
  },
  parts,
});

function flags(words: Words) {
  return merge(
    suiteFileFlags(parts.map(({ name }) => name.split(" ").at(-1)!)),
    choiceFlags(words),
    targetFlags(words),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Results", {
      shard: shard(),
      dispatch: maybe(
        "--dispatch",
        ranges(),
        "Make a dispatch table of ranges, such as m=1,8,32,128, or of one, such as m=1..512.",
      ),
      opt: maybe(
        "--opt",
        number("SIZE", { least: 1 }),
        "With --dispatch m=MIN..MAX: choose what is the fastest at this size, and show its loss at others.",
      ),
      out: maybe(
        "--out",
        path("FILE"),
        "With --dispatch: write the table as JSON.",
      ),
      header: maybe(
        "--header",
        path("FILE"),
        "With --dispatch: write the table as a C header.",
      ),
      skips: toggle("--skips", "List each skipped config and why."),
      json: toggle("--json", "Print lines of JSON."),
    }),
    clusterFlags(),
  );
}

/** Ranges along an axis. */
interface Ranges {
  readonly axis: string;
  readonly spans: readonly Span[];
}

/** Reads an axis and the upper ends of its ranges, `m=1,8,32`, or one range, `m=1..512`. */
function ranges() {
  return reader<Ranges>({
    metavar: "AXIS=SIZES",
    placeholder: { axis: "m", spans: [] },
    read(input) {
      const [, axis, sizes = ""] = /^(\w+)=(.+)$/.exec(input) ?? [];
      if (axis === undefined) {
        throw new UserError(
          `${input} names no ranges: give an axis and their upper ends, as in m=1,8,32,128, or one range, as in m=1..512`,
        );
      }
      const ends = sizes.split("..").map(parseSizes);
      if (ends.length === 1) {
        const bounds = ends[0]!.toSorted((a, b) => a - b);
        return { axis, spans: spansOf(bounds) };
      }
      const [from = 0, to = 0, ...more] = ends.flat();
      if (from <= to && more.length === 0) {
        return { axis, spans: [{ from, to }] };
      }
      throw new UserError(
        `${input} is no range: give its least and its greatest size, as in m=1..512`,
      );
    },
  });
}

/** Returns `ranges`, of which there must be one, chosen for the size `opt`, if there is one. */
function chosenAt(ranges: Ranges, opt: number | undefined): Ranges {
  if (opt === undefined) return ranges;
  const [span, ...more] = ranges.spans;
  if (span && more.length === 0 && span.from <= opt && opt <= span.to) {
    return { ...ranges, spans: [{ ...span, opt }] };
  }
  throw new UserError(
    `Cannot choose for --opt ${opt}: give --dispatch one range that has it, as in --dispatch m=1..${
      Math.max(512, opt)
    }`,
  );
}

/** Options of a search. */
interface SearchOptions extends TuneOptions {
  readonly shard: Shard | undefined;
  readonly skips: boolean;
  readonly progress: string | undefined;
}

/** Searches shards on a cluster, which share the timing cache. @returns The exit code. */
async function tuneOnCluster(
  options: SearchOptions & ClusterOptions,
): Promise<number> {
  // Unknown names are refused before anything waits in a queue.
  await casesAnywhere(options);
  using ended = await runShards({ name: "tune", options });
  if (ended === undefined) return EXIT.ok;
  for (const line of ended.lines) printLine(line);
  ended.remove();
  if (ended.lines.length === 0) {
    throw nothing("no selected kernel has more than one config on the nodes");
  }
  return ended.codes.includes(EXIT.failed) ? EXIT.failed : EXIT.ok;
}

async function search(options: SearchOptions): Promise<number> {
  const start = performance.now();
  const orNone = options.progress !== undefined;
  const selected = await select({ ...options, orNone });
  for (const note of selected.notes) logLine(note);
  const cases = selected.cases.filter((c) => isTunable(c, selected.info));
  if (cases.length === 0) {
    if (orNone) return EXIT.ok;
    throw nothing(
      `no selected kernel has more than one config on ${selected.selection.backend}`,
    );
  }
  const settings = settingsOf(options, { tune: true });
  const { timingCache } = settings;
  const { done, kept } = await tuneCases(
    { ...selected, cases },
    {
      settings,
      timeout: options.timeout,
      finished: (one) => {
        if (options.json) printLine(tuneJson(one));
      },
    },
  );
  show(done, { options, selected });
  if (timingCache !== undefined) {
    for (const note of fromCache(done.map(({ row }) => row), timingCache)) {
      logLine(note);
    }
    if (kept > 0) logLine(keptIn(kept, timingCache));
  }
  logLine(`Took ${formatSeconds((performance.now() - start) / 1000)}`);
  if (done.length < cases.length) {
    logLine(
      "Stopped: the same command goes on with what is not in the cache yet",
    );
    return EXIT.failed;
  }
  return exitCodeOf(done.map(({ row }) => row));
}

function show(
  cases: readonly TunedCase[],
  { options, selected }: { options: SearchOptions; selected: Selected },
): void {
  const out = options.json ? logLine : printLine;
  if (!options.json) {
    const suites = Map.groupBy(cases, ({ one }) => one.suite);
    for (const [suite, own] of suites) {
      const lines = tuneTable(own);
      if (lines.length === 0) continue;
      printLine(`${suite} on ${selected.info.name}, level ${options.level}`);
      for (const line of lines) printLine(line);
    }
  }
  const lost = cases.filter(({ row }) => row.status === "unsupported");
  if (lost.length > 0) {
    const { kernel, problem } = lost[0]!.one;
    out(
      `${lost.length} unsupported, such as ${kernel} at ${problem.title}: ${
        lost[0]!.row.note
      }`,
    );
  }
  for (const line of skipSummary(cases)) out(line);
  if (options.skips) { for (const line of skipLines(cases)) out(line); }
}

const HEAD = [
  ...["shape", "kernel", "legal", "skipped", "pruned", "timed", "failed"],
  ...["finals", "us", "s", "from", "winner"],
];
/** Columns that are numbers. */
const RIGHT = new Set([2, 3, 4, 5, 6, 7, 8, 9]);

/** A table of what was chosen, a line for each case that could run. */
function tuneTable(cases: readonly TunedCase[]): readonly string[] {
  const shown = cases.filter(({ row }) => row.status !== "unsupported");
  if (shown.length === 0) return [];
  return aligned([HEAD, ...shown.map(fieldsOf)], RIGHT);
}

function fieldsOf(
  { one, space, tuned, row }: TunedCase,
): readonly string[] {
  const { legal, illegal, pruned } = space;
  const searched = tuned?.by === "search";
  const count = (value: number | undefined) => searched ? `${value ?? 0}` : "-";
  return [
    one.problem.title,
    one.kernel,
    `${legal.length}`,
    `${illegal.length}`,
    count(pruned.length),
    count(tuned?.timed),
    count(tuned?.failed),
    count(tuned?.finalists.length),
    tuned?.us === undefined ? "-" : formatMicroseconds(tuned.us),
    searched ? (tuned.ms / 1000).toFixed(1) : "-",
    tuned?.by ?? "-",
    isFailure(row) ? `${row.status}: ${row.note}` : withNote(row),
  ];
}

function withNote({ config, note }: TunedCase["row"]): string {
  return note === "" ? config : `${config} (${note})`;
}

/** Counts the configs that were left out, by rule. */
function skipSummary(cases: readonly TunedCase[]): readonly string[] {
  const illegal = cases.flatMap(({ space }) => space.illegal);
  const all = illegal.length +
    cases.reduce((sum, { space }) => sum + space.legal.length, 0);
  const pruned = cases.reduce(
    (sum, { space, tuned }) =>
      sum + (tuned?.by === "search" ? space.pruned.length : 0),
    0,
  );
  const rules = byRule(illegal).map(([rule, n]) => `${rule} ${n}`);
  return [
    ...(illegal.length > 0
      ? [
        `Skipped ${illegal.length} of ${all} configs, by rule: ${
          rules.join(", ")
        }`,
      ]
      : []),
    ...(pruned > 0
      ? [`Left out ${pruned} more that the kernels' models put far behind`]
      : []),
  ];
}

/** Each config that was left out, with its rule and the reason. */
function* skipLines(
  cases: readonly TunedCase[],
): Generator<string, void> {
  for (const { one, space, tuned } of cases) {
    const name = `${one.kernel} ${one.problem.title}`;
    for (const { config, rule, illegal } of space.illegal) {
      yield `${name}: ${formatValues(config)}: ${
        rule ?? "no rule"
      }, ${illegal}`;
    }
    if (tuned?.by !== "search") continue;
    const best = space.legal[0]?.predicted;
    for (const { config, predicted } of space.pruned) {
      const why = predicted === undefined || best === undefined
        ? "beyond the first that this level tries"
        : `predicted ${formatMicroseconds(predicted)} µs, the best ${
          formatMicroseconds(best)
        } µs`;
      yield `${name}: ${formatValues(config)}: model, ${why}`;
    }
  }
}

/** A case as one line of JSON. */
function tuneJson({ one, space, tuned, row }: TunedCase): string {
  const { legal, illegal, pruned } = space;
  const { m, n, k, ...key } = row.key;
  return shownJson({
    ...key,
    m: Number(m),
    n: Number(n),
    k: Number(k),
    status: row.status,
    note: row.note,
    config: row.config,
    config_by: row.config_by,
    us: tuned?.us,
    legal: legal.length,
    skipped: Object.fromEntries(byRule(illegal)),
    pruned: tuned?.by === "search" ? pruned.length : 0,
    timed: tuned?.timed ?? 0,
    failed: tuned?.failed ?? 0,
    finalists: tuned?.finalists ?? [],
    ms: Math.round(tuned?.ms ?? 0),
    title: one.problem.title,
  });
}
