/**
 * Chooses the config of a kernel: a known one, or the fastest legal one of a search.
 *
 * @module
 */

import type { Candidate } from "../model/kernel.ts";
import {
  type Choice,
  ConfigLostError,
  isLoss,
  lostNote,
} from "./config_book.ts";
import {
  decide,
  type Known,
  type SearchRequest,
  timingKeyOf,
} from "./decide.ts";
import { CaseError } from "../model/errors.ts";
import { checkAfterUse, type Finalist, race, sampleBriefly } from "./race.ts";
import { formatValues, type Values } from "../model/grid.ts";
import { effortOf } from "./levels.ts";
import type { BenchContext } from "../measure/context.ts";
import { type Accuracy, keyOf } from "../row/row.ts";
import { type Case, reasonAgainst } from "../model/suite.ts";
import type { TimingEntry } from "./timing_cache.ts";
import { WrongError } from "../measure/verify.ts";

/** The effort where the user compares configs: no config is dropped. */
const PROBE = {
  rounds: [{ share: 0.2, within: Infinity }],
  finalists: Infinity,
  turns: 5,
};

/** Calls of a config before its check: at most `most`, and at most `ns` nanoseconds. */
const USES = { most: 20, ns: 5e6 };

/** One search for the config of a case. */
class Search {
  /** Measurements until now. */
  #timings = 0;
  #first = new Set<Candidate>();
  #failure: CaseError | undefined;
  #failed = 0;
  /** Nanoseconds of a call, as last measured. */
  readonly #medians = new Map<Candidate, number>();
  readonly #wrong: string[] = [];
  readonly #accuracy = new Map<Candidate, Accuracy>();

  /**
   * @param wanted Which configs of `c` are tried.
   * @param led Whether another kernel will run at the winning config.
   */
  constructor(
    readonly c: Case,
    readonly context: BenchContext,
    readonly wanted: SearchRequest,
    readonly led: boolean,
  ) {}

  /** The number of configs that were timed or that ended their worker. */
  get #tried(): number {
    return this.wanted.among.length + this.wanted.lost.length;
  }

  /**
   * Runs the search and returns the winner.
   *
   * @throws {CaseError} If no config runs, or none is right.
   * @throws {ConfigLostError} If a config made the device unusable.
   */
  async run(): Promise<Choice> {
    const { c, context, wanted: { among, probe, lost } } = this;
    const { tune, level } = context.settings;
    const start = performance.now();
    context.warm();
    const finalists = await race(among, {
      effort: probe ? PROBE : effortOf(Math.max(1, level)),
      look: (candidate, share) => this.#time(candidate, share),
      admit: (candidate) => this.#admit(candidate),
      // A config for the timing cache is worth a longer measurement.
      always: tune === true || context.configs.timings !== undefined,
    });
    const best = finalists[0];
    if (!best) throw this.#noWinner();
    const { config } = best.entry;
    const text = formatValues(config);
    const entry = this.#entryOf(best);
    context.configs.choose(keyOf(c), text);
    const ms = context.configs.spent(keyOf(c)) + performance.now() - start;
    for (const { entry: { config }, median } of finalists) {
      if (finalists.length < 2) break;
      this.#emitConfig(config, {
        status: "ok",
        us: median / 1e3,
        note: "finalist",
      });
    }
    context.options.emit({
      event: "tuned",
      key: keyOf(c),
      config: text,
      by: "search",
      us: best.median / 1e3,
      timed: this.#tried,
      failed: this.#failed + lost.length,
      ms,
      finalists: finalists.map(({ entry, median }) => ({
        config: formatValues(entry.config),
        us: median / 1e3,
      })),
      ...(entry ? { entry } : {}),
    });
    return {
      config,
      by: "search",
      tried: this.#tried,
      ms,
      note: [
        this.#wrong.length ? `wrong at ${this.#wrong.join(", ")}` : "",
        lostNote(lost),
      ].filter((part) => part !== "").join("; "),
    };
  }

  async #time(
    candidate: Candidate,
    share: number,
  ): Promise<readonly number[] | undefined> {
    const { c, context, led, wanted: { among } } = this;
    const { config } = candidate;
    const of = Math.max(among.length, this.#timings);
    this.#report(`search ${this.#timings++}/${of}`, config);
    try {
      const ms = context.settings.search * share;
      const { samples, median } = await sampleBriefly(c, {
        config,
        context,
        ms,
        led,
      });
      if (!this.#first.has(candidate)) {
        this.#emitConfig(config, { status: "ok", us: median / 1e3, note: "" });
      }
      this.#first.add(candidate);
      this.#medians.set(candidate, median);
      return samples;
    } catch (error) {
      this.#fail(config, error);
      return undefined;
    }
  }

  async #admit(candidate: Candidate): Promise<boolean> {
    const { c, context } = this;
    const { config } = candidate;
    // Before the check, so that no config is blamed for the time of the reference.
    await context.ledger.count("check", () => context.reference(c.problem));
    this.#report("check", config);
    const median = this.#medians.get(candidate) ?? Infinity;
    const uses = Math.min(USES.most, Math.floor(USES.ns / median));
    try {
      this.#accuracy.set(
        candidate,
        await context.ledger.count(
          "check",
          () => checkAfterUse(c, { config, context, uses }),
        ),
      );
      return true;
    } catch (error) {
      this.#fail(config, error);
      if (error instanceof WrongError) {
        this.#wrong.push(formatValues(config));
        // The kernel may have overwritten any operand.
        context.dropOperands();
      }
      return false;
    }
  }

  /** Sends a sign of life that names the config, which is blamed if the worker ends now. */
  #report(what: string, config: Values): void {
    const text = formatValues(config);
    this.context.options.emit({
      event: "progress",
      note: `${what}, at ${text}`,
      trying: { key: keyOf(this.c), config: text },
    });
  }

  /** Records the failure of a config. @throws Errors that are not failures of the config. */
  #fail(config: Values, error: unknown): void {
    if (!(error instanceof CaseError)) throw error;
    const { failure: status, message: note } = error;
    this.#emitConfig(config, { status, note });
    // The device context may be unusable: later configs would fail without a fault.
    if (isLoss({ status })) {
      throw new ConfigLostError(
        `Cannot go on after ${formatValues(config)}: ${note}`,
        { cause: error },
      );
    }
    this.#failed++;
    // If every config fails, the most useful failure to report is a wrong result.
    if (status === "wrong" && !this.#wrong.length) this.#failure = error;
    this.#failure ??= error;
  }

  /** Returns the reason why there is no winner. */
  #noWinner(): CaseError {
    const failure = this.#failure!;
    const { lost } = this.wanted;
    if (lost.length === 0) return failure;
    const message = `${failure.message}; ${lostNote(lost)}`;
    return failure instanceof WrongError
      ? new WrongError(message, failure.accuracy)
      : new CaseError(failure.failure, message, { cause: failure });
  }

  #emitConfig(
    config: Values,
    { status, us, note }: {
      status: "ok" | CaseError["failure"];
      us?: number;
      note: string;
    },
  ): void {
    this.context.options.emit({
      event: "config",
      key: keyOf(this.c),
      config: formatValues(config),
      status,
      ...(us === undefined ? {} : { median_us: us }),
      note,
    });
  }

  /**
   * Returns the entry for the timing cache; undefined if the user chose the configs or only one is
   * legal.
   */
  #entryOf({ entry, median }: Finalist<Candidate>): TimingEntry | undefined {
    const { c, context, wanted: { legal, probe } } = this;
    if (probe || legal.length === 1) return undefined;
    const { max_abs_err, max_rel_err } = this.#accuracy.get(entry)!;
    return {
      key: timingKeyOf(c, { context, legal }),
      config: formatValues(entry.config),
      us: median / 1e3,
      error: { max_abs: max_abs_err, max_rel: max_rel_err },
      level: context.settings.level,
      date: context.options.date(),
    };
  }
}

/**
 * Chooses the config of `c`: its only legal one, a known one, or the fastest of a search that takes
 * about {@linkcode Settings.search} milliseconds a config.
 *
 * @param led Whether another kernel will run at the chosen config.
 * @throws {CaseError} `unsupported`, if no config is legal; `untuned`, if the timing cache must have
 * one and has none; the first failure, if no config runs or none is right.
 * @throws {ConfigLostError} If a tried config makes the device unusable.
 */
export async function choose(
  c: Case,
  context: BenchContext,
  led = false,
): Promise<Choice> {
  if (c.follows) return await choose(c.follows, context, true);
  const found = context.configs.take(keyOf(c));
  if (found instanceof CaseError) throw found;
  if (found) return found;
  const decision = decide(c, context);
  if ("among" in decision) {
    return await context.ledger.count(
      "search",
      () => new Search(c, context, decision, led).run(),
    );
  }
  report(c, context, decision);
  const { config, by } = decision;
  return { config, by, tried: 0, ms: 0, note: "" };
}

/**
 * Searches for the config of `c` if it needs a search. {@linkcode choose} returns the result later.
 *
 * @throws {ConfigLostError} As {@linkcode choose} does.
 */
export async function searchAhead(
  c: Case,
  context: BenchContext,
): Promise<void> {
  const { configs, device: { info } } = context;
  try {
    if (c.follows || reasonAgainst(c, info) !== undefined) return;
    if (!("among" in decide(c, context))) return;
    configs.keep(keyOf(c), await choose(c, context));
  } catch (error) {
    // Kept as the failure of the case, which `choose()` throws when the case is run.
    if (!(error instanceof CaseError)) throw error;
    configs.keep(keyOf(c), error);
  }
}

/** Emits the known config of `c`. */
function report(
  c: Case,
  context: BenchContext,
  { config, by, entry }: Known,
): void {
  if (!context.settings.tune && !entry) return;
  context.options.emit({
    event: "tuned",
    key: keyOf(c),
    config: formatValues(config),
    by,
    ...(entry ? { us: entry.us } : {}),
    timed: 0,
    failed: 0,
    ms: 0,
    finalists: [],
  });
}
