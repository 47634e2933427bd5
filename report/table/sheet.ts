/**
 * Lays out tables for a terminal and as Markdown.
 *
 * @module
 */

import { padded, widthOf } from "../../bench/files/terminal_text.ts";
import { markdownText } from "../model/markdown.ts";
import { SUSPECT_MARK } from "../model/sol.ts";

/** The emphasis of a cell where there is colour. */
export type Paint = "plain" | "best" | "bad" | "dim" | "head";

/** A cell of a grid. */
export interface Cell {
  readonly text: string;
  /** @default {"plain"} */
  readonly paint?: Paint;
}

/** A table with its title and the notes below it. */
export interface Sheet {
  readonly title: string;
  readonly head: readonly string[];
  readonly body: readonly (readonly Cell[])[];
  /** Lines of means and totals. */
  readonly foot: readonly (readonly Cell[])[];
  readonly notes: readonly string[];
}

/** The screen that a grid is laid out for. */
export interface GridOptions {
  /** Columns of the screen; infinite where nothing wraps. */
  readonly width: number;
  readonly color: boolean;
}

/** SGR codes, ECMA-48. */
const CODES: Readonly<Record<Exclude<Paint, "plain">, string>> = {
  best: "32",
  bad: "31",
  dim: "2",
  head: "1",
};
const GAP = "  ";

/** Returns a cell's text in its colour, if there is colour. */
export function painted(
  { text, paint = "plain" }: Cell,
  color: boolean,
): string {
  if (!color || paint === "plain" || text.trim() === "") return text;
  return `\x1b[${CODES[paint]}m${text}\x1b[0m`;
}

/**
 * Returns `rows` in aligned columns: the first to the left, the others to the right. Columns
 * beyond the width follow in another block below, which repeats the first column.
 *
 * @example
 * ```ts
 * import { formatGrid } from "./sheet.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const rows = [["shape", "naive"], ["1x1x1", "2.5"]].map((r) => r.map((text) => ({ text })));
 * deepStrictEqual(formatGrid(rows, { width: 80, color: false }), [
 *   "shape  naive",
 *   "1x1x1    2.5",
 * ]);
 * ```
 */
export function formatGrid(
  rows: readonly (readonly Cell[])[],
  { width, color }: GridOptions,
): string[] {
  const count = greatest(rows.map((row) => row.length));
  const widths = Array.from(
    { length: count },
    (_, c) => greatest(rows.map((row) => widthOf(row[c]?.text ?? ""))),
  );
  return blocksOf(widths, width).flatMap((columns, i) => [
    ...(i > 0 ? [""] : []),
    ...rows.map((row) =>
      columns.map((c) => {
        const { text, paint } = row[c] ?? { text: "" };
        const cell = padded(text, widths[c]!, c === 0 ? "left" : "right");
        return painted({ text: cell, paint: paint ?? "plain" }, color);
      }).join(GAP).trimEnd()
    ),
  ]);
}

/** Returns the columns of each block: the first, and at least one other. */
function blocksOf(widths: readonly number[], width: number): number[][] {
  const blocks: number[][] = [];
  let room = -1;
  for (let c = 1; c < widths.length; c++) {
    const takes = GAP.length + widths[c]!;
    if (takes > room) {
      blocks.push([0]);
      room = width - widths[0]!;
    }
    blocks.at(-1)!.push(c);
    room -= takes;
  }
  return blocks;
}

/** Returns the greatest of `values`; 0 for none. Math.max() takes no list of 200,000. */
function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** Returns `sheet` in aligned columns. The best of a line has a star, which a note explains. */
export function formatText(sheet: Sheet, options: GridOptions): string[] {
  const starred = new Set(
    sheet.body.flatMap((line) =>
      [...line.keys()].filter((c) => isBest(line[c]))
    ),
  );
  const starry = (line: readonly Cell[]) =>
    line.map((cell, c) => {
      // The mark must be seen without colour too, and the digits stay aligned.
      if (!starred.has(c) || cell.text === "") return cell;
      if (cell.text.endsWith(SUSPECT_MARK)) return cell;
      return { ...cell, text: `${cell.text}${isBest(cell) ? "*" : " "}` };
    });
  const head = sheet.head.map((text): Cell => ({ text, paint: "head" }));
  const lines = [head, ...sheet.body.map(starry), ...sheet.foot.map(starry)];
  return [
    sheet.title,
    ...formatGrid(lines, options),
    ...(starred.size > 0 ? ["  * fastest at its shape"] : []),
    ...sheet.notes.map((note) => `  ${note}`),
  ];
}

/** Returns `sheet` as a Markdown table, the best of a line bold. */
export function formatMarkdown(sheet: Sheet): string[] {
  const line = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const textOf = (cell: Cell | undefined) => {
    const text = markdownText(cell?.text ?? "");
    return isBest(cell) ? `**${text}**` : text;
  };
  const full = (cells: readonly Cell[]) =>
    line(sheet.head.map((_, c) => textOf(cells[c])));
  return [
    `**${markdownText(sheet.title)}**`,
    "",
    line(sheet.head.map(markdownText)),
    line(sheet.head.map((_, c) => c === 0 ? "---" : "---:")),
    ...[...sheet.body, ...sheet.foot].map(full),
    ...(sheet.notes.length > 0
      ? ["", ...sheet.notes.map((n) => `- ${markdownText(n)}`)]
      : []),
  ];
}

function isBest(cell: Cell | undefined): boolean {
  return cell?.paint === "best";
}
