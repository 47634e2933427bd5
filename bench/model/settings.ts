/**
 * Defines the selection and settings of a run.
 *
 * @module
 */

import type { Fill } from "./inputs.ts";
import type { PeerSet } from "./peer.ts";
import type { Overrides, PointSet, Where } from "./suite.ts";

/** The name of an emulated device, such as `emulator:sm_90a`. */
export type EmulatedName = `emulator:${string}`;

/** A device: its index within its backend, or the name of an emulated one. */
export type DeviceId = number | EmulatedName;

/** Several devices of a backend, by index. */
export type DeviceSet = "all" | readonly number[];

/** Selects cases and a device. */
export interface Selection {
  /** Names of built-in suites, or paths of users' own files. */
  readonly suites: readonly string[];
  /** Kernel names; empty means all. */
  readonly kernels: readonly string[];
  readonly backend: string;
  readonly device: DeviceId;
  /** Those that share the cases. @default {`device` alone} */
  readonly devices?: DeviceSet;
  readonly points: PointSet;
  readonly overrides: Overrides;
  readonly where: Where;
  /** What Python measures; missing for nothing. */
  readonly peers?: Peers;
  /** The part of the cases that is run. @default {all} */
  readonly shard?: Shard;
}

/** One of `count` parts of about the same cost. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** Peers, and the Python that measures them and Python kernels of suites. */
export interface Peers {
  /** Other people's kernels that are measured beside ours; missing for none. */
  readonly set?: PeerSet;
  readonly python: string;
}

/**
 * The timing method. `batch:N` times N distinct input sets in one interval, `chain:N` in one
 * graph. With `:pdl`, each call of a chain starts before its predecessor ends.
 */
export type Timer =
  | "do_bench"
  | "graph"
  | `batch:${number}`
  | `chain:${number}`
  | `chain:${number}:pdl`;

const TIMER =
  /^(do_bench|graph|batch:[1-9]\d{0,3}|chain:([2-9]|[1-9]\d{1,3})(:pdl)?)$/;

/** Returns whether `text` is the name of a timer. */
export function isTimer(text: string): text is Timer {
  return TIMER.test(text);
}

/** Returns whether samples of `timer` are replays of a graph. */
export function usesGraph(timer: Timer): boolean {
  return timer === "graph" || timer.startsWith("chain:");
}

/** Says that `backend` lacks what {@linkcode usesGraph} asks for, and which timers it has. */
export function withoutGraphs(backend: string): string {
  return `${backend} has no graphs: time with --timer do_bench or --timer batch:N`;
}

/** Returns whether calls of `timer`, of a row perhaps, start before their predecessor ends. */
export function startsEarly(timer: string): boolean {
  return timer.endsWith(":pdl");
}

/** Holds the settings of a run. */
export interface Settings {
  readonly seed: number;
  readonly fill: Fill;
  /** Milliseconds of unflushed calls before the samples, as in Triton's do_bench. */
  readonly warmup: number;
  /** Milliseconds of samples, as in Triton's do_bench; the most of them with a precision. */
  readonly rep: number;
  /**
   * Share of the median within which its 95 % interval is to be, either way: fewer samples than
   * `rep` has room for may do. @default {samples for all of `rep`}
   */
  readonly precision?: number;
  readonly timer: Timer;
  readonly cache: "cold" | "warm";
  readonly flush: "zero" | "read";
  /** Milliseconds of one full look at a config in a search. */
  readonly search: number;
  /** Search level, 0 to 5: see `docs/guide/tuning.md`. */
  readonly level: number;
  /** Timing cache file. @default {no cache} */
  readonly timingCache?: string;
  /** Fail a case whose config is not in the timing cache, instead of searching. */
  readonly demandCached?: boolean;
  /** Most bytes of workspace of a config. @default {all device memory} */
  readonly workspaceBytes?: number;
  /** Search and check configs without timing the winner in full. */
  readonly tune?: boolean;
  /** Check outputs only. */
  readonly checkOnly: boolean;
  /** Run the plan once, unflushed and untimed, for a profiler or sanitizer. */
  readonly once: boolean;
  /** Use cached binaries only and compile nothing. */
  readonly prebuilt: boolean;
  /** Folder of compiled kernels. */
  readonly cacheDir: string;
  /** Cache entries that replace a source's own build, by source hash. */
  readonly binaries?: Readonly<Record<string, string>>;
}

/** Returns whether the rows of a run with `settings` have times. */
export function recordsTimes(
  settings: Pick<Settings, "once" | "checkOnly" | "tune">,
): boolean {
  return usesTimer(settings) && !settings.tune;
}

/** Returns whether a run with `settings` times calls at all: for its rows, or to find configs. */
export function usesTimer(
  { once, checkOnly }: Pick<Settings, "once" | "checkOnly">,
): boolean {
  return !once && !checkOnly;
}

/** The most repeats of a run in fresh workers. */
export const MOST_RUNS = 10_000;
/** The longest warm-up and time of repetitions: an hour, in milliseconds. */
export const MOST_MS = 3_600_000;

/** Milliseconds of samples at most where a precision is asked for and no time. */
export const PRECISE_REP = 1000;

/** The default settings, those of the MLSys decompose-K benchmark: 10 ms, 50 ms, cold cache. */
export const DEFAULTS: Omit<Settings, "cacheDir"> = {
  seed: 0,
  fill: "normal",
  warmup: 10,
  rep: 50,
  timer: "do_bench",
  cache: "cold",
  flush: "zero",
  search: 5,
  level: 3,
  checkOnly: false,
  once: false,
  prebuilt: false,
};
