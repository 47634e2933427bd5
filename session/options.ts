/**
 * Choices of a run, once options are read.
 *
 * @module
 */

import type { DeviceId, Settings } from "../bench/model/settings.ts";
import type { Overrides, Where } from "../bench/model/axes.ts";

/** Names that shell completion offers. */
export interface Words {
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly backends: readonly string[];
}

/** Which cases. Empty lists and missing values leave the choice to the program. */
export interface Choice {
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  /** Values of axes in the place of the suites' own. */
  readonly overrides: Overrides;
  /** Values of axes to which the cases are limited. */
  readonly where: Where;
  readonly quick: boolean;
}

/** Which device. */
export interface Target {
  readonly backend: string | undefined;
  readonly device: DeviceId;
}

/** How cases are run, as far as every running command lets it be chosen. */
export type Running = Pick<Settings, "seed" | "fill" | "prebuilt"> & {
  readonly kernelCache: string | undefined;
  readonly timeout: number;
};

/** How cases are timed. */
export type Timing = Pick<
  Settings,
  "warmup" | "rep" | "timer" | "cache" | "flush" | "search"
>;

/** How configs are chosen. */
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

/** Which peers beside our kernels. */
export interface PeerChoice {
  readonly peers: "torch" | undefined;
  /** The Python that measures them; `python3` or the environment's by default. */
  readonly python: string | undefined;
}

/** The options of `bench`. */
export interface BenchOptions
  extends Choice, Target, Running, Timing, Tuning, PeerChoice {
  readonly runs: number;
  readonly out: string;
  readonly once: boolean;
  readonly resume: boolean;
  readonly fresh: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** The options of `check`. */
export interface CheckOptions extends Choice, Target, Running, Tuning {
  readonly json: boolean;
}

/** How the cases of a comparison are measured again, or runs of one build made. */
export interface ComparedRuns extends Choice, Target, Running, Timing {
  /** Repeats in fresh workers. */
  readonly runs?: number | undefined;
}
