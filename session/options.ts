/**
 * The choices of a run, and the settings that they ask for.
 *
 * @module
 */

import type { Overrides, Where } from "../bench/model/axes.ts";
import { UserError } from "../bench/model/errors.ts";
import { PEERS_BACKEND, type PeerSet } from "../bench/model/peer.ts";
import {
  DEFAULTS,
  type DeviceId,
  PRECISE_REP,
  type Settings,
  type Shard,
} from "../bench/model/settings.ts";
import { readTimings } from "../bench/tune/timing_cache.ts";
import { kernelCacheOf, LATEST, timingCacheOf } from "./home.ts";

/** Selects cases. Empty lists leave the choice to the program. */
export interface Choice {
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  /** Values of axes in the place of the suites' own. */
  readonly overrides: Overrides;
  /** Values of axes to which the cases are limited. */
  readonly where: Where;
  readonly quick: boolean;
}

/** Selects a device. */
export interface Target {
  readonly backend: string | undefined;
  readonly device: DeviceId;
}

/** Settings that every running command takes. `timeout` is in seconds. */
export type Running = Pick<Settings, "seed" | "fill" | "prebuilt"> & {
  readonly kernelCache: string | undefined;
  readonly timeout: number;
};

/** Settings of the timer. `warmup`, `rep` and `search` are in milliseconds. */
export type Timing =
  & Pick<Settings, "warmup" | "timer" | "cache" | "flush" | "search">
  & {
    /** @default {50, or 1000 with a precision} */
    readonly rep?: number | undefined;
    /** Per cent. @default {samples for all of `rep`} */
    readonly precision?: number | undefined;
  };

/** Settings of the choice of configs. */
export interface Tuning {
  /** 0 to 5: see docs/guide/tuning.md. */
  readonly level: number;
  /** File of configs found before; beside the built kernels by default. */
  readonly timingCache: string | undefined;
  readonly noTimingCache: boolean;
  readonly errorOnCacheMiss: boolean;
  /** MiB that a config may take for workspaces. */
  readonly workspace: number | undefined;
}

/** Selects peers, measured beside our kernels. */
export interface PeerChoice {
  readonly peers: PeerSet | undefined;
  /** The Python that measures them; `python3` or the environment's by default. */
  readonly python: string | undefined;
}

/** Settings of `compare`. */
export interface ComparedRuns extends Choice, Target, Running, Timing {
  /** Repeats in fresh workers. */
  readonly runs?: number | undefined;
}

/** Formats the name of an option for errors: as a command has it, or a function. */
export type OptionName = (
  name: "backend" | "cache" | "flush" | "out" | "peers",
) => string;

/**
 * Makes sure that a kind of flush is named for a cold cache only: a warm one is not flushed.
 *
 * @throws {UserError} Where it is named for a warm one.
 */
export function demandCold(
  { cache, flush }: {
    readonly cache?: Settings["cache"];
    /** Missing leaves it to the program. */
    readonly flush?: Settings["flush"] | undefined;
  },
  nameOf: OptionName,
): void {
  if (cache !== "warm" || flush === undefined) return;
  throw new UserError(
    `Cannot flush a cache that stays warm: leave out ${nameOf("flush")} or ${
      nameOf("cache")
    }`,
  );
}

/**
 * Makes sure that a shard has a folder: its rows would be among others.
 *
 * @throws {UserError} Where it has none.
 */
export function demandShardFolder(
  { shard, out }: {
    readonly shard: Shard | undefined;
    readonly out: string | undefined;
  },
  nameOf: OptionName,
): void {
  if (shard === undefined || out !== undefined) return;
  throw new UserError(
    `Cannot tell the rows of a shard from others in ${LATEST}: choose a folder for them with ${
      nameOf("out")
    }, such as new/1`,
  );
}

/**
 * Makes sure that peers are measured on their backend.
 *
 * @throws {UserError} For another one.
 */
export function demandPeersBackend(
  { peers, backend }: Partial<PeerChoice & Target>,
  nameOf: OptionName,
): void {
  if (peers === undefined || backend === undefined) return;
  if (backend === PEERS_BACKEND) return;
  throw new UserError(
    `Cannot measure peers on ${backend}: they run on ${PEERS_BACKEND} only; leave out ${
      nameOf("peers")
    } or ${nameOf("backend")}`,
  );
}

const MIB = 1 << 20;

/**
 * Makes the settings of a run from its options and `more`; what neither says is the default.
 *
 * @throws {UserError} Where options of tuning contradict one another, and where the timing
 * cache is damaged or something else.
 */
export function settingsOf(
  options: Running & Partial<Timing> & (Tuning | { readonly level?: never }),
  more: Partial<Settings> = {},
): Settings {
  const { warmup, search, timer, cache, flush } = { ...DEFAULTS, ...options };
  const { seed, fill, prebuilt, kernelCache, precision } = options;
  const usual = precision === undefined ? DEFAULTS.rep : PRECISE_REP;
  const { rep = usual } = options;
  return {
    ...DEFAULTS,
    seed,
    fill,
    prebuilt,
    warmup,
    rep,
    search,
    timer,
    cache,
    flush,
    ...(precision === undefined ? {} : { precision: precision / 100 }),
    cacheDir: kernelCacheOf(kernelCache),
    ...(options.level === undefined ? {} : tuningOf(options)),
    ...more,
  };
}

function tuningOf(
  options: Tuning & Pick<Running, "kernelCache">,
): Partial<Settings> {
  const { level, noTimingCache, errorOnCacheMiss, workspace } = options;
  const without = noTimingCache ? "--no-timing-cache" : "--level 0";
  const remembers = !noTimingCache && level > 0;
  if (errorOnCacheMiss && !remembers) {
    throw new UserError(
      `Cannot miss what is not looked up: leave out --error-on-cache-miss or ${without}`,
    );
  }
  if (noTimingCache && options.timingCache !== undefined) {
    throw new UserError(
      "Cannot both use a timing cache and none: leave out --timing-cache or --no-timing-cache",
    );
  }
  const path = timingCacheOf(options.timingCache, options.kernelCache);
  // Reads it before a device is opened: workers read it again.
  if (remembers) readTimings(path);
  return {
    level,
    ...(remembers ? { timingCache: path } : {}),
    ...(errorOnCacheMiss ? { demandCached: true } : {}),
    ...(workspace === undefined ? {} : { workspaceBytes: workspace * MIB }),
  };
}
