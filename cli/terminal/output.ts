/**
 * Writes data to standard output and messages to standard error.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import type { Row } from "../../bench/row/row.ts";
import { visible, visiblePainted } from "../../bench/files/terminal_text.ts";

/**
 * Writes a line of data. A reader that has gone, as `head` does, had what it wanted.
 *
 * @throws {UserError} Where the line cannot be written, as on a full disk.
 */
export function say(line: string): void {
  sayAsIs(shown(line, Deno.stdout));
}

/**
 * Writes a line as it is, for text that is from no file: NULs separate shell completions.
 *
 * @throws {UserError} As {@linkcode say} does.
 */
export function sayAsIs(line: string): void {
  try {
    console.log(line);
  } catch (error) {
    // With the code of bad surroundings: others say what was found, as `diff` does.
    throw new UserError(
      `Cannot write to standard output: ${
        error instanceof Error ? error.message : error
      }; send it elsewhere`,
    );
  }
}

/** Writes a line of talk. */
export function tell(line: string): void {
  talk(`${shown(line, Deno.stderr)}\n`);
}

/**
 * `text` without what would do anything to who reads it but paint: much of it is from files.
 */
export function shown(text: string, stream: Stream): string {
  return stream.isTerminal() ? visiblePainted(text) : visible(text);
}

/** Writes `text` of talk, as it is; nothing where standard error is closed or full. */
export function talk(text: string): void {
  try {
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  } catch {
    // Talk is for a person who is no longer there, and there is nowhere left to say so:
    // measuring goes on, and what it finds is kept.
  }
}

/** The abilities of a stream. */
export interface Screen {
  readonly color: boolean;
  /** Columns; infinite where nothing wraps. */
  readonly width: number;
}

/** A standard stream. */
export type Stream = typeof Deno.stdout | typeof Deno.stderr;

const USUAL_WIDTH = 80;

/** Returns the abilities of `stream`: no colour on a pipe or under `NO_COLOR`. */
export function screenOf(stream: Stream): Screen {
  const terminal = stream.isTerminal();
  return {
    color: terminal && !Deno.noColor,
    width: terminal ? columns() : Infinity,
  };
}

function columns(): number {
  try {
    // A terminal that was given no size says 0.
    return Deno.consoleSize().columns || USUAL_WIDTH;
  } catch {
    // Standard input, output and error are all something else, or the size is unknown.
    return USUAL_WIDTH;
  }
}

/** Formats `row` as one line of JSON: the columns of the CSV, with numbers as numbers. */
export function jsonRow(row: Row): string {
  const { key, place, provenance, ...outcome } = row;
  const { figures, accuracy, ...plain } = {
    figures: {},
    accuracy: {},
    ...outcome,
  };
  const sizes = { m: Number(key.m), n: Number(key.n), k: Number(key.k) };
  return JSON.stringify({
    ...key,
    ...sizes,
    ...place,
    ...plain,
    ...figures,
    ...accuracy,
    ...provenance,
  });
}
