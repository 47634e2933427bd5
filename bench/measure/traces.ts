/**
 * Finds what a kernel's calls leave behind: memory, threads, processes, alarms, limits, another
 * floating-point environment, a cache of which part is set aside.
 *
 * @module
 */

import type { Device, Watch } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import { quantile } from "./stats.ts";
import { WrongError } from "./verify.ts";

/** Turns whose memory is compared, and calls in each: as many as take so many nanoseconds. */
const TURNS = 9;
const [LEAST_CALLS, MOST_CALLS] = [8, 256];
const TURN_NS = 20e6;
/** Bytes of a turn that are no leak: allocators keep some, and counts of pages are rough. */
const SLACK = 512 << 10;
/** Turns that leave no more memory in use: then there is no leak. */
const CLEAN = 3;
/**
 * A leak takes the same in most turns: the quartiles are within this factor. Garbage that waits
 * varies more.
 */
const STEADY = 1.25;
/**
 * Bytes that a heap's young generation touches before it uses pages again. What takes less in all
 * turns has more, at most {@linkcode MOST_TURNS}: garbage stops taking memory there.
 */
const YOUNG = 64 << 20;
const MOST_TURNS = 128;

/** An error whose kernel spoilt the process that it ran in: other cases need another. */
class SuspectError extends CaseError {
  /** @param seen What was found, a line each. */
  constructor(seen: readonly string[]) {
    super("wrong", `suspect: ${seen.join("; ")}`);
  }
}

/** Which later cases need a new process: none, those of other kernels, or all. */
export type Spoilt = "for none" | "for others" | "for all";

/** Calls that can be repeated. Slow ones are not looked at. */
export interface Repeated {
  /** Queues `calls` calls. */
  again(): void;
  readonly calls: number;
  /** Nanoseconds of one call. */
  readonly ns: number;
  /** Calls that were timed, and the bytes that they took, by each count. */
  readonly timed?:
    | { readonly calls: number; readonly taken: readonly number[] }
    | undefined;
}

function isClean(taken: readonly number[]): boolean {
  return taken.every((bytes) => bytes <= SLACK);
}

/** Watches the calls of one case. */
export class Traces {
  readonly #watch: Watch | undefined;
  readonly #setAside: number;
  #works: boolean | undefined;

  constructor(
    readonly device: Pick<
      Device,
      "watch" | "used" | "synchronize" | "persisting"
    >,
  ) {
    this.#watch = device.watch?.();
    this.#setAside = this.#persisting();
  }

  /** Ends the first calls, which may start threads that the kernel keeps. */
  warm(): void {
    this.#watch?.warm();
  }

  /**
   * Returns which cases should have another process. What a wrong kernel did beyond its operands
   * is not known. If no damage is seen, its own cases at other shapes may follow.
   *
   * @param error The failure of this one. @default {none}
   */
  spoilt(error?: CaseError): Spoilt {
    // What follows a failed launch in the same context fails for no fault of its own.
    if (error instanceof SuspectError || error?.failure === "launch") {
      return "for all";
    }
    if (this.#left().length > 0) return "for all";
    const watch = this.#watch;
    if (watch === undefined) return "for none";
    const isWrong = error?.failure === "wrong";
    const isContained = error instanceof WrongError && error.contained;
    if (isWrong && !isContained || watch.spoilt() || this.working()) {
      return "for all";
    }
    return isWrong ? "for others" : "for none";
  }

  /** Whether a thread that calls started works on after them. To look takes up to 300 ms: it is done once. */
  working(): boolean {
    return this.#works ??= this.#watch?.working?.() ?? false;
  }

  /** @throws {SuspectError} Where calls left something behind. */
  demandNone(): void {
    const left = this.#left();
    if (left.length > 0) throw new SuspectError(left);
  }

  /** Bytes that are set aside. A context that a kernel ruined does not tell. */
  #persisting(): number {
    try {
      return this.device.persisting?.bytes() ?? 0;
    } catch (error) {
      if (!(error instanceof CaseError)) throw error;
      return 0;
    }
  }

  #left(): readonly string[] {
    const left = this.#watch?.left() ?? [];
    const bytes = this.#persisting();
    return bytes > this.#setAside
      ? [
        ...left,
        `set ${
          Math.ceil(bytes / 1024)
        } KiB of the cache aside for lines that outlast a flush`,
      ]
      : left;
  }

  /**
   * Demands that calls leave as much memory free as they found: those that were timed, or else
   * those of some of several turns.
   *
   * @throws {SuspectError} Where they take memory and give none back.
   */
  demandNoLeak({ again, calls, ns, timed }: Repeated): void {
    const { device } = this;
    const fit = Math.min(MOST_CALLS, Math.floor(TURN_NS / ns));
    if (!device.used || fit < LEAST_CALLS) return;
    const takenBy = (repeats: number) => {
      const before = device.used!();
      for (let i = 0; i < repeats; i++) again();
      device.synchronize();
      return device.used!().map((bytes, i) => bytes - before[i]!);
    };
    if (timed && isClean(timed.taken)) {
      // As many as a turn has.
      const more = Math.max(0, Math.ceil((fit - timed.calls) / calls));
      const taken = more > 0 ? takenBy(more) : [];
      if (isClean(timed.taken.map((bytes, i) => bytes + (taken[i] ?? 0)))) {
        return;
      }
    }
    const repeats = Math.ceil(fit / calls);
    const leakIn = (count: number) => {
      const turns: (readonly number[])[] = [];
      let clean = 0;
      while (turns.length < count) {
        collectGarbage();
        const taken = takenBy(repeats);
        if (isClean(taken) && ++clean === CLEAN) return undefined;
        turns.push(taken);
      }
      return steadyIn(turns);
    };
    let turns = TURNS;
    let leak = leakIn(turns);
    if (leak !== undefined && leak * turns < YOUNG) {
      turns = Math.min(MOST_TURNS, Math.ceil(YOUNG / leak));
      leak = leakIn(turns);
    }
    if (leak === undefined) return;
    const all = repeats * calls;
    throw new SuspectError([
      `leaked about ${
        Math.round(leak / all / 1024)
      } KiB of memory in each of its last ${turns * all} calls`,
    ]);
  }
}

/** The bytes that most of `turns` take, by any count; undefined where they vary or are few. */
function steadyIn(turns: readonly (readonly number[])[]): number | undefined {
  for (const i of turns[0]!.keys()) {
    const taken = turns.map((turn) => turn[i]!).toSorted((a, b) => a - b);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) =>
      quantile(taken, share)
    ) as [number, number, number];
    if (low > SLACK && high <= STEADY * low) return middle;
  }
  return undefined;
}

/**
 * Frees what JavaScript no longer uses, in a worker. The heap of a kernel in TypeScript touches
 * new pages call after call until it is collected, as steadily as a leak.
 */
function collectGarbage(): void {
  (globalThis as { gc?: () => void }).gc?.();
}
