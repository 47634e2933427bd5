/**
 * What every command can be told, once its options are read.
 *
 * @module
 */

import type { DeviceId, Settings } from "../bench/model/settings.ts";
import type { Scalar } from "../bench/model/grid.ts";
import type { ThemeName } from "../report/chart/canvas/theme.ts";
import type { Verdict } from "../report/diff/verdict.ts";

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
  readonly m: readonly Scalar[] | undefined;
  readonly n: readonly Scalar[] | undefined;
  readonly k: readonly Scalar[] | undefined;
  readonly layout?: readonly string[];
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

/** The options of `list`. */
export interface ListOptions extends Choice, Pick<PeerChoice, "peers"> {
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

/** What `table` prints. */
export const TABLE_FORMATS = ["text", "md", "csv", "json"] as const;

/** The options of `table`. */
export interface TableOptions {
  /** None stands for `results`. */
  readonly paths: readonly string[];
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  readonly against: readonly string[];
  readonly published: boolean;
  /** Of published rows, only those of these runs; none stands for all. */
  readonly publishedRuns: readonly string[];
  readonly wins: boolean;
  readonly format: typeof TABLE_FORMATS[number];
  readonly wide: boolean;
  readonly out: string | undefined;
}

/** The options of `import`. */
export interface ImportOptions {
  readonly paths: readonly string[];
  readonly run: string | undefined;
  readonly out: string;
}

/** The options of `baseline`. */
export interface BaselineOptions {
  readonly from: string;
  readonly into: string;
  /** Per cent; missing leaves it to `diff`. */
  readonly threshold: number | undefined;
  readonly dryRun: boolean;
}

/** The options of `report`. */
export interface ReportOptions {
  /** None stands for `results`. */
  readonly paths: readonly string[];
  /** The other run. */
  readonly against: string | undefined;
  /** Per cent; missing means 3. */
  readonly threshold: number | undefined;
  readonly out: string;
  readonly samples: boolean;
  /** A text whose tables are made again, instead of a page. */
  readonly splice: string | undefined;
  readonly check: boolean;
}

/** How a comparison is written. */
export const DIFF_FORMATS = ["text", "md", "json", "junit"] as const;

/** The options of `diff`. */
export interface CompareOptions {
  readonly base: string;
  readonly next: string;
  /** Per cent; missing leaves it to the file, then to 3. */
  readonly threshold: number | undefined;
  /** Microseconds; missing leaves it to the file, then to 0.2. */
  readonly minUs: number | undefined;
  readonly failOn: readonly Verdict[];
  /** Verdicts that are listed; missing means all that say something. */
  readonly only: readonly Verdict[] | undefined;
  readonly format: typeof DIFF_FORMATS[number];
  /** A file of thresholds by suite. */
  readonly config: string | undefined;
}

/** What pictures are drawn for. */
export const PLOT_THEMES = ["light", "dark"] as const satisfies ThemeName[];

/** The options of `plot`. */
export interface PlotOptions {
  /** None stands for `results`. */
  readonly paths: readonly string[];
  readonly suites: readonly string[];
  readonly baseline: string | undefined;
  readonly theme: ThemeName;
  readonly out: string;
  readonly check: boolean;
}

/** The options of `gate`, once it is known what is compared. */
export interface GateOptions
  extends CompareOptions, Choice, Target, Running, Timing {
  /** Runs to calibrate from. */
  readonly paths: readonly string[];
  /** Runs of the same build. @default {5} */
  readonly times?: number | undefined;
  /** Repeats in fresh workers. */
  readonly runs?: number | undefined;
  readonly out: string;
}

/** The options of `gate`. */
export interface GateArguments extends Omit<GateOptions, "base" | "next"> {
  readonly calibrate: boolean;
  readonly confirm: boolean;
}
