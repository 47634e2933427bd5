/**
 * Runs one case: bind, choose, build, check, time, recheck. Records its provenance.
 *
 * @module
 */

import type { Built } from "../device/binary_cache.ts";
import { hashOf } from "../files/hash.ts";
import type { Telemetry } from "../device/device.ts";
import { otherPoison, worse } from "./assert_close.ts";
import type { BenchContext, Prepared } from "./context.ts";
import { checkFenced } from "./fenced.ts";
import { clausesOf } from "./clauses.ts";
import { aboveSolNote, figuresOf } from "./figures.ts";
import { reachOf } from "./time.ts";
import { GuardedSeries } from "./guarded.ts";
import { changedAt, fillPadding, type OperandSet } from "./operands.ts";
import { bytesOfInputs, copiesOf, rotationOf, setsOf } from "./timed.ts";
import { callsOf } from "./sample_calls.ts";
import { type Spoilt, Traces } from "./traces.ts";
import {
  bitsAsked,
  recheck,
  toleranceNote,
  verify,
  WrongError,
} from "./verify.ts";
import { CaseError } from "../model/errors.ts";
import { formatValues } from "../model/grid.ts";
import { recordsTimes } from "../model/settings.ts";
import { type Case, type Problem, reasonAgainst } from "../model/suite.ts";
import {
  type Accuracy,
  keyOf,
  loweredBy,
  type Provenance,
  type Row,
  type RowBase,
  SCHEMA,
} from "../row/row.ts";
import type { Choice } from "../tune/config_book.ts";
import { choose } from "../tune/search.ts";

/** The row of a case, and its samples in nanoseconds, in the order in which they were taken. */
export interface Outcome {
  readonly row: Row;
  readonly samples?: readonly number[];
  /** Which of the cases that follow need another process. */
  readonly spoilt: Spoilt;
}

/** The note on a kernel with a thread that runs between calls. */
const COMPUTES_AHEAD =
  "suspect: a thread that it started works on between its calls: results may be computed ahead";

/** A case that is being run. Its methods are called in the order in which they are defined. */
class CaseRun implements Disposable {
  readonly #scope = new DisposableStack();
  #sets: readonly OperandSet[] = [];
  #choice: Choice | undefined;
  #plans: readonly Prepared[] = [];
  #accuracy: Accuracy | undefined;
  #series: GuardedSeries | undefined;
  #telemetry: Telemetry = {};
  #fenceNote = "";
  readonly #traces: Traces;

  constructor(readonly c: Case, readonly context: BenchContext) {
    this.#traces = new Traces(context.device);
  }

  /** @throws {CaseError} `unsupported`, with the kernel's reason. */
  demandSupport(): void {
    const reason = reasonAgainst(this.c, this.context.device.info);
    if (reason !== undefined) throw new CaseError("unsupported", reason);
  }

  /** Makes the operands, or takes those of the previous case if it has the same problem. */
  bind(): void {
    const { c: { problem }, context } = this;
    const { emit } = context.options;
    const isNew = !context.hasOperands(problem);
    // To generate them takes seconds, which is no fault of the kernel.
    if (isNew) emit({ event: "progress", note: "inputs" });
    this.#sets = context.ledger.count("check", () => {
      const copies = copiesOf(context, problem);
      return copies > 1
        ? context.operands(problem, copies, true)
        : context.operands(problem, setsOf(context, problem));
    });
    if (isNew) emit({ event: "progress", note: "" });
  }

  /** Chooses the config. @throws {CaseError} As {@linkcode choose} does. */
  async choose(): Promise<void> {
    this.#choice = await choose(this.c, this.context);
    // The search drops the operands if it finds a wrong config.
    this.bind();
  }

  /** Prepares a plan for each set of operands. */
  async build(): Promise<void> {
    const { config } = this.#choice!;
    const plans: Prepared[] = [];
    // In sequence: the first builds the binaries that the others use.
    for (const { memory } of this.#sets) {
      const options = { config, operands: memory };
      plans.push(this.#scope.use(await this.context.prepare(this.c, options)));
    }
    this.#plans = plans;
  }

  /**
   * Runs each plan on poisoned outputs, the first plan twice, and compares the outputs of the first.
   * Its second run has a different poison, so that a kernel that recognises the first one is
   * checked without it too.
   *
   * @throws {CaseError} `wrong`, if an element is wrong.
   */
  async check(): Promise<void> {
    this.#accuracy = await this.context.ledger.count(
      "check",
      () => this.#compare(),
    );
    this.#traces.warm();
  }

  /**
   * Checks that the calls left nothing behind.
   *
   * @throws {CaseError} `wrong`, if they leaked memory or changed state that cases share.
   */
  demandNoTraces(): void {
    const series = this.#series;
    if (series) {
      this.context.ledger.count(
        "check",
        () => this.#traces.demandNoLeak(series.repeated),
      );
    }
    this.#traces.demandNone();
  }

  async #compare(): Promise<Accuracy> {
    const { c, context } = this;
    const { config } = this.#choice!;
    const [set] = context.operands(c.problem);
    const [first, ...others] = this.#plans;
    const once = (poison?: number) => {
      set!.poison(poison);
      first!.run();
      context.device.synchronize();
      context.pulse.beat();
    };
    const asked = { context, set: set!, config };
    // First, as later runs may write outside their operands. `once` means one call of the kernel: a
    // profiler would list a second one, and a debugger stop at the faults that the fence handles.
    if (!context.settings.once) {
      this.#fenceNote = await checkFenced(c, asked);
    }
    once();
    const stored = set!.outputs();
    const accuracy = await verify(c, { ...asked, stored, when: "" });
    if (context.settings.once) return accuracy;
    for (const plan of others) {
      plan.run();
      context.pulse.beat();
    }
    const other = otherPoison(context.below);
    once(other);
    const deterministic = set!.outs.every(({ operand, part }, i) =>
      changedAt(part, fillPadding(operand, stored[i]!.bytes, other)) < 0
    );
    if (deterministic) return { ...accuracy, deterministic };
    const again = await verify(c, { ...asked, when: "on its second run, " });
    return { ...worse(accuracy, again), deterministic };
  }

  /** Raises the clocks and takes the samples by the timer of the settings. */
  async time(): Promise<void> {
    const { c, context } = this;
    const { values } = await context.reference(c.problem);
    const { warmup, rep } = context.settings;
    this.#series?.[Symbol.dispose]();
    context.warm();
    // The guard expects poison in all outputs, also after an earlier series.
    for (const set of this.#sets) set.poison();
    // Resets the telemetry: only what happens during the samples counts.
    context.device.telemetry?.();
    const { config } = this.#choice!;
    context.ledger.count("time", () => {
      context.ledger.ask(warmup + rep);
      this.#series = this.#scope.use(
        new GuardedSeries({
          context,
          problem: c.problem,
          sets: this.#sets,
          plans: this.#plans,
          tolerance: c.tolerance?.(config) ?? c.problem.tolerance,
          right: values,
          bits: bitsAsked(c),
        }),
      );
    });
    // Read here, as the clocks fall during the check that follows.
    this.#telemetry = context.device.telemetry?.() ?? {};
  }

  /** Returns whether the device lowered its clocks while the samples were taken. */
  wasSlowed(): boolean {
    return loweredBy(this.#telemetry.throttle ?? "") !== "";
  }

  /** Compares the outputs that timing left. @throws {CaseError} `wrong`, if one is wrong. */
  async recheck(): Promise<void> {
    const { c, context } = this;
    const series = this.#series!;
    context.ledger.count("check", () => series.check());
    const after = await context.ledger.count("check", () =>
      recheck(c, {
        context,
        sets: this.#sets,
        config: this.#choice!.config,
        timed: series.timed,
      }));
    const accuracy = this.#accuracy!;
    this.#accuracy = { ...accuracy, ...worse(accuracy, after) };
  }

  /** Makes the row of a case that was only checked. */
  checked(): Outcome {
    const row = this.#row(this.#notes());
    return {
      row: { ...row, status: "checked", accuracy: this.#accuracy! },
      spoilt: this.#traces.spoilt(),
    };
  }

  /** Makes the row of a timed case, with its figures. */
  timed(): Outcome {
    const { c, context } = this;
    const { samples } = this.#series!;
    const figures = figuresOf(c.problem, samples, {
      calibration: context.calibration,
      timer: context.settings.timer,
    });
    const notes = this.#notes();
    if (figures.median_us < 1.1 * figures.floor_us) {
      notes.push("within 10 % of the launch overhead");
    }
    const { precision = Infinity } = context.settings;
    const reach = precision < Infinity ? reachOf(samples) : 0;
    if (reach > precision) {
      notes.push(
        `known to ${percent(reach)}, asked ${percent(precision)}: raise --rep`,
      );
    }
    if (this.wasSlowed()) {
      notes.push(
        `measured twice, as the device lowered its clocks: ${
          loweredBy(this.#telemetry.throttle!)
        }`,
      );
    }
    notes.push(aboveSolNote(figures, context.settings.cache));
    if (this.#traces.working()) notes.push(COMPUTES_AHEAD);
    const accuracy = this.#accuracy!;
    const base = this.#row(notes);
    const provenance = { ...base.provenance, clauses: this.#clauses() };
    return {
      row: { ...base, provenance, status: "ok", figures, accuracy },
      samples,
      spoilt: this.#traces.spoilt(),
    };
  }

  #clauses(): string {
    const { c: { problem }, context: { settings, device } } = this;
    return clausesOf({
      fill: settings.fill,
      sets: this.#sets.length,
      inputBytes: bytesOfInputs(problem),
      cacheBytes: device.info.cacheBytes,
      calls: callsOf(settings.timer),
      samples: this.#series!.samples.length,
      warmup_ms: settings.warmup,
      throttle: this.#telemetry.throttle,
    });
  }

  /** Makes the row of a case that failed with `error`. */
  failed(error: CaseError): Outcome {
    // The kernel may have overwritten its inputs.
    if (error.failure === "wrong") this.context.dropOperands();
    const cached = this.#choice?.by === "cache";
    return {
      row: {
        ...this.#row([
          error.message,
          cached ? "its config is from the timing cache" : "",
        ]),
        status: error.failure,
        ...(error instanceof WrongError ? { accuracy: error.accuracy } : {}),
      },
      spoilt: this.#traces.spoilt(error),
    };
  }

  #notes(): string[] {
    const { config, note } = this.#choice!;
    return [
      note,
      toleranceNote(this.c, config),
      this.#fenceNote,
      ...this.#series?.notes ?? [],
    ];
  }

  #row(notes: readonly string[]): RowBase {
    const { c, context } = this;
    const { name: device, arch } = context.device.info;
    const choice = this.#choice;
    return {
      key: keyOf(c),
      place: { device, arch },
      config: choice ? formatValues(choice.config) : "",
      config_by: choice?.by ?? "",
      note: notes.filter((note) => note !== "").join("; "),
      provenance: provenanceOf(context, {
        problem: c.problem,
        choice,
        built: this.#plans[0]?.built ?? [],
        telemetry: this.#telemetry,
      }),
    };
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

/**
 * Builds, checks and times `c`. A failing kernel gives a row, not an exception.
 *
 * @throws {ConfigLostError} If a config of its search made the device unusable: another worker
 * continues with the other configs.
 */
export async function run(c: Case, context: BenchContext): Promise<Outcome> {
  using life = new CaseRun(c, context);
  try {
    life.demandSupport(); // or: unsupported
    life.bind(); //          inputs uploaded, outputs poisoned between guard bands
    await life.choose(); //  one legal config: known, cached, or the winner of a search
    await life.build(); //   binaries from the cache or the compiler, loaded, packed
    await life.check(); //   every element against f64, twice
    const isTimed = recordsTimes(context.settings);
    if (isTimed) {
      await life.time(); //    changes, poison, flush, interval(plan), copy, ...
      if (life.wasSlowed()) {
        await context.rest();
        await life.time(); // once more
      }
      await life.recheck(); // the copies, the last output, one more call onto poison
    }
    life.demandNoTraces(); // memory, threads, alarms, limits
    if (!isTimed) return life.checked();
    return life.timed(); //  figures with their provenance
  } catch (error) {
    if (error instanceof CaseError) return life.failed(error);
    throw error;
  }
}

/** Makes the provenance of the case that ran last on `context`. */
function provenanceOf(
  context: BenchContext,
  { problem, choice, built, telemetry }: {
    problem: Problem;
    choice: Choice | undefined;
    built: readonly Built[];
    /** Read after the last sample; empty without samples. */
    telemetry: Telemetry;
  },
): Provenance {
  const { settings, device, instruments, options } = context;
  const { blas, info } = device;
  const cold = settings.cache === "cold";
  const rotation = rotationOf(context, problem);
  return {
    timer: settings.timer,
    cache: settings.cache,
    flush: rotation?.enough ? "rotate" : cold ? settings.flush : "",
    flush_bytes: rotation?.enough
      ? rotation.bytes
      : cold
      ? instruments.flushBytes
      : 0,
    warmup_ms: settings.warmup,
    rep_ms: settings.rep,
    fill: settings.fill,
    seed: settings.seed,
    search_configs: choice?.tried ?? 0,
    search_ms: Math.round(choice?.ms ?? 0),
    ...telemetry,
    machine: options.machine ?? "",
    driver: info.driver,
    compiler: [...new Set(built.map((b) => b.compiler))].join("+"),
    library: blas ? `${blas.name} ${blas.version}` : "",
    source_hash: joinHashes(built.map((b) => b.sourceHash)),
    code_hash: joinHashes(built.map((b) => b.codeHash)),
    binary_hash: joinHashes(built.map((b) => b.binaryHash)),
    harness: options.harness,
    schema: SCHEMA,
    run: options.run,
    time: options.date(),
  };
}

/** Combines the hashes of the parts of a plan; empty for none. */
export function joinHashes(hashes: readonly string[]): string {
  return hashes.length > 1 ? hashOf(...hashes) : hashes[0] ?? "";
}

/** Formats a share to two digits: `160 %`. */
function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}
