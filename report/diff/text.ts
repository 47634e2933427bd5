/**
 * Formats a comparison to be read: for a terminal, and in Markdown for a step summary or a
 * comment.
 *
 * @module
 */

import { padded, widthOf, wrapText } from "../../bench/files/terminal_text.ts";
import {
  type Diff,
  folded,
  formatChange,
  formatCounts,
  formatMean,
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import type { Interval } from "./interval.ts";
import { type Paint, painted } from "../table/sheet.ts";
import { formatMicroseconds } from "../table/metrics.ts";
import { markdownText } from "../model/markdown.ts";
import { causesOf, type Judged, type Verdict } from "./verdict.ts";

/** How verdicts are painted. */
export const PAINTS: Partial<Record<Verdict, Paint>> = {
  broken: "bad",
  "less-accurate": "bad",
  missing: "bad",
  slower: "bad",
  faster: "best",
  fixed: "best",
  same: "dim",
};
const GAP = "  ";
/** Before a reason that has no room in the line of its row. */
const INDENT = "    ";

/** The most rows of a table: a step summary is cut off at 1 MiB. */
const MOST_ROWS = 2000;

/** The screen that text is laid out for. */
interface DiffScreen {
  readonly color: boolean;
  /** Columns of a line; a reason that does not fit is put below its row. */
  readonly width: number;
}

/** Returns the lines of `diff`: the listed rows, missing suites, the means, the counts. */
export function diffText(
  diff: Diff,
  { color, width, ...show }: ShowOptions & DiffScreen,
): readonly string[] {
  const { rows: own, missing, added } = folded(diff, show);
  const rows = own.map((judged) => {
    const [verdict, title, base, next, change] = cellsOf(judged);
    const times = base === "" ? "" : `${base} -> ${next} µs`;
    return { judged, cells: [verdict!, title!, times, change!] };
  });
  const widths = rows.reduce(
    (most, { cells }) => most.map((w, i) => Math.max(w, widthOf(cells[i]!))),
    [0, 0, 0, 0],
  );
  const lines = rows.flatMap(({ judged, cells }) => {
    const [verdict, title, times, change] = cells.map((text, i) =>
      padded(text, widths[i]!, i < 2 ? "left" : "right")
    );
    const paint = PAINTS[judged.verdict] ?? "plain";
    const reason = reasonOf(judged);
    const rest = [title, times, change].join(GAP);
    const line = `${painted({ text: verdict!, paint }, color)}${GAP}${rest}`;
    const used = widthOf(verdict! + rest + reason) + 2 * GAP.length;
    return reason === "" || used <= width
      ? [`${line}${GAP}${reason}`.trimEnd()]
      : [line.trimEnd(), ...wrapText(INDENT + reason, width, INDENT)];
  });
  const groups = [
    ...missing.map((text) =>
      painted({ text, paint: PAINTS.missing ?? "plain" }, color)
    ),
    ...added,
  ];
  return [
    ...lines,
    ...groups,
    ...(lines.length + groups.length > 0 ? [""] : []),
    ...diff.means.map(formatMean),
    formatCounts(diff),
  ];
}

/** Returns `diff` as Markdown: the counts, the means, a table of the listed rows. */
export function diffMarkdown(
  diff: Diff,
  show: ShowOptions,
): readonly string[] {
  const { rows, missing, added } = folded(diff, show);
  const groups = [...missing, ...added];
  const lines = rows.slice(0, MOST_ROWS).map((judged) => {
    const [verdict, title, base, next, change] = cellsOf(judged);
    return [
      verdict!.replace(/^[^,]+/, "**$&**"),
      ...[
        markdownText(title!),
        base,
        next,
        change,
        markdownText(reasonOf(judged)),
      ],
    ].join(" | ");
  });
  const left = rows.length - MOST_ROWS;
  return [
    formatCounts(diff),
    "",
    ...diff.means.map((mean) => `- ${markdownText(formatMean(mean))}`),
    ...(groups.length === 0 ? [] : [
      "",
      ...groups.map((line) => `- ${markdownText(line)}`),
    ]),
    ...(lines.length === 0 ? [] : [
      "",
      "| verdict | case | base, µs | new, µs | change | why, and what else changed |",
      "| --- | --- | ---: | ---: | ---: | --- |",
      ...lines.map((line) => `| ${line} |`),
    ]),
    ...(left > 0 ? ["", `And ${left} more rows, none worse than these.`] : []),
  ];
}

/** Returns the verdict, the case, both times in microseconds and the change of a pair. */
function cellsOf({ verdict, also, pair, speed }: Judged): readonly string[] {
  return [
    also === undefined || also === "same" ? verdict : `${verdict}, ${also}`,
    titleOf(rowOf(pair)),
    ...(speed
      ? [
        formatMicroseconds(speed.base_us),
        formatMicroseconds(speed.next_us),
        formatChange(speed.change),
      ]
      : ["", "", ""]),
  ];
}

/** Returns the reason of a verdict, the interval of the change, and its likely causes. */
export function reasonOf(judged: Judged): string {
  const { why, speed, pair, verdict } = judged;
  const interval = speed?.interval;
  const causes = verdict === "same" ? [] : causesOf(pair);
  return [
    why.replaceAll("\n", " "),
    interval === undefined
      ? ""
      : `${shareOf(interval)} % interval ${
        [interval.low, interval.high].map(signed).join(" to ")
      } µs`,
    causes.join(", "),
  ].filter((part) => part !== "").join("; ");
}

/** Returns the probability of an interval, per cent: both sides of it are left out. */
function shareOf({ level = 0.99 }: Interval): number {
  return Number((100 * (2 * level - 1)).toPrecision(4));
}

function signed(us: number): string {
  return `${us < 0 ? "-" : "+"}${formatMicroseconds(Math.abs(us))}`;
}
