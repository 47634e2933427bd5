/**
 * A comparison for a terminal.
 *
 * @module
 */

import {
  causesOfPair,
  type Diff,
  formatChange,
  formatCounts,
  formatMean,
  listed,
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import { type Paint, painted } from "./grid.ts";
import { formatMicroseconds } from "./table.ts";
import type { Judged, Verdict } from "./verdict.ts";

const PAINTS: Partial<Record<Verdict, Paint>> = {
  broken: "bad",
  "less-accurate": "bad",
  missing: "bad",
  slower: "bad",
  faster: "best",
  fixed: "best",
  same: "dim",
};
const GAP = "  ";

/** `diff` in lines: the listed rows, the means, the counts. */
export function diffText(
  diff: Diff,
  { color, ...show }: ShowOptions & { readonly color: boolean },
): readonly string[] {
  const rows = listed(diff, show).map((judged) => ({
    judged,
    cells: cellsOf(judged),
  }));
  const widths = rows.reduce(
    (most, { cells }) => most.map((w, i) => Math.max(w, cells[i]!.length)),
    [0, 0, 0, 0],
  );
  const lines = rows.map(({ judged, cells }) => {
    const [verdict, title, times, change] = cells.map((text, i) =>
      i < 2 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!)
    );
    const paint = PAINTS[judged.verdict] ?? "plain";
    return [
      painted({ text: verdict!, paint }, color),
      title,
      times,
      change,
      reasonOf(judged),
    ].join(GAP).trimEnd();
  });
  return [
    ...lines,
    ...(lines.length > 0 ? [""] : []),
    ...diff.means.map(formatMean),
    formatCounts(diff),
  ];
}

function cellsOf({ verdict, also, pair, speed }: Judged): readonly string[] {
  return [
    also === undefined || also === "same" ? verdict : `${verdict}, ${also}`,
    titleOf(rowOf(pair)),
    speed === undefined
      ? ""
      : `${formatMicroseconds(speed.base_us)} -> ${
        formatMicroseconds(speed.next_us)
      } us`,
    speed === undefined ? "" : formatChange(speed.change),
  ];
}

/** Why it is so: what the verdict says, the interval, and what else changed. */
export function reasonOf(judged: Judged): string {
  const { why, speed, pair, verdict } = judged;
  const interval = speed?.interval;
  const causes = verdict === "same" ? [] : causesOfPair(pair);
  return [
    why.replaceAll("\n", " "),
    interval === undefined
      ? ""
      : `98 %: ${[interval.low, interval.high].map(signed).join(" to ")} us`,
    causes.join(", "),
  ].filter((part) => part !== "").join("; ");
}

function signed(us: number): string {
  return `${us < 0 ? "-" : "+"}${formatMicroseconds(Math.abs(us))}`;
}
