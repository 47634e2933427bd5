/**
 * Finds what a kernel's calls leave behind: memory, threads, processes, alarms, limits, another
 * floating-point environment.
 *
 * @module
 */

import type { Device, Watch } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";

/** Turns whose memory is compared, and calls in each: as many as take so many nanoseconds. */
const TURNS = 5;
const [LEAST_CALLS, MOST_CALLS] = [8, 64];
const TURN_NS = 20e6;
/** Bytes of a turn that are no leak: allocators keep some, and counts of pages are rough. */
const SLACK = 512 << 10;
/** A leak takes the same in each turn; what a garbage collector has not freed yet varies more. */
const STEADY = 1.5;

/** An error whose kernel spoilt the process that it ran in: other cases need another. */
export class SuspectError extends CaseError {
  /** @param seen What was found, a line each. */
  constructor(seen: readonly string[]) {
    super("wrong", `suspect: ${seen.join("; ")}`);
  }
}

/** Watches the calls of one case. */
export class Traces {
  readonly #watch: Watch | undefined;

  constructor(
    readonly device: Pick<Device, "watch" | "used" | "synchronize">,
  ) {
    this.#watch = device.watch?.();
  }

  /** Ends the first calls, which may start threads that the kernel keeps. */
  warm(): void {
    this.#watch?.warm();
  }

  /** Returns whether calls left something behind. */
  any(): boolean {
    return (this.#watch?.left() ?? []).length > 0;
  }

  /** @throws {SuspectError} Where calls left something behind. */
  demandNone(): void {
    const left = this.#watch?.left() ?? [];
    if (left.length > 0) throw new SuspectError(left);
  }

  /**
   * Calls `again` in turns, one of which must leave as much memory free as it found.
   *
   * @param ns Nanoseconds that one call takes. Slow calls are not looked at.
   * @throws {SuspectError} Where all take memory and give none back.
   */
  demandNoLeak(again: () => void, ns: number): void {
    const { device } = this;
    const calls = Math.min(MOST_CALLS, Math.floor(TURN_NS / ns));
    if (!device.used || calls < LEAST_CALLS) return;
    const turns: number[] = [];
    while (turns.length < TURNS) {
      const before = device.used();
      for (let i = 0; i < calls; i++) again();
      device.synchronize();
      const taken = device.used() - before;
      if (taken <= SLACK) return;
      turns.push(taken);
    }
    const [least, most] = [Math.min(...turns), Math.max(...turns)];
    if (most > STEADY * least) return;
    throw new SuspectError([
      `leaked about ${
        Math.round(least / calls / 1024)
      } KiB of memory in each of its last ${TURNS * calls} calls`,
    ]);
  }
}
