/**
 * Lists every deliberate mistake.
 *
 * @module
 */

import { KEPT_APART } from "./faults.ts";
import { GUARDS } from "./guards.ts";
import { MEASURE } from "./measure.ts";
import type { HarnessMutant } from "../mutant.ts";
import { OUTSIDE } from "./outside.ts";
import { ROWS } from "./rows.ts";
import { TUNE } from "./tune.ts";

/** The mistakes. */
export const ALL: readonly HarnessMutant[] = [
  ...MEASURE,
  ...GUARDS,
  ...KEPT_APART,
  ...TUNE,
  ...ROWS,
  ...OUTSIDE,
];
