/**
 * What `tune`, `timings` and `amdahl` can be told, once their options are read.
 *
 * @module
 */

import type { Choice, Running, Target, Timing, Tuning } from "./options.ts";

/** The options of `tune`. */
export interface TuneOptions extends Choice, Target, Running, Timing, Tuning {
  /** Ranges along an axis, by their upper ends, ascending. */
  readonly dispatch:
    | { readonly axis: string; readonly bounds: readonly number[] }
    | undefined;
  /** Where a dispatch table is written, as JSON and as a C header. */
  readonly out: string | undefined;
  readonly header: string | undefined;
  readonly skips: boolean;
  readonly json: boolean;
}

/** The options of `timings`. */
export interface TimingsOptions {
  readonly timingCache: string | undefined;
  readonly kernelCache: string | undefined;
  readonly merge: readonly string[];
  readonly forget: string | undefined;
  readonly set: string | undefined;
  readonly only: string | undefined;
  readonly json: boolean;
}

/** The options of `amdahl`. */
export interface AmdahlOptions {
  readonly paths: readonly string[];
  readonly gemmFraction: number;
  readonly speedup: readonly number[] | undefined;
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly baseline: string | undefined;
  readonly json: boolean;
}
