/**
 * Times one case while its inputs, outputs and times are watched.
 *
 * @module
 */

import type { BenchContext, Prepared } from "./context.ts";
import { gainOf, Guard } from "./guard.ts";
import { checkKept, comparable } from "./guard_check.ts";
import type { OperandSet } from "./operands.ts";
import type { Numbers } from "./precision.ts";
import { callsOf } from "./sample_calls.ts";
import { summarize } from "./stats.ts";
import { freshNote, shouldSave, warmNote } from "./suspicion.ts";
import { rotationOf, type Timed, timedOf } from "./timed.ts";
import type { Repeated } from "./traces.ts";
import type { Tolerance } from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";

/** The inputs of a series. */
export interface SeriesOptions {
  readonly context: BenchContext;
  readonly problem: Problem;
  readonly sets: readonly OperandSet[];
  /** A plan for each set. */
  readonly plans: readonly Prepared[];
  readonly tolerance: Tolerance;
  /** The right outputs of the first set. */
  readonly right: readonly Numbers[];
}

/** The samples of a case. */
export class GuardedSeries implements Disposable {
  readonly timed: Timed;
  /** Nanoseconds, in the order in which they were taken. */
  readonly samples: readonly number[];
  /** Its calls, to find leaks by. */
  readonly repeated: Repeated;
  readonly #scope = new DisposableStack();
  readonly #guard: Guard;
  readonly #suspicions: readonly string[];

  /** Takes the samples. @throws {CaseError} As steps and the device do. */
  constructor(readonly options: SeriesOptions) {
    const { context, problem, sets, plans, tolerance, right } = options;
    const { warmup, rep } = context.settings;
    using scope = new DisposableStack();
    this.#guard = scope.use(
      new Guard({
        device: context.device,
        sets,
        plans,
        gain: gainOf(problem, right, tolerance),
        most: comparable(problem, sets.length),
        below: context.below,
        nudge: context.instruments.nudge(),
      }),
    );
    this.timed = scope.use(
      timedOf(context, plans, problem, { around: this.#guard }),
    );
    this.samples = this.timed.sample(warmup, rep);
    this.repeated = {
      again: () => this.timed.again(),
      calls: plans.length,
      ns: summarize(this.samples).median,
      timed: {
        calls: this.samples.length * callsOf(context.settings.timer),
        taken: this.#guard.taken(),
      },
    };
    this.#suspicions = [
      freshNote(this.samples, this.#guard.fresh),
      this.#warmNote(),
    ];
    this.#scope.use(scope.move());
  }

  /** Compares a cold series with a few samples that have their inputs in the cache. */
  #warmNote(): string {
    const { context, problem } = this.options;
    const cold = summarize(this.samples).median;
    const read = {
      bytes: problem.work.bytes,
      calls: callsOf(context.settings.timer),
      cacheBytes: context.device.info.cacheBytes,
      calibration: context.calibration,
    };
    const { cache } = context.settings;
    if (cache === "warm" || rotationOf(context, problem)) return "";
    if (!shouldSave(cold, read)) return "";
    const warm = summarize(this.timed.warm(WARM_SAMPLES)).median;
    return warmNote({ cold, warm }, read);
  }

  /**
   * Compares the outputs that were kept.
   *
   * @throws {CaseError} `wrong`, where one is.
   */
  check(): void {
    const { context, problem, sets, tolerance } = this.options;
    const { below, pulse } = context;
    checkKept({
      ...{ problem, sets, tolerance, below, log: this.#guard.log },
      beat: () => pulse.beat(),
    });
  }

  /** What was not checked, and what times look like; some may be empty. */
  get notes(): readonly string[] {
    return [
      ...this.#guard.notes,
      this.options.context.persisting,
      ...this.#suspicions,
    ];
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

/** Enough for a median: each takes a flush and two calls. */
const WARM_SAMPLES = 32;
