/**
 * Formats a comparison of two kernels: their times at each point, the speed-up and the verdict.
 *
 * @module
 */

import { aligned } from "../../bench/files/terminal_text.ts";
import { AXIS_COLUMNS } from "../../bench/model/problem.ts";
import { labelOf, pointOf, varyingAxes } from "../model/axes.ts";
import { markdownText } from "../model/markdown.ts";
import { painted } from "../table/sheet.ts";
import { formatMicroseconds } from "../table/metrics.ts";
import type { Evidence } from "./interval.ts";
import {
  formatRatio,
  geomeanRatio,
  type Ratio,
  ratioOf,
  showsOne,
  type TimedPair,
  verdictOfRatio,
} from "./ratio.ts";
import { PAINTS } from "./text.ts";
import type { Threshold } from "./thresholds.ts";
import type { Judged, Verdict } from "./verdict.ts";

/** Both measurements of a point, and what is said of them. */
export interface ComparedPair extends TimedPair {
  readonly judged: Judged;
  /** Whether both sides ran one binary, so that their times differ by chance. @default {false} */
  readonly isOneBinary?: boolean;
}

/** What is compared, and the screen. */
export interface ComparedOptions {
  /** A and B. */
  readonly names: readonly [string, string];
  readonly limit: Threshold;
  /** The verdicts of the points that are listed. @default {all} */
  readonly only?: readonly Verdict[] | undefined;
  readonly color: boolean;
}

/** Explains the `?` of {@linkcode formatRatio}. */
const WIDE =
  "  ±: half the 98 % interval; ?: it is wider than the ratio, so give more --runs";

/** Returns the lines of a comparison: a table of the points, and the geometric mean. */
export function comparedLines(
  pairs: readonly ComparedPair[],
  { names, limit, only, color, markdown }: ComparedOptions & {
    readonly markdown: boolean;
  },
): readonly string[] {
  if (pairs.length === 0) return [];
  const axes = varyingAxes(pairs.map(({ next }) => pointOf(next.row)));
  const timed = pairs.filter(isTimed);
  const mean = geomeanRatio(timed);
  const [a, b] = names[0] === names[1]
    ? [`${names[0]} (A)`, `${names[1]} (B)`]
    : names;
  const head = ["median µs", a!, b!, "B against A", ""];
  const rows = pairs.filter((pair) => isListed(pair, only)).map((pair) => {
    const reason = reasonOf(pair).replaceAll("\n", " ");
    const isFailed = [pair.base, pair.next].some(({ row }) =>
      row.status !== "ok"
    );
    // The line of the failed case above the table has the rest of a note.
    const shown = isFailed && !markdown ? reason.split("; ")[0]! : reason;
    return [
      labelOf(pair.next.row, axes),
      timeOf(pair.base),
      timeOf(pair.next),
      isTimed(pair) ? formatRatio(ratioOf(pair)) : "",
      [pair.judged.verdict, shown].filter((part) => part !== "").join(": "),
    ];
  });
  // That of one point is the point.
  const last = mean === undefined || timed.length === 1 ? [] : [[
    `geomean of ${timed.length}`,
    "",
    "",
    formatRatio(mean),
    verdictOfMean(timed, mean, limit),
  ]];
  const all = [head, ...rows, ...last];
  if (markdown) {
    const lines = all.map((cells) =>
      `| ${cells.map((cell) => markdownText(cell)).join(" | ")} |`
    );
    return [lines[0]!, "| --- | ---: | ---: | ---: | --- |", ...lines.slice(1)];
  }
  const said = all.map((cells) => [
    ...cells.slice(0, -1),
    paintedVerdict(cells.at(-1)!, color),
  ]);
  const wide = all.some((cells) => cells[3]!.endsWith("?"));
  return [...aligned(said, new Set([1, 2, 3])), ...(wide ? [WIDE] : [])];
}

function paintedVerdict(text: string, color: boolean): string {
  const word = text.split(":")[0]!;
  const paint = PAINTS[word as Judged["verdict"]] ?? "plain";
  return painted({ text: word, paint }, color) + text.slice(word.length);
}

/** Returns a comparison as JSON. */
export function comparedJson(
  pairs: readonly ComparedPair[],
  { names: [base, next], limit, only }: Omit<ComparedOptions, "color">,
): string {
  const timed = pairs.filter(isTimed);
  const mean = geomeanRatio(timed);
  const content = {
    base,
    new: next,
    geomean: mean && {
      ...mean,
      verdict: verdictOfMean(timed, mean, limit),
      n: timed.length,
      of: pairs.length,
    },
    rows: pairs.filter((pair) => isListed(pair, only)).map((pair) => ({
      verdict: pair.judged.verdict,
      point: Object.fromEntries(
        AXIS_COLUMNS.map((column) => [column, pair.next.row[column]]),
      ),
      base: sideJson(pair.base),
      new: sideJson(pair.next),
      ...(isTimed(pair) ? ratioOf(pair) : {}),
      why: reasonOf(pair),
    })),
  };
  return JSON.stringify(content, null, 2);
}

/** Verdicts on times. */
const OF_TIME: readonly Verdict[] = ["slower", "faster", "unclear", "same"];

/** Returns what is said of `judged`, which are of one binary: nothing of their times. */
export function judgedAsOne(judged: Judged): Judged {
  const { pair, speed, verdict } = judged;
  return speed !== undefined && OF_TIME.includes(verdict)
    ? { pair, speed, verdict: "same", why: "the same binary" }
    : judged;
}

function verdictOfMean(
  timed: readonly ComparedPair[],
  mean: Ratio,
  limit: Threshold,
): Verdict {
  return timed.every(({ isOneBinary }) => isOneBinary)
    ? "same"
    : verdictOfRatio(mean, limit);
}

/**
 * Returns the reason of a verdict. The ratio is of the medians as rows have them, and the interval
 * by which a row is judged is around the means of all runs: where the ratio says too little, the
 * interval is the reason.
 */
function reasonOf(pair: ComparedPair): string {
  const { verdict, why, speed } = pair.judged;
  const { interval } = speed ?? {};
  if (why !== "" || interval === undefined || !isTimed(pair)) return why;
  if (!["slower", "faster"].includes(verdict)) return why;
  if (!showsOne(ratioOf(pair))) return why;
  const { low, high } = interval;
  const ends = [Math.abs(low), Math.abs(high)].toSorted((a, b) => a - b)
    .map(formatMicroseconds);
  return `the mean of its runs is ${ends.join(" to ")} µs ${
    verdict === "slower" ? "longer" : "shorter"
  }`;
}

function isListed(
  { judged: { verdict, also } }: ComparedPair,
  only: readonly Verdict[] | undefined,
): boolean {
  return only === undefined || only.includes(verdict) ||
    (also !== undefined && only.includes(also));
}

function isTimed({ base, next }: TimedPair): boolean {
  return base.row.status === "ok" && next.row.status === "ok";
}

function timeOf({ row }: Evidence): string {
  return row.status === "ok"
    ? formatMicroseconds(Number(row.median_us))
    : row.status;
}

function sideJson({ row, repeats }: Evidence) {
  const { suite, kernel, backend, device, config, status, note } = row;
  return {
    suite,
    kernel,
    backend,
    device,
    config,
    status,
    note,
    ...(status === "ok" ? { median_us: Number(row.median_us) } : {}),
    runs: repeats?.length ?? 0,
  };
}
