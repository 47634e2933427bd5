/**
 * Formats text for a terminal: escapes control characters, measures widths, aligns columns.
 *
 * @module
 */

import { eastAsianWidth } from "get-east-asian-width";

/** Control characters (C0, DEL and C1) other than tab and line ends. */
const CONTROL = /[^\P{Cc}\n\t\r]/gu;
/** Bidirectional controls, which change the order in which text is shown. */
const REORDER = /[\u202a-\u202e\u2066-\u2069]/g;
/** A carriage return without a line feed: text after it would overwrite the line. */
const RETURN = /\r(?!\n)/g;
/** Escape sequences of colour and weight (SGR of ECMA-48). */
const PAINT = /(\p{Cc}\[[\d;]*m)/u;

/**
 * Returns `text` with each control character replaced by its Unicode control picture, except tabs
 * and line ends.
 *
 * @example
 * ```ts
 * import { escapeControls } from "./terminal_text.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(escapeControls("na\x1b[2Jive\r!\x7f\x9b\r\n"), "na␛[2Jive␍!␡�\r\n");
 * ```
 */
export function escapeControls(text: string): string {
  return text.replaceAll(CONTROL, picture).replaceAll(RETURN, picture)
    .replaceAll(REORDER, "\ufffd");
}

/** Does what {@linkcode escapeControls} does, but keeps colours, which the program itself writes. */
export function escapeAllButColors(text: string): string {
  return text.split(PAINT).map((part, i) =>
    i % 2 === 0 ? escapeControls(part) : part
  )
    .join("");
}

/** Returns the Unicode control picture of `control`, or U+FFFD for a C1 control, which has none. */
function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** Returns the columns that `text` takes on a terminal. */
export function widthOf(text: string): number {
  // A short cut: these signs of tables are one column wide, as ASCII is.
  if (/^[ -~×±µ†]*$/.test(text)) return text.length;
  let width = 0;
  // A segment is a character with its combining marks.
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

/** Returns `text` if it is narrower than `width` columns, else its start and an ellipsis. */
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
 * import { wrapText } from "./terminal_text.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(wrapText("one two three", 9, "  "), ["one two", "  three"]);
 * ```
 */
export function wrapText(
  text: string,
  width: number,
  indent: string,
): string[] {
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
