/**
 * Finds and fills the tables of a text, which stand between markers with their command:
 * `<!-- mnkbench:begin table ARGS -->` and `<!-- mnkbench:end -->`, each alone on a line.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";

/** A pair of markers. */
export interface Block {
  /** The line of the first marker, from 1. */
  readonly line: number;
  /** The line of the second marker. */
  readonly end: number;
  /** The words after `begin`, split as a shell does. */
  readonly words: readonly string[];
  /** The text after `begin`. */
  readonly command: string;
}

const BEGIN = /^\s*<!-- mnkbench:begin\s+(.*?)\s*-->\s*$/;
const END = /^\s*<!-- mnkbench:end -->\s*$/;
const FENCE = /^\s*(```+|~~~+)/;

/**
 * Finds the blocks of `text`. Markers in fenced code are text.
 *
 * @param file Named in errors.
 * @throws {UserError} For a marker without its other half, and where there is none.
 */
export function findBlocks(text: string, file: string): Block[] {
  const blocks: Block[] = [];
  let open: Omit<Block, "end"> | undefined;
  let fence: string | undefined;
  const refuse = (line: number, why: string): never => {
    throw new UserError(`Cannot splice ${file}: line ${line} ${why}`);
  };
  for (const [i, content] of text.split("\n").entries()) {
    const line = i + 1;
    const mark = FENCE.exec(content)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
    }
    if (fence !== undefined) continue;
    const command = BEGIN.exec(content)?.[1];
    if (command !== undefined) {
      if (open) {
        refuse(
          line,
          `begins a table inside that of line ${open.line}: end it before`,
        );
      }
      const words = splitWords(command) ??
        refuse(line, "has a quote that is not closed: close it");
      open = { line, words, command };
    } else if (END.test(content)) {
      if (!open) refuse(line, "ends a table that was not begun: take it out");
      else blocks.push({ ...open, end: line });
      open = undefined;
    }
  }
  if (open) {
    refuse(
      open.line,
      "begins a table that does not end: add <!-- mnkbench:end -->",
    );
  }
  if (blocks.length > 0) return blocks;
  throw new UserError(
    `Cannot splice ${file}: no line has a marker; add <!-- mnkbench:begin table results --> and <!-- mnkbench:end --> on lines of their own`,
  );
}

/** Returns the lines of `text` between the markers of `block`. */
export function contentOf(text: string, block: Block): string {
  return text.split("\n").slice(block.line, block.end - 1).join("\n")
    .replaceAll("\r", "");
}

/** Returns `text` with `contents` between the markers of `blocks`; line ends are kept. */
export function fillBlocks(
  text: string,
  blocks: readonly Block[],
  contents: readonly string[],
): string {
  const lines = text.split("\n");
  const cr = lines[0]!.endsWith("\r") ? "\r" : "";
  // Starts at the last block, so that the lines of earlier blocks do not move.
  for (const [i, { line, end }] of [...blocks.entries()].toReversed()) {
    const filled = contents[i]!.split("\n").map((content) => `${content}${cr}`);
    lines.splice(line, end - 1 - line, ...filled);
  }
  return lines.join("\n");
}

/**
 * Splits a command into words without their quotes; undefined where a quote is open.
 *
 * @example
 * ```ts
 * import { splitWords } from "./splice.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(splitWords("table 'my results' --wins"), ["table", "my results", "--wins"]);
 * ```
 */
export function splitWords(command: string): string[] | undefined {
  const words: string[] = [];
  const rest = command.replaceAll(
    /\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)/g,
    (_, word: string) => {
      words.push(word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
      return "";
    },
  );
  return rest.trim() === "" ? words : undefined;
}
