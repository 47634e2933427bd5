/**
 * Records the running case in a file. If a kernel kills the program and not only its worker, the next
 * start of the run knows which case to skip.
 *
 * @module
 */

import { integer, minValue, number, object, pipe } from "valibot";
import { onDisk, readIfThere, removeIfThere } from "../bench/files/disk.ts";
import { jsonIn } from "../bench/files/json_file.ts";
import { type CaseKey, caseText } from "../bench/row/row.ts";
import { caseKeySchema } from "../bench/row/row_schema.ts";

/**
 * The number of starts in a row that must end during a case before it is blamed: a single kill may have
 * another cause.
 */
const STARTS = 2;

const beganSchema = object({
  key: caseKeySchema,
  repeat: pipe(number(), integer(), minValue(0)),
  starts: pipe(number(), integer(), minValue(1)),
});

/** A case and repeat during which the program ended, and in how many starts in a row. */
interface Began {
  readonly key: CaseKey;
  readonly repeat: number;
  readonly starts: number;
}

/** The file that names the running case. Disposing it, at a regular end, removes the file. */
export class CurrentCaseFile implements Disposable {
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #forget = () => removeIfThere(this.#path);
  /** The case that was running when the last start was killed; undefined if it was not killed. */
  readonly last: Began | undefined;

  /**
   * @param path A file in the folder of the unfinished run.
   * @param signal Aborted when the user stops the run: no case is recorded after that.
   */
  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
    signal.addEventListener("abort", this.#forget);
    // A damaged file is ignored.
    this.last = jsonIn(beganSchema, readIfThere(path) ?? "");
  }

  /** Returns whether the last case is to blame. */
  get isBlamed(): boolean {
    return (this.last?.starts ?? 0) >= STARTS;
  }

  /** Records that a case begins. @throws {UserError} If the disk fails. */
  begin(key: CaseKey, repeat: number): void {
    if (this.#signal.aborted) return;
    const { last } = this;
    const again = last?.repeat === repeat &&
      caseText(last.key) === caseText(key);
    const began: Began = { key, repeat, starts: again ? last.starts + 1 : 1 };
    // Without fsync: the file must survive the program, not the machine.
    onDisk(
      this.#path,
      () => Deno.writeTextFileSync(this.#path, JSON.stringify(began)),
    );
  }

  [Symbol.dispose](): void {
    // A listener to a signal of AbortSignal.timeout() keeps the program alive.
    this.#signal.removeEventListener("abort", this.#forget);
    this.#forget();
  }
}
