/**
 * Tables to be read, on a terminal or as Markdown.
 *
 * @module
 */

import { type Cell, formatGrid, type GridOptions } from "./grid.ts";

/** A table, its title and what is to be said below it. */
export interface Sheet {
  readonly title: string;
  readonly head: readonly string[];
  readonly body: readonly (readonly Cell[])[];
  /** Lines that sum up columns. */
  readonly foot: readonly (readonly Cell[])[];
  readonly notes: readonly string[];
}

/** `sheet` in aligned columns; the best of a line has a star, and a colour where there is one. */
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
      return { ...cell, text: `${cell.text}${isBest(cell) ? "*" : " "}` };
    });
  const head = sheet.head.map((text): Cell => ({ text, paint: "head" }));
  const lines = [head, ...sheet.body.map(starry), ...sheet.foot.map(starry)];
  return [
    sheet.title,
    ...formatGrid(lines, options),
    ...sheet.notes.map((note) => `  ${note}`),
  ];
}

/** `sheet` as a Markdown table, the best of a line bold. */
export function formatMarkdown(sheet: Sheet): string[] {
  const line = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const textOf = (cell: Cell | undefined) => {
    const text = escaped(cell?.text ?? "");
    return isBest(cell) ? `**${text}**` : text;
  };
  const full = (cells: readonly Cell[]) =>
    line(sheet.head.map((_, c) => textOf(cells[c])));
  return [
    `**${escaped(sheet.title)}**`,
    "",
    line(sheet.head.map(escaped)),
    line(sheet.head.map((_, c) => c === 0 ? "---" : "---:")),
    ...[...sheet.body, ...sheet.foot].map(full),
    ...(sheet.notes.length > 0
      ? ["", ...sheet.notes.map((n) => `- ${escaped(n)}`)]
      : []),
  ];
}

/** What a compiler says may well look like HTML. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*<|]/g, "\\$&");
}

function isBest(cell: Cell | undefined): boolean {
  return cell?.paint === "best";
}
