/**
 * Decides whether the config of a case is known or has to be searched for, and computes the
 * timing-cache key of a case.
 *
 * @module
 */

import { hashOf } from "../files/hash.ts";
import type { BenchContext } from "../measure/context.ts";
import { BYTES } from "../model/dtype.ts";
import { blame, CaseError } from "../model/errors.ts";
import { formatValues, parseValues, type Values } from "../model/grid.ts";
import type { Candidate } from "../model/kernel.ts";
import { usesTimer } from "../model/settings.ts";
import type { Case } from "../model/suite.ts";
import { type CaseKey, keyOf, type RowBase } from "../row/row.ts";
import { type LostConfig, withoutLost } from "./config_book.ts";
import { contenders, ordered } from "./levels.ts";
import type { TimingEntry, TimingKey } from "./timing_cache.ts";

/** A config that needs no search, and where it is from. */
export interface Known {
  readonly config: Values;
  readonly by: RowBase["config_by"];
  /** Its entry in the timing cache, if it is from there. */
  readonly entry?: TimingEntry;
}

/** Configs to search among. */
export interface SearchRequest {
  readonly among: readonly Candidate[];
  readonly legal: readonly Candidate[];
  /** Whether each is to be timed to the end, since somebody compares them. */
  readonly probe: boolean;
  /** Those that are not tried again, as they took a worker with them. */
  readonly lost: readonly LostConfig[];
}

/** The known config of a case. */
export type Decision = Known | SearchRequest;

/**
 * Returns the known config of `c`, before anything is timed.
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
  const runnable = candidates.filter((candidate) =>
    candidate.illegal === undefined
  );
  // What a library offers is its own choice, and a baseline.
  const hint = c.offers ? undefined : configs.hints?.of(key, runnable);
  const legal = ordered(runnable, hint);
  if (!legal.length) throw new CaseError("unsupported", reasons(candidates));
  const probed = configs.among(key);
  if (probed) {
    const among = legal.filter(({ config }) =>
      probed.includes(formatValues(config))
    );
    if (among.length) {
      const { left, ...out } = withoutLost(among, key, configs.crashed);
      return { among: left, legal, probe: true, ...out };
    }
    throw new CaseError(
      "unsupported",
      `None of these configs is legal here: ${probed.join("; ")}`,
    );
  }
  const by = candidates[0]?.by ?? (candidates.length > 1 ? "search" : "fixed");
  const winner = configs.chosen(key);
  if (winner !== undefined) {
    return { config: named(winner, candidates) ?? parseValues(winner), by };
  }
  const first = legal[0]!.config;
  const isKnown = !settings.tune || legal[0]!.by !== undefined;
  if (legal.length === 1 && isKnown) return { config: first, by };
  const search = (level: number): SearchRequest => {
    const { left, ...out } = withoutLost(legal, key, configs.crashed);
    const among = contenders(left, level, hint);
    return { among, legal, probe: false, ...out };
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
  if (!usesTimer(settings)) return { config: first, by };
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

/**
 * The key of `c` on `context`.
 *
 * @param legal Its legal configs: a kernel that is given others is another kernel.
 * @throws {CaseError} Where the kernel cannot name its sources.
 */
export function timingKeyOf(
  c: Case,
  { context, legal }: { context: BenchContext; legal: readonly Candidate[] },
): TimingKey {
  const { settings, device: { info, blas }, options } = context;
  const { suite: _, ...key }: CaseKey = keyOf(c);
  const built = sourcesOf(c, { context, legal });
  return {
    ...key,
    alignment: `${alignmentOf(c)}`,
    workspace: `${settings.workspaceBytes ?? ""}`,
    device: info.name,
    arch: info.arch,
    units: `${info.units}`,
    driver: info.driver,
    compiler: built.any ? compilerOf(context) : "",
    library: blas ? `${blas.name} ${blas.version}` : "",
    source: built.hash,
    harness: options.harness,
    timer: settings.timer,
    cache: settings.cache,
    flush: settings.cache === "cold" ? settings.flush : "",
    fill: settings.fill,
  };
}

/** Bytes beyond which a better alignment serves no load. */
const ALIGNED = 128;

/** Bytes that divide the distance of any two rows: what vector loads depend on. */
function alignmentOf({ problem }: Case): number {
  const distances = problem.operands.map(({ ld, type }) => ld * BYTES[type]);
  let bytes = ALIGNED;
  while (distances.some((distance) => distance % bytes !== 0)) bytes /= 2;
  return bytes;
}

/** A hash of the texts, constants and configs that a case chooses among. */
function sourcesOf(
  c: Case,
  { context, legal }: { context: BenchContext; legal: readonly Candidate[] },
): { readonly hash: string; readonly any: boolean } {
  const { cache, backend } = context.options;
  const texts = new Set<string>();
  const configs = legal.map(({ config }) => {
    const builds = blame("name the kernel's sources", () => c.builds(config));
    const units = builds.map((build) => {
      const text = cache.contentHash(build);
      texts.add(text);
      return `${text} ${formatValues(build.defines)}`;
    });
    return [formatValues(config), ...units].join("\n");
  });
  const flags = backend.target(context.device.info.arch).flags;
  return {
    // The order is the model's, and says nothing of what is built.
    hash: hashOf(flags.join(" "), ...configs.sort()),
    any: texts.size > 0,
  };
}

const signatures = new WeakMap<BenchContext, string>();

/** The compiler's signature; nothing where there is none, as on a box with binaries. */
function compilerOf(context: BenchContext): string {
  const known = signatures.get(context);
  if (known !== undefined) return known;
  const signature = askCompiler(context);
  signatures.set(context, signature);
  return signature;
}

function askCompiler({ options: { backend }, device }: BenchContext): string {
  try {
    return backend.compiler(device.info.arch).signature;
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return "";
  }
}
