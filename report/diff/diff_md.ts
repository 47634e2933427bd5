/**
 * A comparison in Markdown, for a step summary or a comment.
 *
 * @module
 */

import {
  type Diff,
  formatChange,
  formatCounts,
  formatMean,
  rowOf,
  type ShowOptions,
  titleOf,
} from "./diff.ts";
import { foldMissing } from "./diff_fold.ts";
import { reasonOf } from "./diff_text.ts";
import { formatMicroseconds } from "../table/table.ts";

/** Rows of a table: a step summary is cut off at 1 MiB. */
const MOST = 2000;

/** `diff` in lines: the counts, the means, a table of the listed rows. */
export function diffMarkdown(
  diff: Diff,
  show: ShowOptions,
): readonly string[] {
  const { rows, lines: folded } = foldMissing(diff, show);
  const lines = rows.slice(0, MOST).map((
    { verdict, also, pair, speed, ...rest },
  ) =>
    [
      also === undefined || also === "same"
        ? `**${verdict}**`
        : `**${verdict}**, ${also}`,
      cell(titleOf(rowOf(pair))),
      speed ? formatMicroseconds(speed.base_us) : "",
      speed ? formatMicroseconds(speed.next_us) : "",
      speed ? formatChange(speed.change) : "",
      cell(reasonOf({ verdict, pair, ...(speed && { speed }), ...rest })),
    ].join(" | ")
  );
  const left = rows.length - MOST;
  return [
    formatCounts(diff),
    "",
    ...diff.means.map((mean) => `- ${cell(formatMean(mean))}`),
    ...(folded.length === 0 ? [] : [
      "",
      ...folded.map((line) => `- ${cell(line)}`),
    ]),
    ...(lines.length === 0 ? [] : [
      "",
      "| verdict | case | base, us | new, us | change | why, and what else changed |",
      "| --- | --- | ---: | ---: | ---: | --- |",
      ...lines.map((line) => `| ${line} |`),
    ]),
    ...(left > 0 ? ["", `And ${left} more rows, none worse than these.`] : []),
  ];
}

/** Text that no character of which means anything in a table. */
function cell(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>|~#]/g, "\\$&").replaceAll(/\s+/g, " ");
}
