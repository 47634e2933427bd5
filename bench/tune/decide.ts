/**
 * Whether the config of a case is known, or which ones it is to be searched among.
 *
 * @module
 */

import type { Candidate } from "../model/kernel.ts";
import { blame, CaseError } from "../model/errors.ts";
import { formatValues, parseValues, type Values } from "../model/grid.ts";
import { contenders } from "./levels.ts";
import { type LostConfig, spare } from "./crashed_configs.ts";
import type { BenchContext } from "../measure/context.ts";
import { keyOf, type RowBase } from "../row/row.ts";
import type { Case } from "../model/suite.ts";
import type { TimingEntry } from "./timing_cache.ts";
import { timingKeyOf } from "./case_timing_key.ts";

/** A config that needs no search, and where it is from. */
export interface Known {
  readonly config: Values;
  readonly by: RowBase["config_by"];
  /** What the timing cache says of it, where it is from there. */
  readonly entry?: TimingEntry;
}

/** Configs to search among. */
export interface Wanted {
  readonly among: readonly Candidate[];
  readonly legal: readonly Candidate[];
  /** Whether each is to be timed to the end, since somebody compares them. */
  readonly probe: boolean;
  /** Those that are not tried again, as they took a worker with them. */
  readonly lost: readonly LostConfig[];
}

/** What is known of the config of a case. */
export type Decision = Known | Wanted;

/**
 * What is known of the config of `c` before anything is timed.
 *
 * @throws {CaseError} `unsupported`, where no config is legal; `untuned`, where the timing
 * cache was to have one; that of the last config lost, where all are.
 */
export function decide(c: Case, context: BenchContext): Decision {
  const { settings, configs } = context;
  const key = keyOf(c);
  const candidates = blame(
    "list the kernel's configs",
    () => [
      ...(c.offers?.(context.device) ?? c.candidates(context.device.info)),
    ],
  );
  const legal = candidates.filter((candidate) =>
    candidate.illegal === undefined
  );
  if (!legal.length) throw new CaseError("unsupported", reasons(candidates));
  const probed = configs.among(key);
  if (probed) {
    const among = legal.filter(({ config }) =>
      probed.includes(formatValues(config))
    );
    if (among.length) {
      const { left, ...out } = spare(among, key, configs.crashed);
      return { among: left, legal, probe: true, ...out };
    }
    throw new CaseError(
      "unsupported",
      `None of these configs is legal here: ${probed.join("; ")}`,
    );
  }
  const by = candidates.length > 1 ? "search" : "fixed";
  const winner = configs.chosen(key);
  if (winner !== undefined) {
    return { config: named(winner, candidates) ?? parseValues(winner), by };
  }
  const first = legal[0]!.config;
  if (legal.length === 1 && !settings.tune) return { config: first, by };
  const search = (level: number): Wanted => {
    const { left, ...out } = spare(legal, key, configs.crashed);
    return { among: contenders(left, level), legal, probe: false, ...out };
  };
  if (legal.length === 1) return search(Math.max(1, settings.level));
  if (settings.level === 0) return { config: first, by: "first" };
  if (configs.timings) {
    const entry = configs.cached(timingKeyOf(c, { context, legal }));
    const fault = faultOf(entry, { legal, level: settings.level });
    if (entry && fault === undefined) {
      return { config: named(entry.config, legal)!, by: "cache", entry };
    }
    if (settings.demandCached) {
      throw new CaseError(
        "untuned",
        `The timing cache does not know its config (${fault!}): tune it first`,
      );
    }
  }
  if (settings.once || settings.checkOnly) return { config: first, by };
  return search(settings.level);
}

/** The configs that `decision` may need. */
export function configsOf(decision: Decision): readonly Values[] {
  return "among" in decision
    ? decision.among.map(({ config }) => config)
    : [decision.config];
}

/**
 * The config among `candidates` that is written as `text`. Reading the text instead would
 * make other values of some: of a text with a space in it, or of "01".
 */
function named(
  text: string,
  candidates: readonly Candidate[],
): Values | undefined {
  return candidates.find(({ config }) => formatValues(config) === text)?.config;
}

/** Why `entry` does not do; nothing where it does. */
function faultOf(
  entry: TimingEntry | undefined,
  { legal, level }: { legal: readonly Candidate[]; level: number },
): string | undefined {
  if (entry === undefined) return "it has no entry";
  if (entry.level < level) {
    return `its entry is of level ${entry.level}, and ${level} is asked for`;
  }
  return named(entry.config, legal)
    ? undefined
    : `its entry has the config ${entry.config}, which is not legal here`;
}

/** Why none of `candidates` is legal: each different reason once. */
function reasons(candidates: readonly Candidate[]): string {
  const different = new Set(candidates.map(({ illegal }) => illegal));
  return different.size
    ? `No config is legal here: ${[...different].join("; ")}`
    : "No config is defined here";
}
