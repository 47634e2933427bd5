/**
 * Repeats a case that failed in a worker that had run other kernels.
 *
 * @module
 */

import { type CaseKey, caseText, RIGHT_ALONE, type Row } from "../row/row.ts";
import type { Event } from "./protocol.ts";

/** A failure in a worker that had run other kernels before, which may have caused it. */
export interface Doubt {
  readonly doubted: CaseKey;
  readonly status: Row["status"];
  /** Whether a config of its search failed, which no row tells of. */
  readonly inSearch: boolean;
  /** Its wrong row, where the worker had run no other kernel that could have caused it. */
  readonly own?: Finished;
}

/** The event of a finished case. */
export type Finished = Extract<Event, { event: "row" }>;

/** New workers in which a case that failed in a used one must be right. */
const REPEATS = 3;

/** The note on a kernel that is wrong only after its own calls at other shapes. */
const OWN_STATE =
  `correct in ${REPEATS} new processes, wrong after calls at other shapes: the kernel keeps state between calls or has a race`;

/** The repeats of a case that failed in a used worker, each in another. */
export class Repeats {
  /** Of its case. */
  readonly key: string;
  /** Whether a config of its search failed. */
  readonly inSearch: boolean;
  readonly #status: Row["status"];
  readonly #own: Finished | undefined;
  readonly #right: Finished[] = [];
  #text: string | undefined;

  constructor({ doubted, status, inSearch, own }: Doubt) {
    this.key = caseText(doubted);
    this.inSearch = inSearch;
    this.#status = status;
    this.#own = own;
  }

  /** Says of its last repeat that all were right; nothing where one was not. */
  get text(): string | undefined {
    return this.#text;
  }

  /**
   * Takes the outcome of a repeat. Returns that of the case, which is the first of those that are
   * right, as this one had the search; undefined where the case is to be repeated once more.
   */
  take(event: Finished): Finished | undefined {
    const { row } = event;
    if (row.status !== "ok" && row.status !== "checked") {
      return this.#right.length === 0 ? event : noted(
        event,
        `right in ${this.#right.length} of ${
          this.#right.length + 1
        } processes of its own`,
      );
    }
    this.#right.push(event);
    // A config that a search lost may be another one than that of the row.
    if (this.#right.length < (this.inSearch ? 1 : REPEATS)) return undefined;
    if (this.#own) return noted(this.#own, OWN_STATE);
    const note = `${this.#status} once, ${RIGHT_ALONE}`;
    const { kernel, m, n, k } = row.key;
    this.#text = `${kernel} at ${m}×${n}×${k}: ${
      this.inSearch ? "a config of its search was " : ""
    }${note}`;
    return this.inSearch ? event : noted(this.#right[0]!, note);
  }
}

/** Returns `event` with `text` in the note of its row. */
function noted(event: Finished, text: string): Finished {
  const note = [event.row.note, text].filter((part) => part !== "").join("; ");
  return { ...event, row: { ...event.row, note } };
}
