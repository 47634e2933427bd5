/**
 * Says which kernel is the baseline where `--baseline` names none.
 *
 * @module
 */

import { USUAL_BASELINES } from "../../session/library/baselines.ts";

/** The help of `--baseline`. */
export const BASELINE =
  `Kernel that speed-ups are relative to (default: the first that has times of the suite's own baselines, then of ${
    USUAL_BASELINES.join(", ")
  }; with --kernel, of the named kernels if one is among these). Of a suite of your own, give the file to --suite.`;
