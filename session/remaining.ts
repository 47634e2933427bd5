/**
 * Estimates how long a sweep will still take, from what its workers say.
 *
 * @module
 */

import type { DeviceInfo } from "../bench/device/device.ts";
import type { Case } from "../bench/model/suite.ts";
import { type CaseKey, caseText, kernelText, keyOf } from "../bench/row/row.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { callSuite, supportOf } from "./suite_calls.ts";

/**
 * Bytes of operands that take as long to make, upload and check as a small case takes in all: of
 * recorded runs on an H200 this value fits best (`docs/notes/2026-11-23-fewer-builds.md`).
 */
const BYTES_OF_CASE = 16e6;
/** The same of multiplications and additions, on a CPU; a GPU does as many in a moment. */
const FLOPS_OF_CASE = 1e9;
/** The share of the cases before which rows that waited for a compiler give no estimate. */
const ENOUGH = 0.01;

/**
 * Calls of a slow kernel for one row: estimate, warm-up, samples and checks have a least number of
 * them. Of 112 rows on a CPU whose kernels take up to 0.6 s, each took 16 to 19.
 */
const CALLS = 19;

/** About how long a case takes without its calls, in those of small cases. */
export interface CaseWeight {
  readonly key: CaseKey;
  readonly weight: number;
  /** Those of a call, which takes so much longer at a larger shape. */
  readonly flops: number;
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
): readonly CaseWeight[] {
  return callSuite(() =>
    cases.map((c) => ({
      key: keyOf(c),
      weight: supportOf(c, info) === "runs"
        ? weightOf(c.problem.work, c.backend)
        : 0,
      flops: c.problem.work.flops,
    }))
  );
}

interface Rows {
  /** Without the calls of their kernels. */
  seconds: number;
  weight: number;
}

/** Seconds of a kernel's call as a line over its flops, neither part of which is negative. */
class CallTime {
  #count = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #xy = 0;

  add(flops: number, seconds: number): void {
    this.#count++;
    this.#x += flops;
    this.#y += seconds;
    this.#xx += flops * flops;
    this.#xy += flops * seconds;
  }

  /** The seconds of a call of `flops`; those of the mean while all calls had the same. */
  at(flops: number): number {
    const apart = this.#count * this.#xx - this.#x ** 2;
    const mean = this.#y / this.#count;
    if (!(apart > 1e-9 * this.#count * this.#xx)) return mean;
    const slope = Math.max(
      0,
      (this.#count * this.#xy - this.#x * this.#y) / apart,
    );
    const start = mean - slope * this.#x / this.#count;
    return start < 0 ? this.#xy / this.#xx * flops : start + slope * flops;
  }
}

/** The seconds that are left. */
export class Remaining {
  /** The cases, and how many rows of each are missing. */
  readonly #open: ReadonlyMap<
    string,
    { readonly one: CaseWeight; rows: number }
  >;
  readonly #total: number;
  readonly #now: () => number;
  /** Rows of all workers, and those between which nothing was compiled. */
  readonly #all: Rows = { seconds: 0, weight: 0 };
  readonly #clean: Rows = { seconds: 0, weight: 0 };
  readonly #calls = new Map<string, CallTime>();
  #left: number;
  #builds = { since: 0, done: 0, total: 0 };
  /** When the last row came, or the first case began; nothing while a worker starts. */
  #last: number | undefined;
  /** Whether something was compiled since then. */
  #isDirty = false;

  /** @param now Milliseconds since any start. @default {performance.now} */
  constructor(
    cases: readonly CaseWeight[],
    now: () => number = () => performance.now(),
  ) {
    this.#open = new Map(
      [...Map.groupBy(cases, ({ key }) => caseText(key))].map((
        [text, alike],
      ) => [text, { one: alike[0]!, rows: alike.length }]),
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
        const { row } = event;
        const { weight, flops } = this.#take(row.key) ?? NOTHING;
        const call = row.status === "ok" ? row.figures.median_us / 1e6 : 0;
        const kernel = kernelText(row.key);
        if (call > 0) {
          const calls = this.#calls.get(kernel) ?? new CallTime();
          calls.add(flops, call);
          this.#calls.set(kernel, calls);
        }
        const spent = (now - (this.#last ?? now)) / 1e3;
        const seconds = Math.max(0, spent - CALLS * call);
        for (const rows of [this.#all, ...this.#isDirty ? [] : [this.#clean]]) {
          rows.seconds += seconds;
          rows.weight += weight;
        }
        this.#last = now;
        this.#isDirty = this.#builds.done < this.#builds.total;
      }
    }
  }

  /** Leaves out a row that is there already. */
  skip(key: CaseKey): void {
    this.#take(key);
  }

  /** Takes a row of a case from those that are missing; nothing where none is. */
  #take(key: CaseKey): CaseWeight | undefined {
    const open = this.#open.get(caseText(key));
    if (!open || open.rows === 0) return undefined;
    open.rows--;
    this.#left = Math.max(0, this.#left - open.one.weight);
    return open.one;
  }

  /** Seconds until all cases have their rows; nothing while too little is known. */
  get seconds(): number | undefined {
    const isClean = this.#clean.weight > 0;
    const { seconds, weight } = isClean ? this.#clean : this.#all;
    if (!isClean && weight < ENOUGH * this.#total || weight === 0) {
      return undefined;
    }
    // Searches go on while others compile.
    return Math.max(
      this.#buildSeconds(),
      this.#left * seconds / weight + this.#callSeconds(),
    );
  }

  /** Seconds of the calls of all rows that are missing, of kernels that have a row. */
  #callSeconds(): number {
    let sum = 0;
    for (const { one: { key, weight, flops }, rows } of this.#open.values()) {
      const calls = this.#calls.get(kernelText(key));
      if (weight > 0 && calls) sum += rows * CALLS * calls.at(flops);
    }
    return sum;
  }

  #buildSeconds(): number {
    const { since, done, total } = this.#builds;
    return done === 0 ? 0 : (this.#now() - since) / 1e3 / done * (total - done);
  }
}

const NOTHING = { weight: 0, flops: 0 };
