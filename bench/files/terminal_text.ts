/**
 * Replaces control characters of text, so that a terminal shows them and does not obey them.
 *
 * @module
 */

/** C0 without what is layout, DEL, and C1, which some terminals obey too. */
const CONTROL = /[^\P{Cc}\n\t\r]/gu;
/** Alone, it would let what follows overwrite the line. */
const RETURN = /\r(?!\n)/g;
/** Colour and weight, ECMA-48's SGR, and nothing that moves. */
const PAINT = /(\p{Cc}\[[\d;]*m)/u;

/**
 * `text` with a picture in the place of each control character but tabs and line ends.
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
  return text.replaceAll(CONTROL, picture).replaceAll(RETURN, picture);
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
