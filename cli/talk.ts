/**
 * Where text goes: data to standard output, talk to standard error.
 *
 * @module
 */

/** Writes a line of data. */
export function say(line: string): void {
  console.log(line);
}

/** Writes a line of talk. */
export function tell(line: string): void {
  console.error(line);
}

/** What a stream can show. */
export interface Screen {
  readonly color: boolean;
  /** Columns; infinite where nothing wraps. */
  readonly width: number;
}

/** A standard stream. */
export type Stream = typeof Deno.stdout | typeof Deno.stderr;

const USUAL_WIDTH = 80;

/** What `stream` can show: no colour on a pipe or under `NO_COLOR`. */
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
