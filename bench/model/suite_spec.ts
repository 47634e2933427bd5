/**
 * The definition of a suite, as its author writes it.
 *
 * @module
 */

import type { ChoiceAxes } from "./axes.ts";
import type { Values } from "./grid.ts";
import type { Kernel } from "./kernel_spec.ts";
import type { Op } from "./op.ts";

/** Describes a suite for {@linkcode defineSuite}. */
export interface SuiteSpec<P> {
  /** The value of the column `suite`, and the name of its CSV. */
  readonly name: string;
  /** One line for listings and tables. */
  readonly title: string;
  readonly op: Op<P>;
  /**
   * Lists of values by axis, the last one varying fastest. A value that is an object sets
   * several axes at once: `{ weights: [{ n: 2048, k: 8192 }, { n: 4096, k: 4096 }] }`.
   */
  readonly axes: ChoiceAxes;
  /** Axes that follow another one unless overridden: `{ n: "m" }` makes N = M. */
  readonly tie?: Readonly<Record<string, string>>;
  /** Values of axes that are not swept. @default {the defaults of the operation} */
  readonly fixed?: Values;
  /** Replaces `axes` with `--quick`, and on a CPU if nothing is selected. */
  readonly quick?: ChoiceAxes;
  readonly kernels: readonly Kernel<P>[];
  /** Kernels that speed-ups are relative to, in order of preference. */
  readonly baselines: readonly string[];
}
