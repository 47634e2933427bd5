/**
 * Lays out tables for a terminal and as Markdown.
 *
 * @module
 */

import {
  counted,
  padded,
  widthOf,
  wrapText,
} from "../../bench/files/terminal_text.ts";
import { markdownText } from "../model/markdown.ts";
import { SUSPECT_MARK } from "../model/sol.ts";

/** The emphasis of a cell where there is colour. */
export type Paint = "plain" | "best" | "bad" | "dim" | "head";

/** A cell of a grid. */
export interface Cell {
  readonly text: string;
  /** What stands behind the text, such as its spread; other cells have room for it if it is empty. */
  readonly beside?: string;
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
  /** How many columns name a line. Only with one of them may lines become columns. @default {1} */
  readonly labels?: number;
  /** The meaning of what stands beside cells. @default {nothing does} */
  readonly legend?: string | undefined;
  /** The meaning of a star. @default {"fastest at its shape"} */
  readonly star?: string | undefined;
  /**
   * Columns from 1, the most important first, where the last ones are left out of a narrow screen.
   *
   * @default {none is left out}
   */
  readonly ranked?: readonly number[];
}

/** The screen that a grid is laid out for. */
export interface GridOptions {
  /** Columns of the screen; infinite where nothing wraps. */
  readonly width: number;
  readonly color: boolean;
  /** Legends of tables above, which are not repeated; those of the table are added. */
  readonly told?: Set<string>;
}

/** SGR codes, ECMA-48. */
const CODES: Readonly<Record<Exclude<Paint, "plain">, string>> = {
  best: "32",
  bad: "31",
  dim: "2",
  head: "1",
};
const GAP = "  ";
/** Columns of a head that is not broken any further. */
const NARROW = 9;

/** Returns a cell's text in its colour, if there is colour. */
export function painted(
  { text, paint = "plain" }: Cell,
  color: boolean,
): string {
  if (!color || paint === "plain" || text.trim() === "") return text;
  return `\x1b[${CODES[paint]}m${text}\x1b[0m`;
}

type Line = readonly Cell[];

const EMPTY: Cell = { text: "" };

/** Lines of cells, the first of them heads, and the widths of their columns. */
interface Grid {
  readonly heads: number;
  readonly lines: readonly Line[];
  readonly widths: readonly number[];
}

/**
 * Returns `sheet` in aligned columns: the first to the left, the others to the right. The best of
 * a line has a star, which a note explains. What is wider than the screen gets heads of several
 * lines, else its lines become columns, else it loses the columns that are ranked last; without a
 * rank the columns follow in blocks, each below the one before.
 *
 * @example
 * ```ts
 * import { formatText } from "./sheet.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const body = [[{ text: "1x1x1" }, { text: "2.5" }]];
 * const sheet = { title: "mine", head: ["shape", "naive"], body, foot: [], notes: [] };
 * deepStrictEqual(formatText(sheet, { width: 80, color: false }), [
 *   "mine",
 *   "shape  naive",
 *   "1x1x1    2.5",
 * ]);
 * ```
 */
export function formatText(sheet: Sheet, options: GridOptions): string[] {
  const { title, head, body, foot, notes, ranked, labels = 1 } = sheet;
  const lines = [head.map((text): Cell => ({ text })), ...body, ...foot]
    .map((line) => head.map((_, c) => line[c] ?? { text: "" }));
  const ways = [
    lines,
    ...(labels > 1 ? [] : [head.map((_, c) => lines.map((line) => line[c]!))]),
  ];
  const { width, color, told = new Set() } = options;
  const narrow = foldedLabels(lines, width);
  const whole = [
    ...ways.flatMap((all) => [gridOf(all), wrapped(all)]),
    wrapped(narrow),
  ].find((grid) => widthOfAll(grid.widths) <= width);
  const kept = whole !== undefined || ranked === undefined
    ? head.keys().toArray()
    : fitting(narrow, ranked, width);
  const blocks = whole !== undefined
    ? [whole]
    : ranked !== undefined
    ? [wrapped(narrow.map((line) => kept.map((c) => line[c]!)))]
    : ways.map((all) => blocksOf(foldedLabels(all, width), width, labels))
      .toSorted((a, b) => heightOf(a) - heightOf(b))[0]!;
  const left = head.length - kept.length;
  const best = body.some((line) => line.some(isBest));
  const legends = [
    best ? `* ${sheet.star ?? "fastest at its shape"}` : "",
    sheet.legend ?? "",
  ]
    .filter((legend) => legend !== "" && !told.has(legend));
  for (const legend of legends) told.add(legend);
  return [
    ...wrapText(title, width, ""),
    ...blocks.flatMap((grid, i) => [
      ...(i > 0 ? [""] : []),
      ...formatGrid(grid, color, labels),
    ]),
    ...[
      ...(legends.length > 0 ? [legends.join("; ")] : []),
      ...(left > 0
        ? [
          `${counted(left, "column")} left out to fit: \`table --all\` has all`,
        ]
        : []),
      ...notes,
    ].flatMap((note) => wrapText(`  ${note}`, width, "    ")),
  ];
}

/** Returns `lines` with labels in several lines where they take more than half of the screen. */
function foldedLabels(lines: readonly Line[], width: number): readonly Line[] {
  const longest = greatest(lines.map(([label]) => widthOf(label!.text)));
  if (longest <= width / 2) return lines;
  return lines.flatMap((line) => {
    const [first = "", ...others] = wrapText(line[0]!.text, width / 3, " ");
    return [
      line.with(0, { ...line[0]!, text: first }),
      ...others.map((text) => [{ text }, ...line.slice(1).map(() => EMPTY)]),
    ];
  });
}

/** Returns the first column and those of `ranked` that fit beside it: at least one, in their order. */
function fitting(
  lines: readonly Line[],
  ranked: readonly number[],
  width: number,
): number[] {
  const { widths } = wrapped(lines);
  const kept = [0];
  for (const c of ranked) {
    const own = [...kept, c].map((column) => widths[column]!);
    if (kept.length > 1 && widthOfAll(own) > width) break;
    kept.push(c);
  }
  return kept.toSorted((a, b) => a - b);
}

function widthOfAll(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}

function heightOf(blocks: readonly Grid[]): number {
  return blocks.reduce((sum, { lines }) => sum + lines.length + 1, 0);
}

/** Returns `lines` with a column for stars in those that have one, and what is beside aligned. */
function gridOf(lines: readonly Line[], heads = 1): Grid {
  const columns = lines[0]!.map((_, c) => {
    const own = lines.map((line) => line[c]!);
    const isStarred = own.some(isBest);
    const beside = greatest(own.map((cell) => widthOf(cell.beside ?? "")));
    return own.map((cell, i): Cell => {
      if (i < heads || cell.text === "") return cell;
      // The mark must be seen without colour too, and the digits stay aligned.
      const star = isBest(cell) ? "*" : " ";
      const mark = !isStarred || cell.text.endsWith(SUSPECT_MARK) ? "" : star;
      const more = beside === 0 || cell.beside === undefined
        ? ""
        : ` ${padded(cell.beside, beside, "right")}`;
      return { ...cell, text: `${cell.text}${mark}${more}` };
    });
  });
  return {
    heads,
    lines: lines.map((_, i) =>
      columns.map((column) => {
        const cell = column[i]!;
        return i < heads ? { ...cell, paint: "head" } : cell;
      })
    ),
    widths: columns.map((column) =>
      greatest(column.map(({ text }) => widthOf(text)))
    ),
  };
}

/** Returns the grid of `lines` whose heads have several lines where that makes them narrower. */
function wrapped([head, ...body]: readonly Line[]): Grid {
  const { widths } = gridOf([head!.map(() => ({ text: "" })), ...body]);
  const heads = head!.map(({ text }, c) => {
    if (c === 0) return [text];
    const parts = text.split(/(?<= )|(?<=-)(?=\w{3})/);
    const width = Math.max(
      NARROW,
      widths[c]!,
      greatest(parts.map((part) => widthOf(part.trimEnd()))),
    );
    const lines: string[] = [];
    for (const part of parts) {
      const longer = `${lines.at(-1) ?? ""}${part}`;
      if (lines.length > 0 && widthOf(longer.trimEnd()) <= width) {
        lines[lines.length - 1] = longer;
      } else lines.push(part);
    }
    return lines.map((line) => line.trimEnd());
  });
  const height = greatest(heads.map(({ length }) => length));
  const above = Array.from(
    { length: height },
    (_, i) =>
      heads.map((own): Cell => ({ text: own[i - height + own.length] ?? "" })),
  );
  return gridOf([...above, ...body], height);
}

/** Returns the columns of `lines` in grids that fit: each has the labels, and at least one other. */
function blocksOf(
  lines: readonly Line[],
  width: number,
  labels: number,
): readonly Grid[] {
  const { widths } = wrapped(lines);
  const blocks: number[][] = [];
  let room = -1;
  const first = widths.slice(0, labels);
  for (let c = labels; c < widths.length; c++) {
    const takes = GAP.length + widths[c]!;
    if (takes > room) {
      blocks.push([...first.keys()]);
      room = width - widthOfAll(first);
    }
    blocks.at(-1)!.push(c);
    room -= takes;
  }
  return blocks.map((columns) =>
    wrapped(lines.map((line) => columns.map((c) => line[c]!)))
  );
}

function formatGrid(
  { lines, widths }: Grid,
  color: boolean,
  labels: number,
): string[] {
  return lines.map((line) =>
    line.map(({ text, paint = "plain" }, c) => {
      const cell = padded(text, widths[c]!, c < labels ? "left" : "right");
      return painted({ text: cell, paint }, color);
    }).join(GAP).trimEnd()
  );
}

/** Returns the greatest of `values`; 0 for none. Math.max() takes no list of 200,000. */
function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** Returns `sheet` as a Markdown table, the best of a line bold. */
export function formatMarkdown(sheet: Sheet): string[] {
  const { labels = 1 } = sheet;
  const notes = [...(sheet.legend ? [sheet.legend] : []), ...sheet.notes];
  const line = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const textOf = (cell: Cell | undefined) => {
    const text = markdownText(cell?.text ?? "");
    const beside = cell?.beside ? ` ${cell.beside}` : "";
    return `${isBest(cell) ? `**${text}**` : text}${beside}`;
  };
  const full = (cells: readonly Cell[]) =>
    line(sheet.head.map((_, c) => textOf(cells[c])));
  return [
    `**${markdownText(sheet.title)}**`,
    "",
    line(sheet.head.map(markdownText)),
    line(sheet.head.map((_, c) => c < labels ? "---" : "---:")),
    ...[...sheet.body, ...sheet.foot].map(full),
    ...(notes.length > 0
      ? ["", ...notes.map((n) => `- ${markdownText(n)}`)]
      : []),
  ];
}

function isBest(cell: Cell | undefined): boolean {
  return cell?.paint === "best";
}
