/**
 * Chooses a kernel's config by timing each legal one briefly.
 *
 * @module
 */

import { CaseError } from "./errors.ts";
import { formatValues, parseValues, type Values } from "./grid.ts";
import type { Candidate } from "./kernel.ts";
import type { Rig } from "./rig.ts";
import { keyOf, keyText, type RowBase } from "./row.ts";
import { PHASES, summarize } from "./stats.ts";
import type { Case } from "./suite.ts";

/** A config and what choosing it took. */
export interface Choice {
  readonly config: Values;
  readonly by: RowBase["config_by"];
  /** Configs that were timed. */
  readonly tried: number;
  readonly ms: number;
}

/** Samples of one config at most: more would not change the order. */
const SAMPLES = { least: 5, most: 4 * PHASES };
const ESTIMATES = 2;
/**
 * The first look picks whoever was lucky; the best of it are looked at again, in turns, so
 * that what drifts hits all alike.
 */
const FINALISTS = 4;
const ROUNDS = 3;
/** Configs between two signs of life. */
const REPORT_EVERY = 10;

/**
 * The config that `c` runs at: its only legal one, the winner known from before, or the
 * fastest of a search of about {@linkcode Settings.search} milliseconds a config.
 *
 * @throws {CaseError} `unsupported`, where no config is legal; or the first failure,
 * where none runs.
 */
export async function choose(c: Case, rig: Rig): Promise<Choice> {
  if (c.follows) return await choose(c.follows, rig);
  const all = [...c.candidates(rig.device.info)];
  const legal = all.filter((candidate) => candidate.illegal === undefined);
  if (!legal.length) throw new CaseError("unsupported", reasons(all));
  const by = all.length > 1 ? "search" : "fixed";
  const known = rig.winners.get(keyText(keyOf(c)));
  if (known !== undefined) {
    return { config: parseValues(known), by, tried: 0, ms: 0 };
  }
  if (legal.length === 1 || rig.settings.once || rig.settings.checkOnly) {
    return { config: legal[0]!.config, by, tried: 0, ms: 0 };
  }
  return await rig.ledger.count("search", () => search(c, { legal, rig }));
}

/** Why none of `candidates` is legal: each different reason once. */
function reasons(candidates: readonly Candidate[]): string {
  const different = new Set(candidates.map(({ illegal }) => illegal));
  return different.size
    ? `No config is legal here: ${[...different].join("; ")}`
    : "No config is defined here";
}

async function search(
  c: Case,
  { legal, rig }: { legal: readonly Candidate[]; rig: Rig },
): Promise<Choice> {
  const start = performance.now();
  const key = keyOf(c);
  const timed: { config: Values; ns: number }[] = [];
  let failure: CaseError | undefined;
  rig.warm();
  for (const [i, { config }] of legal.entries()) {
    if (i % REPORT_EVERY === 0) {
      rig.options.emit({
        event: "progress",
        note: `search ${i}/${legal.length}`,
      });
    }
    const text = formatValues(config);
    try {
      const ns = await glance(c, { config, rig });
      rig.options.emit({
        event: "config",
        key,
        config: text,
        status: "ok",
        median_us: ns / 1e3,
        note: "",
      });
      timed.push({ config, ns });
    } catch (error) {
      if (!(error instanceof CaseError)) throw error;
      const { failure: status, message: note } = error;
      rig.options.emit({ event: "config", key, config: text, status, note });
      // The context may be gone: what follows would fail for no fault of its own.
      if (error.failure === "launch") {
        throw new CaseError("launch", `${error.message} (config ${text})`, {
          cause: error,
        });
      }
      failure ??= error;
    }
  }
  if (!timed.length) throw failure!;
  timed.sort((a, b) => a.ns - b.ns);
  const finalists = timed.slice(0, FINALISTS);
  const rounds = finalists.map(() => [] as number[]);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, { config }] of finalists.entries()) {
      rounds[i]!.push(await glance(c, { config, rig }));
    }
  }
  const finals = rounds.map((round) => summarize(round).median);
  const best = finalists[finals.indexOf(Math.min(...finals))]!;
  rig.winners.set(keyText(key), formatValues(best.config));
  return {
    config: best.config,
    by: "search",
    tried: legal.length,
    ms: performance.now() - start,
  };
}

/** The median of a few samples of one config, in nanoseconds. */
async function glance(
  c: Case,
  { config, rig }: { config: Values; rig: Rig },
): Promise<number> {
  const { stopwatch, flush, settings } = rig;
  const [set] = rig.operands(c.problem);
  using prepared = await rig.prepare(c, { config, operands: set!.memory });
  const run = () => prepared.run();
  run();
  rig.device.synchronize();
  const both = () => {
    flush();
    run();
  };
  const [estimate] = stopwatch.take(1, {
    flush: () => {},
    run() {
      for (let i = 0; i < ESTIMATES; i++) both();
    },
  });
  const fit = settings.search * 1e6 / (estimate! / ESTIMATES) - ESTIMATES;
  const count = Math.min(
    SAMPLES.most,
    // Whole rounds of phases, where there is time for one.
    Math.max(
      SAMPLES.least,
      fit < PHASES ? Math.floor(fit) : fit - fit % PHASES,
    ),
  );
  rig.ledger.ask(
    Math.max(settings.search, count * estimate! / ESTIMATES / 1e6),
  );
  return summarize(stopwatch.take(count, { run, flush })).median;
}
