/**
 * Cells in aligned columns, in blocks side by side where they would not fit.
 *
 * @module
 */

/** How a cell stands out where there is colour. */
export type Paint = "plain" | "best" | "bad" | "dim" | "head";

/** A cell of a grid. */
export interface Cell {
  readonly text: string;
  /** @default {"plain"} */
  readonly paint?: Paint;
}

/** How a grid is laid out. */
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

/** `text` as `paint` has it, if there is colour. */
export function painted(
  { text, paint = "plain" }: Cell,
  color: boolean,
): string {
  if (!color || paint === "plain" || text.trim() === "") return text;
  return `\x1b[${CODES[paint]}m${text}\x1b[0m`;
}

/**
 * `rows` in aligned columns: the first to the left, the others to the right. Columns that
 * would go beyond the width stand in another block below, under the same first column.
 *
 * @example
 * ```ts
 * import { formatGrid } from "./grid.ts";
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
    (_, c) => greatest(rows.map((row) => row[c]?.text.length ?? 0)),
  );
  return blocksOf(widths, width).flatMap((columns, i) => [
    ...(i > 0 ? [""] : []),
    ...rows.map((row) =>
      columns.map((c) => {
        const { text, paint } = row[c] ?? { text: "" };
        const padded = c === 0
          ? text.padEnd(widths[c]!)
          : text.padStart(widths[c]!);
        return painted({ text: padded, paint: paint ?? "plain" }, color);
      }).join(GAP).trimEnd()
    ),
  ]);
}

/** The columns of each block. Every block has the first, and at least one other. */
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

/** The greatest of `values`, however many; 0 of none. */
function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
