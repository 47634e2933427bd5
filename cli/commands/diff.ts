/**
 * `mnkbench diff`: compares two sets of recorded rows.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { optional } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { BRIEFS, define } from "../command.ts";
import { about, maybe, rowFlags, type Words } from "../options/flags.ts";
import { chooserOf, isChoice, type RowNames } from "../options/named_rows.ts";
import { path } from "../options/readers.ts";
import { sidesOf, usualPaths } from "../options/usual_paths.ts";
import {
  type Comparing,
  exitCodeOfDiff,
  judgingFlags,
} from "./diff/compare.ts";
import { logLine, printLine, screenOf } from "../terminal/output.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { unlessMissing } from "../../bench/files/disk.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { isPeerLibrary } from "../../bench/model/peer.ts";
import { type Diff, rowOf } from "../../report/diff/diff.ts";
import { diffJson, diffJunit } from "../../report/diff/machine.ts";
import { diffMarkdown, diffText } from "../../report/diff/text.ts";
import {
  type Judged,
  type Verdict,
  VERDICTS,
} from "../../report/diff/verdict.ts";
import { isPublished } from "../../bench/row/row.ts";
import { isNoisyRow } from "../../report/model/noise.ts";
import { LATEST, quoted, RESULTS, typed } from "../../session/home.ts";
import { centerOf, MOST_SEARCHED } from "../../report/history/levels.ts";
import { History } from "../../session/history.ts";
import {
  chosenRows,
  compareRows,
  idleSuites,
  judgeRows,
} from "../../session/library/compare_rows.ts";
import { isSource } from "../../session/cases.ts";
import { isFailure } from "../../session/run_job.ts";
import { readRows } from "../../session/read_rows.ts";
import { suiteNames } from "../../suites/mod.ts";

/** `mnkbench diff`. */
export const command = define({
  name: "diff",
  brief: BRIEFS.diff,
  examples: [
    "diff results/nvidia-h200 new/nvidia-h200",
    "diff base.csv new.csv --threshold 5 --fail-on slower,broken --format md",
  ],
  codes: {
    0: "nothing to fail on",
    1: "a row is slower",
    3: "a row is missing or incomparable, or there is no row",
    4: "a row is broken or less accurate",
  },
  flags,
  run: diff,
});

function flags(words: Words) {
  const source = (metavar: "BASE" | "NEW", what: string) =>
    optional(argument(string({ metavar }), about(what)));
  return merge(
    object({
      base: source(
        "BASE",
        `CSV, folder or glob of the rows before (default: ${RESULTS}, of which the cases that NEW has).`,
      ),
      next: source(
        "NEW",
        `CSV, folder or glob of the rows after (default: ${LATEST}).`,
      ),
      history: maybe(
        "--history",
        path("FILE"),
        "Compare NEW alone with the last runs of each case in a history, by their median.",
      ),
    }),
    rowFlags(words, "rows"),
    judgingFlags(),
  );
}

async function diff(
  given: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  if (given.history !== undefined) {
    return await diffWithHistory(given.history, given);
  }
  const sides = sidesOf("diff", [given.base, given.next]);
  const options = { ...given, ...sides };
  const chooser = chooserOf(given);
  const found = await compareRows(options, {
    ...sides,
    chooser,
    note: logLine,
  });
  printLine(show(found, options).join("\n"));
  for (const note of notesOn(found, options)) logLine(note);
  const step = options.format === "text" && nextStep(found, options);
  if (step) logLine(step);
  const code = exitCodeOfDiff(found, options.failOn);
  return hasPairs(found) ? code : nothingInBoth(sides, code);
}

/** Returns whether a case is on both sides. */
export function hasPairs({ judged }: Diff): boolean {
  return judged.some(({ pair }) => pair.base && pair.next);
}

/** Says that no case is on both sides. @param code The exit code of what is there. */
export function nothingInBoth(
  { base, next }: Pick<Comparing, "base" | "next">,
  code: number,
): number {
  return nothingCompared(`no case is in both ${base} and ${next}`, code);
}

/** Says that there is nothing to judge: a CI that compares nothing must not pass. */
function nothingCompared(why: string, code: number): number {
  logLine(`Nothing was compared: ${why}`);
  return Math.max(code, EXIT.nothing);
}

/** Returns notes on what no verdict says. */
function notesOn(
  { judged }: Diff,
  { config, ...names }: Pick<Comparing, "config"> & RowNames,
): readonly string[] {
  const failing = judged.filter(({ verdict, pair: { base, next } }) =>
    verdict === "same" &&
    [base, next].every((one) => one !== undefined && isFailure(one.row))
  );
  // Rows that are not chosen may be of the suites with limits.
  const idle = config === undefined || isChoice(names)
    ? []
    : idleSuites(config, judged.map(({ pair }) => rowOf(pair)));
  return [
    ...(failing.length === 0 ? [] : [
      `${
        counted(failing.length, "row fails", "rows fail")
      } on both sides, which is no change: --only same lists them`,
    ]),
    ...idle.map((name) =>
      `${config} has limits of suite ${name}, of which no row is`
    ),
  ];
}

/** Compares the rows of NEW, the only side that is given, with what `history` has of their cases. */
async function diffWithHistory(
  history: string,
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  if (options.next !== undefined) {
    throw new UserError(
      `Cannot compare ${options.base} with a history and ${options.next}: give NEW alone, diff NEW --history FILE`,
    );
  }
  const [next] = chosenRows(
    [await readRows(usualPaths(options.base ? [options.base] : [])), []],
    chooserOf(options),
  );
  using runs = History.open(history);
  const base = next.flatMap((one) => {
    const earlier = runs.last(one.row, MOST_SEARCHED + 1)
      .filter(({ run }) => run !== one.row.run);
    const row = centerOf(earlier.slice(0, MOST_SEARCHED));
    return row === undefined ? [] : [{ ...one, file: history, row }];
  });
  const found = await judgeRows(base, next, options);
  printLine(show(found, options).join("\n"));
  for (const note of notesOn(found, options)) logLine(note);
  const code = exitCodeOfDiff(found, options.failOn);
  if (base.length > 0) return code;
  return nothingCompared(`${history} has no earlier run of these cases`, code);
}

/** The least width of lines: a row with its times fits. */
const WIDTH = 120;

/** Returns the lines of `found` in the format of `options`. */
export function show(
  found: Diff,
  { format, only, failOn }: Pick<Comparing, "format" | "only" | "failOn">,
): readonly string[] {
  const usual = format === "junit"
    ? VERDICTS
    : VERDICTS.filter((verdict) => verdict !== "same");
  // With --only every row is listed, also where a whole suite is missing.
  const options = { only: only ?? usual, failOn, fold: only === undefined };
  switch (format) {
    case "text": {
      const { color, width } = screenOf(Deno.stdout);
      return diffText(found, {
        ...options,
        color,
        width: Number.isFinite(width) ? Math.max(WIDTH, width) : WIDTH,
      });
    }
    case "md":
      return diffMarkdown(found, options);
    case "json":
      return [diffJson(found, options)];
    case "junit":
      return diffJunit(found, options);
  }
}

/**
 * Returns the line that names the next command: `compare` measures again the rows that are
 * unclear, and those that are slower by a single run or by noisy ones. Undefined where there are
 * none, or where none can be measured here.
 */
export function nextStep(
  { judged }: Diff,
  { base, next, measured = false, threshold, minUs, config, ...names }:
    & Pick<Comparing, "base" | "next">
    & { readonly measured?: boolean }
    & Partial<Comparing>
    & RowNames,
): string | undefined {
  const ours = judged.filter(({ pair }) => isOurs(rowOf(pair)));
  const has = (name: Verdict) => ({ verdict, also }: Judged) =>
    verdict === name || also === name;
  const slower = ours.filter(has("slower"));
  const doubtful = slower.filter(({ pair: { base, next } }) =>
    [base!.row, next!.row].some(saysLittle)
  );
  const unclear = ours.filter(has("unclear"));
  const why = [
    ...(doubtful.length === 0 ? [] : [
      `${someOf(doubtful.length, slower.length)} slower ${
        slower.length === 1 ? "row is" : "rows are"
      } of a single run or noisy`,
    ]),
    ...(unclear.length === 0 ? [] : [
      `${counted(unclear.length, "row is", "rows are")} unclear`,
    ]),
  ];
  if (why.length === 0) return undefined;
  // `compare` loads the suites of all rows that are slower or unclear, or those that are named.
  const suites = new Set(
    [...slower, ...unclear].map(({ pair }) => rowOf(pair).suite),
  );
  const own = [...suites].filter((name) => !suiteNames.includes(name));
  const sources = new Map(
    own.flatMap((name) => {
      const source = kernelFile(name);
      return source === undefined ? [] : [[name, source] as const];
    }),
  );
  const unknown = own.filter((name) => !sources.has(name));
  const words = [
    "compare",
    // Without paths it takes the same sides, and of them the same cases.
    ...(measured ? [] : [quoted(base), quoted(next)]),
    ...(threshold === undefined ? [] : [`--threshold ${threshold}`]),
    ...(minUs === undefined ? [] : [`--min-us ${minUs}`]),
    ...(config === undefined ? [] : [`--config ${quoted(config)}`]),
    ...(names.kernels.length === 0
      ? []
      : [`--kernel ${names.kernels.map(quoted).join(",")}`]),
    ...Object.entries(names.point).map(([axis, values]) =>
      `--where ${quoted(`${axis}=${values.join(",")}`)}`
    ),
    ...(own.length + names.suites.length === 0
      ? []
      : [...suites].map((name) =>
        `--suite ${
          unknown.includes(name) ? "FILE" : quoted(sources.get(name) ?? name)
        }`
      )),
  ];
  const files = unknown.length === 0
    ? ""
    : `, where FILE has the suite ${unknown.join(", another ")}`;
  return `Next, as ${why.join(" and ")}, measure both builds again in turns: ${
    typed(words.join(" "))
  }${files}`;
}

/**
 * Returns the path of the kernel file whose suite has the name `rest`, in which what separates
 * folders is `_`; undefined where there is no such file.
 */
function kernelFile(rest: string, folder = "."): string | undefined {
  if (!isSource(rest)) return undefined;
  const is = (path: string, kind: "isFile" | "isDirectory") =>
    unlessMissing(() => Deno.statSync(path))?.[kind];
  const path = `${folder}/${rest}`;
  if (is(path, "isFile")) return path;
  for (const { index } of rest.matchAll(/(?<=.)_(?=.)/g)) {
    const inner = `${folder}/${rest.slice(0, index)}`;
    const found = is(inner, "isDirectory")
      ? kernelFile(rest.slice(index + 1), inner)
      : undefined;
    if (found !== undefined) return found;
  }
}

function someOf(some: number, all: number): string {
  return some === all ? `${some}` : `${some} of ${all}`;
}

/** Returns whether a row can be measured again: neither a peer's nor a published one can. */
function isOurs(row: CsvRow): boolean {
  return !isPeerLibrary(row.library) && !isPublished(row);
}

/** Returns whether a row is of a single run or noisy. */
function saysLittle(row: CsvRow): boolean {
  return Number(row.runs) < 2 || isNoisyRow(row);
}
