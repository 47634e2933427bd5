/**
 * Prepares plans for the settings' timer: launches, a replayed graph, a batch, a chain.
 *
 * @module
 */

import type { Backend, DeviceInfo } from "../device/device.ts";
import type { Step } from "../device/queue.ts";
import type { BenchContext, Prepared } from "./context.ts";
import { callsOf, sampleOf } from "./sample_calls.ts";
import { type Around, isSlow } from "./time.ts";
import { roomOfSet } from "./operands.ts";
import { CaseError } from "../model/errors.ts";
import { storedBytes } from "../model/problem.ts";
import {
  recordsTimes,
  type Settings,
  startsEarly,
  type Timer,
  usesGraph,
  usesTimer,
} from "../model/settings.ts";
import type { Problem } from "../model/suite.ts";

/** Plans that are ready to be timed. */
export interface Timed extends Disposable {
  /** Nanoseconds of each sample of a whole series, estimate and warm-up before it. */
  sample(warmup: number, rep: number): number[];
  /** Nanoseconds of exactly `count` samples. */
  take(count: number): number[];
  /** Nanoseconds of one call, what makes the cache cold included, over `count` calls. */
  estimate(count: number): number;
  /** Nanoseconds of `count` samples, each with what it reads in the cache. */
  warm(count: number): number[];
  /** Queues the timed work once more for every set, by the same path but without a flush. */
  again(): void;
}

/** Returns the number of distinct input sets that one sample reads, or that the samples rotate over. */
export function setsOf(context: Rotated, problem: Operanded): number {
  const calls = callsOf(context.settings.timer);
  return calls > 1 ? calls : rotationOf(context, problem)?.sets ?? 1;
}

/** The most bytes of all copies of the operands of a case. */
const MOST_COPIED = 1 << 27;

/**
 * Returns the number of copies of one input set that the samples rotate over, so that the time does not
 * depend on one place in memory. It is 1 if the backend's times do not depend on places, or if
 * there are several sets.
 */
export function copiesOf(context: Rotated, problem: Operanded): number {
  const { settings, options: { backend: { placement } } } = context;
  if (!placement || !recordsTimes(settings)) return 1;
  if (settings.cache !== "cold") return 1;
  if (setsOf(context, problem) > 1) return 1;
  const one = roomOfSet(problem.operands, placement.pageBytes);
  const fit = Math.floor(MOST_COPIED / one);
  return Math.max(1, Math.min(placement.copies, fit));
}

/** Options of {@linkcode timedOf}. */
export interface TimedOptions {
  readonly around?: Around;
  /** Whether another kernel will run at the config of this one. @default {false} */
  readonly led?: boolean;
}

/**
 * Prepares `plans` for the timer of the settings.
 *
 * @param plans One for each of {@linkcode setsOf}, or for each of {@linkcode copiesOf}.
 * @throws {CaseError} `unsupported`, if the timer needs a graph and no graph can hold them.
 */
export function timedOf(
  context: BenchContext,
  plans: readonly Prepared[],
  problem: Problem,
  { around, led = false }: TimedOptions = {},
): Timed {
  const { stopwatch, settings } = context;
  const { precision } = settings;
  const scope = new DisposableStack();
  const rotation = rotationOf(context, problem);
  const flush = rotation?.enough ? () => {} : context.flush;
  const calls = callsOf(settings.timer);
  const turns = turnsOf(
    calls > 1
      ? [runOf(context, plans, { scope, led })]
      : plans.map((plan) => runOf(context, [plan], { scope, led })),
  );
  const { run } = turns;
  let wait = false;
  const shared = (ns: readonly number[]) => ns.map((x) => x / calls);
  around?.watch({
    fromNow: calls > 1 ? () => () => plans.map((_, i) => i) : turns.fromNow,
    ...(settings.cache === "warm" ? { settle: run } : {}),
  });
  const watched = around ? { around } : {};
  return {
    sample: (warmup, rep) =>
      shared(
        stopwatch.sample({ run, flush, warmup, rep, precision, ...watched }),
      ),
    take: (count) => shared(stopwatch.take(count, { run, flush, wait })),
    warm(count) {
      const first = () => {
        flush();
        turns.peek();
      };
      return shared(stopwatch.take(count, { run, flush: first, wait }));
    },
    estimate(count) {
      const all = () => {
        for (let i = 0; i < count; i++) {
          flush();
          run();
        }
      };
      const [total] = stopwatch.take(1, { run: all, flush: () => {} });
      wait = isSlow(total! / count);
      if (wait) stopwatch.alive();
      return total! / count;
    },
    again() {
      // As many calls as plans: each plan has one, whichever is next.
      for (let i = 0; i < plans.length / calls; i++) run();
    },
    [Symbol.dispose]: () => scope.dispose(),
  };
}

/** Calls `runs` in turn, starting with the first. */
function turnsOf(runs: readonly (() => void)[]) {
  let next = 0;
  const peek = () => runs[next % runs.length]!();
  return {
    /** Calls the next one without advancing. */
    peek,
    run() {
      peek();
      next++;
    },
    fromNow() {
      const first = next;
      return (index: number) => [(first + index) % runs.length];
    },
  };
}

function runOf(
  { settings: { timer }, device, options }: BenchContext,
  plans: readonly Prepared[],
  { scope, led }: { scope: DisposableStack; led: boolean },
): () => void {
  if (usesGraph(timer) && device.capture) {
    refuseUngraphable(timer, plans[0]!.plan.steps, led);
  }
  const calls = plans.map((plan) => (early: boolean) => plan.run(early));
  return sampleOf(timer, { device, api: options.backend.name, calls }, scope);
}

/** @throws {CaseError} `unsupported`, where a graph for `timer` cannot hold `steps`. */
function refuseUngraphable(
  timer: Timer,
  steps: readonly Step[],
  led: boolean,
): void {
  const step = steps.find((s) => !s.capturable);
  if (step) {
    throw new CaseError(
      "unsupported",
      `A graph cannot hold ${step.label}: time with --timer do_bench`,
    );
  }
  const [first] = steps;
  // With `led`, another kernel that does wait will run at this config.
  if (!startsEarly(timer) || first?.early || led) return;
  throw new CaseError(
    "unsupported",
    `${
      first?.label ?? "It"
    } does not wait for the call before it (waits in its shape), as ${timer} needs: time with --timer ${
      timer.replace(":pdl", "")
    }`,
  );
}

type Operanded = Pick<Problem, "operands">;

/** Returns the bytes of the inputs of a problem. */
export function bytesOfInputs({ operands }: Operanded): number {
  return operands.filter(({ role }) => role === "in").reduce(
    (sum, operand) => sum + storedBytes(operand),
    0,
  );
}

/** A rotation over sets of operands, which replaces the flush. */
export interface Rotation {
  readonly sets: number;
  /** Bytes that are read between two uses of a set. */
  readonly bytes: number;
  /** True if `bytes` are at least those of a flush; else each sample is flushed too. */
  readonly enough: boolean;
}

/** The most sets: more would take longer to make than to measure. */
const MOST_SETS = 256;

/** The parts of a context that {@linkcode rotationOf} reads. */
export interface Rotated {
  readonly settings: Pick<
    Settings,
    "timer" | "cache" | "checkOnly" | "once" | "tune"
  >;
  readonly device: { readonly info: Pick<DeviceInfo, "flushBytes"> };
  readonly options: {
    readonly backend: Pick<Backend, "rotates" | "placement">;
  };
}

/** Returns the rotation over sets of operands of `problem`; undefined if there is none. */
export function rotationOf(
  { settings, device, options }: Rotated,
  { operands }: Operanded,
): Rotation | undefined {
  const { timer, cache } = settings;
  if (!options.backend.rotates || !usesTimer(settings)) return undefined;
  if (cache !== "cold" || timer !== "do_bench") return undefined;
  const one = bytesOfInputs({ operands });
  const { flushBytes } = device.info;
  const sets = Math.min(MOST_SETS, 1 + Math.ceil(flushBytes / one));
  const bytes = (sets - 1) * one;
  return { sets, bytes, enough: bytes >= flushBytes };
}
