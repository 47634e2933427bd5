/**
 * Aligns text in the columns of a terminal, where some characters are two columns wide.
 *
 * @module
 */

import { eastAsianWidth } from "get-east-asian-width";

/** Returns the columns that `text` takes on a terminal. */
export function widthOf(text: string): number {
  // The sign between sizes is as narrow as ASCII.
  if (/^[ -~×]*$/.test(text)) return text.length;
  let width = 0;
  // Marks that combine with the character before them are part of its segment.
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += eastAsianWidth(segment.codePointAt(0)!);
  }
  return width;
}

/**
 * Returns `text` with spaces after it, or before it, so that it is `width` columns wide.
 *
 * @example
 * ```ts
 * import { padded } from "./text_width.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(padded("核", 4), "核  ");
 * strictEqual(padded("2.5", 5, "right"), "  2.5");
 * ```
 */
export function padded(
  text: string,
  width: number,
  align: "left" | "right" = "left",
): string {
  const room = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + room : room + text;
}

/** Returns the start of `text` that takes less than `width` columns, with an ellipsis. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) < width) return text;
  let [start, columns] = ["", 0];
  for (const { segment: character } of new Intl.Segmenter().segment(text)) {
    columns += widthOf(character);
    if (columns > width - 2) break;
    start += character;
  }
  return `${start}…`;
}

/**
 * Aligns the fields of `lines` in columns, two spaces apart.
 *
 * @param right The positions of columns that are aligned to the right.
 */
export function aligned(
  lines: readonly (readonly string[])[],
  right: ReadonlySet<number> = new Set(),
): readonly string[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [c, field] of line.entries()) {
      widths[c] = Math.max(widths[c] ?? 0, widthOf(field));
    }
  }
  return lines.map((line) =>
    line.map((field, c) =>
      padded(field, widths[c]!, right.has(c) ? "right" : "left")
    ).join("  ").trimEnd()
  );
}
