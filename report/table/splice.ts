/**
 * Tables in a text, between markers that say how they were made:
 * `<!-- mnkbench:begin table ARGS -->` and `<!-- mnkbench:end -->`, each alone on a line.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";

/** A pair of markers. */
export interface Block {
  /** Of the first marker, from 1. */
  readonly line: number;
  /** Of the second marker. */
  readonly end: number;
  /** What stands after `begin`, as a shell would split it. */
  readonly words: readonly string[];
  /** The same as it was written. */
  readonly command: string;
}

const BEGIN = /^\s*<!-- mnkbench:begin\s+(.*?)\s*-->\s*$/;
const END = /^\s*<!-- mnkbench:end -->\s*$/;
const FENCE = /^\s*(```+|~~~+)/;

/**
 * The blocks of `text`. Markers in fenced code are text.
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

/** What stands between the markers of `block` in `text`. */
export function contentOf(text: string, block: Block): string {
  return text.split("\n").slice(block.line, block.end - 1).join("\n")
    .replaceAll("\r", "");
}

/** `text` with `contents` between the markers of `blocks`, line ends as they were. */
export function fillBlocks(
  text: string,
  blocks: readonly Block[],
  contents: readonly string[],
): string {
  const lines = text.split("\n");
  const cr = lines[0]!.endsWith("\r") ? "\r" : "";
  // From the last, so that the lines of those before stay where they are.
  for (const [i, { line, end }] of [...blocks.entries()].toReversed()) {
    const filled = contents[i]!.split("\n").map((content) => `${content}${cr}`);
    lines.splice(line, end - 1 - line, ...filled);
  }
  return lines.join("\n");
}

/**
 * The words of a command, quotes around them taken off; nothing where a quote is open.
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
