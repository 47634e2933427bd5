/**
 * Prepares plans for the settings' timer: launches, a replayed graph, a batch, a chain.
 *
 * @module
 */

import type { Backend, DeviceInfo } from "../device/device.ts";
import type { Step } from "../device/queue.ts";
import type { BenchContext, Prepared } from "./context.ts";
import { callsOf, sampleOf, startsEarly } from "./sample_calls.ts";
import { type Around, isSlow } from "./time.ts";
import { BYTES } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import { elementsOf } from "../model/problem.ts";
import { type Settings, type Timer, usesGraph } from "../model/settings.ts";
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
  /** Queues what is timed once more, for every set: by the same path, but unflushed. */
  again(): void;
}

/** Distinct sets of inputs that one sample reads, or that take turns. */
export function setsOf(
  context: Pick<BenchContext, "settings" | "device" | "options">,
  problem: Problem,
): number {
  const calls = callsOf(context.settings.timer);
  return calls > 1 ? calls : rotationOf(context, problem)?.sets ?? 1;
}

/** The circumstances of a timing. */
export interface TimedOptions {
  readonly around?: Around;
  /** Whether another kernel is to run at the config of this one. @default {false} */
  readonly led?: boolean;
}

/**
 * `plans`, one for each of {@linkcode setsOf}, by the timer of the settings.
 *
 * @throws {CaseError} `unsupported`, where no graph can hold them and one is to.
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
  const turns = turnsOf(plans);
  const run = rotation ? turns.run : runOf(context, plans, { scope, led });
  const calls = rotation ? 1 : plans.length;
  let wait = false;
  const shared = (ns: readonly number[]) => ns.map((x) => x / calls);
  around?.watch({
    used: rotation ? turns.used : () => plans.map((_, i) => i),
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
      const again = () => {
        flush();
        run();
      };
      return shared(stopwatch.take(count, { run, flush: again, wait }));
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
      // Of those that take turns each has one, whichever is next.
      for (let i = 0; i < plans.length / calls; i++) run();
    },
    [Symbol.dispose]: () => scope.dispose(),
  };
}

/** Runs one of `plans` a call, each in its turn, the first one first. */
function turnsOf(plans: readonly Prepared[]) {
  let next = 0;
  return {
    run() {
      plans[next++ % plans.length]!.run();
    },
    /** The plan of the call that comes after the next `later` ones. */
    used: (later: number) => [(next + later) % plans.length],
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
  // A kernel that waits may run at the config of one that does not.
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

/** Returns the bytes of the inputs of a problem. */
export function bytesOfInputs({ operands }: Pick<Problem, "operands">): number {
  return operands.filter(({ role }) => role === "in").reduce(
    (sum, operand) => sum + elementsOf(operand) * BYTES[operand.type],
    0,
  );
}

/** The rotation of sets of operands. */
export interface Rotation {
  readonly sets: number;
  /** Bytes that are read between two uses of one. */
  readonly bytes: number;
  /** True if the sets are as large as a flush; else there is a flush too. */
  readonly enough: boolean;
}

/** More sets would take longer to make than to measure. */
const MOST_SETS = 256;

/** The inputs of a rotation. */
export interface Rotated {
  readonly settings: Pick<
    Settings,
    "timer" | "cache" | "checkOnly" | "once"
  >;
  readonly device: { readonly info: Pick<DeviceInfo, "flushBytes"> };
  readonly options: { readonly backend: Pick<Backend, "rotates"> };
}

/** Returns the rotation of the operands of `problem`, if they rotate. */
export function rotationOf(
  { settings, device, options }: Rotated,
  { operands }: Pick<Problem, "operands">,
): Rotation | undefined {
  const { timer, cache, checkOnly, once } = settings;
  const timed = !checkOnly && !once;
  if (!options.backend.rotates || !timed) return undefined;
  if (cache !== "cold" || timer !== "do_bench") return undefined;
  const one = bytesOfInputs({ operands });
  const { flushBytes } = device.info;
  const sets = Math.min(MOST_SETS, 1 + Math.ceil(flushBytes / one));
  const bytes = (sets - 1) * one;
  return { sets, bytes, enough: bytes >= flushBytes };
}
