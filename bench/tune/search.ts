/**
 * Chooses a kernel's config: a known one, or the winner of a race of the legal ones.
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
import { type Finalist, proven, race, sampleBriefly } from "./race.ts";
import { formatValues, type Values } from "../model/grid.ts";
import { effortOf } from "./levels.ts";
import type { BenchContext } from "../measure/context.ts";
import { type Accuracy, keyOf } from "../row/row.ts";
import { type Case, reasonAgainst } from "../model/suite.ts";
import type { TimingEntry } from "./timing_cache.ts";
import { WrongError } from "../measure/verify.ts";

/** Those that are compared by somebody are not dropped. */
const PROBE = {
  rounds: [{ share: 0.2, within: Infinity }],
  finalists: Infinity,
  turns: 5,
};

/** Calls before a config is checked, as far as they fit so many nanoseconds. */
const USES = { most: 20, ns: 5e6 };

/** One search, from the first look to the finals. */
class Search {
  #looks = 0;
  #first = new Set<Candidate>();
  #failure: CaseError | undefined;
  #failed = 0;
  /** Nanoseconds of a call, as last seen. */
  readonly #medians = new Map<Candidate, number>();
  readonly #wrong: string[] = [];
  readonly #accuracy = new Map<Candidate, Accuracy>();

  /**
   * @param wanted Which configs of `c` are tried.
   * @param led Whether another kernel is to run at the winner.
   */
  constructor(
    readonly c: Case,
    readonly context: BenchContext,
    readonly wanted: SearchRequest,
    readonly led: boolean,
  ) {}

  /** Configs that were timed, or were to be when they took their worker with them. */
  get #tried(): number {
    return this.wanted.among.length + this.wanted.lost.length;
  }

  /**
   * The winner.
   *
   * @throws {CaseError} Where no config runs or none is right.
   * @throws {ConfigLostError} Where one made the device unusable.
   */
  async run(): Promise<Choice> {
    const { c, context, wanted: { among, probe, lost } } = this;
    const { tune, level } = context.settings;
    const start = performance.now();
    context.warm();
    const finalists = await race(among, {
      effort: probe ? PROBE : effortOf(Math.max(1, level)),
      look: (candidate, share) => this.#look(candidate, share),
      admit: (candidate) => this.#admit(candidate),
      // What is kept for later is worth more than a glance.
      always: tune === true || context.configs.timings !== undefined,
    });
    const best = finalists[0];
    if (!best) throw this.#nothing();
    const { config } = best.entry;
    const text = formatValues(config);
    const entry = this.#entryOf(best);
    context.configs.choose(keyOf(c), text);
    const ms = context.configs.spent(keyOf(c)) + performance.now() - start;
    for (const { entry: { config }, median } of finalists) {
      if (finalists.length < 2) break;
      this.#tell(config, { status: "ok", us: median / 1e3, note: "finalist" });
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

  async #look(
    candidate: Candidate,
    share: number,
  ): Promise<readonly number[] | undefined> {
    const { c, context, led, wanted: { among } } = this;
    const { config } = candidate;
    const of = Math.max(among.length, this.#looks);
    this.#report(`search ${this.#looks++}/${of}`, config);
    try {
      const ms = context.settings.search * share;
      const { samples, median } = await sampleBriefly(c, {
        config,
        context,
        ms,
        led,
      });
      if (!this.#first.has(candidate)) {
        this.#tell(config, { status: "ok", us: median / 1e3, note: "" });
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
    // Before any config can be blamed for the time that it takes.
    context.options.emit({ event: "progress", note: "reference" });
    await context.ledger.count("check", () => context.reference(c.problem));
    this.#report("check", config);
    const median = this.#medians.get(candidate) ?? Infinity;
    const uses = Math.min(USES.most, Math.floor(USES.ns / median));
    try {
      this.#accuracy.set(
        candidate,
        await context.ledger.count(
          "check",
          () => proven(c, { config, context, uses }),
        ),
      );
      return true;
    } catch (error) {
      this.#fail(config, error);
      if (error instanceof WrongError) {
        this.#wrong.push(formatValues(config));
        // What is wrong may have written anywhere.
        context.dropOperands();
      }
      return false;
    }
  }

  /** Gives a sign of life, which names the config in case that it is the last one. */
  #report(what: string, config: Values): void {
    const text = formatValues(config);
    this.context.options.emit({
      event: "progress",
      note: `${what}, at ${text}`,
      trying: { key: keyOf(this.c), config: text },
    });
  }

  /** Takes note of a config that is out. @throws What is not the config's own failure. */
  #fail(config: Values, error: unknown): void {
    if (!(error instanceof CaseError)) throw error;
    const { failure: status, message: note } = error;
    this.#tell(config, { status, note });
    // The context may be gone: what follows would fail for no fault of its own.
    if (isLoss({ status })) {
      throw new ConfigLostError(
        `Cannot go on after ${formatValues(config)}: ${note}`,
        { cause: error },
      );
    }
    this.#failed++;
    // A wrong one says most of a kernel of which no config is left.
    if (status === "wrong" && !this.#wrong.length) this.#failure = error;
    this.#failure ??= error;
  }

  /** Why there is no winner. */
  #nothing(): CaseError {
    const failure = this.#failure!;
    const { lost } = this.wanted;
    if (lost.length === 0) return failure;
    const message = `${failure.message}; ${lostNote(lost)}`;
    return failure instanceof WrongError
      ? new WrongError(message, failure.accuracy)
      : new CaseError(failure.failure, message, { cause: failure });
  }

  #tell(
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

  /** Returns the entry to remember; none for a choice among a few or without another. */
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
 * Chooses the config that `c` runs at: its only legal one, one that is known from before, or the
 * fastest of a search of some {@linkcode Settings.search} milliseconds a config.
 *
 * @throws {CaseError} `unsupported`, where no config is legal; `untuned`, where the timing
 * cache was to have one; or the first failure, where none runs or none is right.
 * @throws {ConfigLostError} Where one that is tried makes the device unusable.
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
 * Searches for the config of `c`, if it has to be searched for; {@linkcode choose} returns it later.
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
    // The case's own failure, which comes again when it is run.
    if (!(error instanceof CaseError)) throw error;
    configs.keep(keyOf(c), error);
  }
}

/** Says what is known of `c` already. */
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
