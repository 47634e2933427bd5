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
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import { foldMissing } from "./diff_fold.ts";
import { type Paint, painted } from "../table/sheet.ts";
import { formatMicroseconds } from "../table/table.ts";
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
/** Before a reason that has no room in the line of its row. */
const INDENT = "    ";

/** A terminal, or what takes its place. */
export interface DiffScreen {
  readonly color: boolean;
  /** Columns that a line should fit in; reasons are put below their rows for it. */
  readonly width: number;
}

/** `diff` in lines: the listed rows, what is missing as a whole, the means, the counts. */
export function diffText(
  diff: Diff,
  { color, width, ...show }: ShowOptions & DiffScreen,
): readonly string[] {
  const { rows: own, lines: folded } = foldMissing(diff, show);
  const rows = own.map((judged) => ({ judged, cells: cellsOf(judged) }));
  const widths = rows.reduce(
    (most, { cells }) => most.map((w, i) => Math.max(w, cells[i]!.length)),
    [0, 0, 0, 0],
  );
  const lines = rows.flatMap(({ judged, cells }) => {
    const [verdict, title, times, change] = cells.map((text, i) =>
      i < 2 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!)
    );
    const paint = PAINTS[judged.verdict] ?? "plain";
    const reason = reasonOf(judged);
    const rest = [title, times, change].join(GAP);
    const line = `${painted({ text: verdict!, paint }, color)}${GAP}${rest}`;
    const used = verdict!.length + 2 * GAP.length + rest.length;
    return used + reason.length <= width
      ? [`${line}${GAP}${reason}`.trimEnd()]
      : [line.trimEnd(), ...wrapped(reason, width)];
  });
  const missing = folded.map((text) =>
    painted({ text, paint: PAINTS.missing ?? "plain" }, color)
  );
  return [
    ...lines,
    ...missing,
    ...(lines.length + missing.length > 0 ? [""] : []),
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
      : `98 % interval ${
        [interval.low, interval.high].map(signed).join(" to ")
      } us`,
    causes.join(", "),
  ].filter((part) => part !== "").join("; ");
}

/** `text` in indented lines of `width`; a word that is longer has a line of its own. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && INDENT.length + longer.length > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((part) => `${INDENT}${part}`);
}

function signed(us: number): string {
  return `${us < 0 ? "-" : "+"}${formatMicroseconds(Math.abs(us))}`;
}
