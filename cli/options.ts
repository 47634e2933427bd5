/**
 * What every command can be told, once its options are read.
 *
 * @module
 */

import type { Settings } from "../bench/config.ts";

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
  readonly m: readonly number[] | undefined;
  readonly n: readonly number[] | undefined;
  readonly k: readonly number[] | undefined;
  readonly quick: boolean;
}

/** Which device. */
export interface Target {
  readonly backend: string | undefined;
  readonly device: number;
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

/** The options of `bench`. */
export interface BenchOptions extends Choice, Target, Running, Timing {
  readonly runs: number;
  readonly out: string;
  readonly once: boolean;
  readonly resume: boolean;
  readonly fresh: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** The options of `check`. */
export interface CheckOptions extends Choice, Target, Running {
  readonly json: boolean;
}

/** The options of `list`. */
export interface ListOptions extends Choice {
  readonly cases: boolean;
  readonly json: boolean;
}

/** The options of `build`. */
export interface BuildOptions extends Choice {
  readonly arch: readonly string[];
  readonly backend: string | undefined;
  readonly kernelCache: string | undefined;
}

/** The options of `doctor`. */
export interface DoctorOptions {
  readonly json: boolean;
}

/** The options of `pack`. */
export interface PackOptions {
  readonly arch: readonly string[];
  readonly backend: string | undefined;
  readonly kernelCache: string | undefined;
  readonly out: string;
}
