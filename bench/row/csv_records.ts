/**
 * Splits the bytes of a CSV into records.
 *
 * @module
 */

import { parse } from "@std/csv";
import { escapeControls } from "../files/terminal_text.ts";

/** Control characters but those of line ends, and the replacement of what is no UTF-8. */
const CONTROL = /[^\P{Cc}\n\t\r]|\r(?!\n)|\ufffd/u;

const [TAB, LF, CR, SPACE, QUOTE, COMMA, DELETE] = [9, 10, 13, 32, 34, 44, 127];

/**
 * Yields the fields of each record, in an array that the next record may reuse. A field that
 * is the same as in the record before is mostly the same string.
 *
 * @param pieces The bytes of a file, in order. The memory of a piece may be reused for the
 * next.
 * @param onControl Called once where there are control characters, which are then shown as
 * pictures, before anything is laid out. Without it they stay.
 * @throws {SyntaxError} For quotes that do not fit.
 */
export function* recordsOf(
  pieces: Iterable<Uint8Array>,
  onControl?: () => void,
): Generator<readonly string[]> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const plain = new PlainFields();
  let isFirst = true;
  let wasControl = false;
  /** The lines of a record whose quotes are not closed yet. */
  let open = "";
  for (const line of linesOf(pieces)) {
    if (open === "" && plain.split(line)) {
      if (plain.fields.length > 0) yield plain.fields;
      isFirst = false;
      continue;
    }
    const text = decoder.decode(line);
    open += `${isFirst ? text.replace(/^\ufeff/, "") : text}\n`;
    isFirst = false;
    if (open.split('"').length % 2 === 0) continue;
    const isControl = onControl !== undefined && CONTROL.test(open);
    if (isControl && !wasControl) onControl();
    wasControl ||= isControl;
    for (const fields of parse(open)) {
      yield isControl ? fields.map(escapeControls) : fields;
    }
    open = "";
  }
  if (open !== "") yield* parse(open);
}

/** The fields of lines of printable ASCII without a quote, which end at commas. */
class PlainFields {
  readonly fields: string[] = [];
  readonly #decoder = new TextDecoder();
  #last = new Uint8Array(1024);

  /** Splits `line`. @returns Whether it could. */
  split(line: Uint8Array): boolean {
    const end = line.at(-1) === CR ? line.length - 1 : line.length;
    const last = this.#last;
    const fields = this.fields;
    let text: string | undefined;
    let count = 0;
    let start = 0;
    /** The bytes that the same field of the line before is further on. */
    let shift = 0;
    let isSame = true;
    for (let i = 0; i <= end; i++) {
      const byte = i < end ? line[i]! : COMMA;
      if (byte !== COMMA) {
        if (isSame && byte === last[i + shift]) continue;
        isSame = false;
        if (byte === QUOTE || byte >= DELETE || byte < SPACE && byte !== TAB) {
          fields.length = 0;
          return false;
        }
        continue;
      }
      const known = fields[count]?.length ?? -1;
      if (!isSame || known !== i - start) {
        text ??= this.#decoder.decode(line.subarray(0, end));
        fields[count] = text.slice(start, i);
      }
      shift += known - (i - start);
      isSame = true;
      start = i + 1;
      count++;
    }
    fields.length = end === 0 ? 0 : count;
    if (last.length < line.length) {
      this.#last = new Uint8Array(2 * line.length);
    }
    this.#last.set(line);
    return true;
  }
}

/** Yields lines without their line feeds. */
function* linesOf(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  /** Of a line that began in an earlier piece. */
  let parts: Uint8Array[] = [];
  for (const piece of pieces) {
    let start = 0;
    let end = piece.indexOf(LF);
    while (end >= 0) {
      const part = piece.subarray(start, end);
      yield parts.length === 0 ? part : joined([...parts, part]);
      parts = [];
      start = end + 1;
      end = piece.indexOf(LF, start);
    }
    if (start < piece.length) parts.push(piece.slice(start));
  }
  if (parts.length > 0) yield joined(parts);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
