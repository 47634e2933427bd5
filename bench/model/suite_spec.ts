/**
 * The definition of a suite, as its author writes it.
 *
 * @module
 */

import type { ChoiceAxes } from "./axes.ts";
import type { Values } from "./grid.ts";
import type { Kernel } from "./kernel_spec.ts";
import type { Op } from "./op.ts";

/** What {@linkcode defineSuite} takes. */
export interface SuiteSpec<P> {
  readonly name: string;
  readonly title: string;
  readonly op: Op<P>;
  /**
   * Lists of values, the last varying fastest. A value that is an object sets several
   * fields at once: `{ weights: [{ n: 2048, k: 8192 }, { n: 4096, k: 4096 }] }`.
   */
  readonly axes: ChoiceAxes;
  /** Axes that follow another unless overridden: `{ n: "m" }` makes M = N. */
  readonly tie?: Readonly<Record<string, string>>;
  /** Values that no axis varies. */
  readonly fixed?: Values;
  /** Axes for a machine without a GPU, and for `--quick`. */
  readonly quick?: ChoiceAxes;
  readonly kernels: readonly Kernel<P>[];
  readonly baselines: readonly string[];
}
