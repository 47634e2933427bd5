/**
 * Text on a terminal: control characters that are shown and not obeyed, widths, columns.
 *
 * @module
 */

import { eastAsianWidth } from "get-east-asian-width";

/** C0 without what is layout, DEL, and C1, which some terminals obey too. */
const CONTROL = /[^\P{Cc}\n\t\r]/gu;
/** Embeddings, overrides and isolates: what follows would be read in another order. */
const REORDER = /[\u202a-\u202e\u2066-\u2069]/g;
/** Alone, it would let what follows overwrite the line. */
const RETURN = /\r(?!\n)/g;
/** Colour and weight, ECMA-48's SGR, and nothing that moves. */
const PAINT = /(\p{Cc}\[[\d;]*m)/u;

/**
 * `text` with a picture in the place of each character that a terminal obeys, but tabs and line
 * ends.
 *
 * @example
 * ```ts
 * import { visible } from "./terminal_text.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(visible("na\x1b[2Jive\r!\x7f\x9b\r\n"), "na␛[2Jive␍!␡�\r\n");
 * ```
 */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, picture).replaceAll(RETURN, picture)
    .replaceAll(REORDER, "\ufffd");
}

/** Does the same but keeps colours: the program's own lines are painted. */
export function visiblePainted(text: string): string {
  return text.split(PAINT).map((part, i) => i % 2 === 0 ? visible(part) : part)
    .join("");
}

/** Unicode's control pictures; of C1 there are none. */
function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** Returns the columns that `text` takes on a terminal. */
export function widthOf(text: string): number {
  // The signs of tables are as narrow as ASCII.
  if (/^[ -~×±µ†]*$/.test(text)) return text.length;
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
 * import { padded } from "./terminal_text.ts";
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
 * Returns `text` in lines that fit, broken at spaces; those after the first begin with `indent`.
 *
 * @example
 * ```ts
 * import { folded } from "./terminal_text.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(folded("one two three", 9, "  "), ["one two", "  three"]);
 * ```
 */
export function folded(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/(?<=\S)(?= )/)) {
    const longer = `${lines.at(-1) ?? ""}${word}`;
    if (lines.length > 0 && widthOf(longer) > width) {
      lines.push(`${indent}${word.trimStart()}`);
    } else lines[Math.max(0, lines.length - 1)] = longer;
  }
  return lines;
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

/** Formats `count` with the noun that fits it: `1 row`, `2 rows`. */
export function counted(
  count: number,
  one: string,
  more: string = `${one}s`,
): string {
  return `${count} ${count === 1 ? one : more}`;
}

/**
 * Formats a share from 0 to 1 in per cent: `12.3 %`. Shares below 1 % have two significant digits,
 * `0.089 %`.
 */
export function percent(share: number): string {
  const value = 100 * share;
  const isSmall = value !== 0 && Math.abs(value) < 1;
  return `${isSmall ? Number(value.toPrecision(2)) : value.toFixed(1)} %`;
}
