/**
 * Remembers the case at work, for the next start of a run whose program was killed: a kernel that
 * ends the program, and not its worker alone, must not do so at every start.
 *
 * @module
 */

import { integer, minValue, number, object, pipe } from "valibot";
import { onDisk, readIfThere, removeIfThere } from "../bench/files/disk.ts";
import { jsonIn } from "../bench/files/json_file.ts";
import { type CaseKey, caseText } from "../bench/row/row.ts";
import { caseKeySchema } from "../bench/row/row_schema.ts";

/**
 * A case is blamed after this many starts in a row were killed during it; one kill may have another
 * cause.
 */
const STARTS = 2;

const beganSchema = object({
  key: caseKeySchema,
  repeat: pipe(number(), integer(), minValue(0)),
  starts: pipe(number(), integer(), minValue(1)),
});

/** A case of a repeat during which the program ended, in so many starts in a row. */
interface Began {
  readonly key: CaseKey;
  readonly repeat: number;
  readonly starts: number;
}

/** The file that names the case at work. Dispose it where the program ends by itself. */
export class CurrentCaseFile implements Disposable {
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #forget = () => removeIfThere(this.#path);
  /** The case at work when the last start was killed; missing where it was not. */
  readonly last: Began | undefined;

  /**
   * @param path A file that lives as long as the run is unfinished.
   * @param signal Aborted where somebody stops the run: no case is to blame for what follows.
   */
  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
    signal.addEventListener("abort", this.#forget);
    // A damaged one says nothing.
    this.last = jsonIn(beganSchema, readIfThere(path) ?? "");
  }

  /** Returns whether the last case is to blame. */
  get isBlamed(): boolean {
    return (this.last?.starts ?? 0) >= STARTS;
  }

  /** Notes that a case begins. @throws {UserError} Where the disk refuses. */
  begin(key: CaseKey, repeat: number): void {
    if (this.#signal.aborted) return;
    const { last } = this;
    const again = last?.repeat === repeat &&
      caseText(last.key) === caseText(key);
    const began: Began = { key, repeat, starts: again ? last.starts + 1 : 1 };
    // Not waited for: it is for a program that is killed, not for a machine.
    onDisk(
      this.#path,
      () => Deno.writeTextFileSync(this.#path, JSON.stringify(began)),
    );
  }

  [Symbol.dispose](): void {
    // A signal of AbortSignal.timeout() keeps the program alive while somebody listens.
    this.#signal.removeEventListener("abort", this.#forget);
    this.#forget();
  }
}
