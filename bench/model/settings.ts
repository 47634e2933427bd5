/**
 * A run: one invocation's selection and settings, and the fingerprint that names it.
 *
 * @module
 */

import type { Fill } from "./inputs.ts";
import type { PeerSet } from "./peer.ts";
import type { Overrides, PointSet, Where } from "./suite.ts";

/** An emulated device, such as `emulator:sm_90a`. */
export type EmulatedName = `emulator:${string}`;

/** A device: its number among those of its backend, or an emulated one. */
export type DeviceId = number | EmulatedName;

/** Which cases, of which device. */
export interface Selection {
  /** Names of built-in suites, or paths of users' own files. */
  readonly suites: readonly string[];
  /** Kernel names; empty means all. */
  readonly kernels: readonly string[];
  readonly backend: string;
  readonly device: DeviceId;
  readonly points: PointSet;
  readonly overrides: Overrides;
  readonly where: Where;
  /** Other people's kernels that are measured beside ours; missing for none. */
  readonly peers?: Peers;
}

/** Peers, and the Python that measures them. */
export interface Peers {
  readonly set: PeerSet;
  readonly python: string;
}

/** How durations are taken. `batch:N` times N distinct input sets in one interval. */
export type Timer = "do_bench" | "graph" | `batch:${number}`;

/** Whether `text` is the name of a timer. */
export function isTimer(text: string): text is Timer {
  return /^(do_bench|graph|batch:[1-9]\d{0,5})$/.test(text);
}

/** How cases are run. */
export interface Settings {
  readonly seed: number;
  readonly fill: Fill;
  /** Milliseconds, as Triton's do_bench takes them. */
  readonly warmup: number;
  readonly rep: number;
  readonly timer: Timer;
  readonly cache: "cold" | "warm";
  readonly flush: "zero" | "read";
  /** Milliseconds of search for one config. */
  readonly search: number;
  /** How hard a config is searched for, 0 to 5: see `levels.ts`. */
  readonly level: number;
  /** File of configs that were found before; missing means that none are looked up. */
  readonly timingCache?: string;
  /** A config that is not in the timing cache is a failure, not a reason to search. */
  readonly demandCached?: boolean;
  /** Bytes that a config may take for workspaces. @default {as many as there are} */
  readonly workspaceBytes?: number;
  /** Choose and check configs, and time no winner. */
  readonly tune?: boolean;
  /** Check outputs only. */
  readonly checkOnly: boolean;
  /** Run the plan once, unflushed and untimed, for a profiler or a sanitizer. */
  readonly once: boolean;
  /** Use no compiler, only binaries that are in the cache. */
  readonly prebuilt: boolean;
  /** Folder of the kernel cache. */
  readonly cacheDir: string;
  /** Entries of the cache that are used in the place of a source's own, by its hash. */
  readonly binaries?: Readonly<Record<string, string>>;
}

/** The decompose-K study's settings: 10 ms and 50 ms, cold, N(0,1). */
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
