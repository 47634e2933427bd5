/**
 * Estimates how long a sweep will still take, from what its workers say.
 *
 * @module
 */

import type { DeviceInfo } from "../bench/device/device.ts";
import type { Case } from "../bench/model/suite.ts";
import { type CaseKey, caseText, keyOf } from "../bench/row/row.ts";
import type { Event } from "../bench/worker/protocol.ts";

/**
 * Bytes of operands that take as long to make, upload and check as a small case takes in all: of
 * recorded runs on an H200 this value fits best (`docs/notes/2026-11-23-fewer-builds.md`).
 */
const BYTES_OF_CASE = 16e6;
/** The same of multiplications and additions, on a CPU; a GPU does as many in a moment. */
const FLOPS_OF_CASE = 1e9;
/** The share of the cases before which rows that waited for a compiler give no estimate. */
const ENOUGH = 0.01;

/** About how long a case takes, in those of small cases. */
export interface Weighed {
  readonly key: CaseKey;
  readonly weight: number;
}

/** Weighs a case by its least work. */
export function weightOf(
  { bytes, flops }: Case["problem"]["work"],
  backend: string,
): number {
  return 1 + bytes / BYTES_OF_CASE +
    (backend === "cpu" ? flops / FLOPS_OF_CASE : 0);
}

/** Weighs `cases` on the device of `info`. */
export function weighed(
  cases: readonly Case[],
  info: DeviceInfo,
): readonly Weighed[] {
  return cases.map((c) => ({
    key: keyOf(c),
    weight: isUnsupported(c, info) ? 0 : weightOf(c.problem.work, c.backend),
  }));
}

function isUnsupported(c: Case, info: DeviceInfo): boolean {
  try {
    return c.unsupported(info) !== undefined;
  } catch {
    // A user's kernel may throw anything: it does so again in the worker, as a row.
    return true;
  }
}

interface Rows {
  seconds: number;
  weight: number;
}

/** The seconds that are left. */
export class Remaining {
  readonly #weights: ReadonlyMap<string, number>;
  readonly #total: number;
  readonly #now: () => number;
  /** Rows of all workers, and those between which nothing was compiled. */
  readonly #all: Rows = { seconds: 0, weight: 0 };
  readonly #clean: Rows = { seconds: 0, weight: 0 };
  #left: number;
  #builds = { since: 0, done: 0, total: 0 };
  /** When the last row came, or the first case began; nothing while a worker starts. */
  #last: number | undefined;
  /** Whether something was compiled since then. */
  #isDirty = false;

  /** @param now Milliseconds since any start. @default {performance.now} */
  constructor(
    cases: readonly Weighed[],
    now: () => number = () => performance.now(),
  ) {
    this.#weights = new Map(
      cases.map(({ key, weight }) => [caseText(key), weight]),
    );
    this.#left = this.#total = cases.reduce((sum, c) => sum + c.weight, 0);
    this.#now = now;
  }

  /** Takes note of `event`. */
  take(event: Event): void {
    const now = this.#now();
    switch (event.event) {
      case "ready":
        this.#last = undefined;
        break;
      case "build": {
        const { done, total } = event;
        this.#isDirty = true;
        const since = done === 0 ? now : this.#builds.since;
        this.#builds = { since, done, total };
        break;
      }
      case "case":
        this.#last ??= now;
        break;
      case "row": {
        const weight = this.#weights.get(caseText(event.row.key)) ?? 0;
        const seconds = (now - (this.#last ?? now)) / 1e3;
        for (const rows of [this.#all, ...this.#isDirty ? [] : [this.#clean]]) {
          rows.seconds += seconds;
          rows.weight += weight;
        }
        this.#left = Math.max(0, this.#left - weight);
        this.#last = now;
        this.#isDirty = this.#builds.done < this.#builds.total;
      }
    }
  }

  /** Leaves out a row that is there already. */
  skip(key: CaseKey): void {
    const weight = this.#weights.get(caseText(key)) ?? 0;
    this.#left = Math.max(0, this.#left - weight);
  }

  /** Seconds until all cases have their rows; nothing while too little is known. */
  get seconds(): number | undefined {
    const isClean = this.#clean.weight > 0;
    const { seconds, weight } = isClean ? this.#clean : this.#all;
    if (!isClean && weight < ENOUGH * this.#total || weight === 0) {
      return undefined;
    }
    // Searches go on while others compile.
    return Math.max(this.#buildSeconds(), this.#left * seconds / weight);
  }

  #buildSeconds(): number {
    const { since, done, total } = this.#builds;
    return done === 0 ? 0 : (this.#now() - since) / 1e3 / done * (total - done);
  }
}
