/**
 * Tells clocks that were lowered while a row was measured from those that are set lower.
 *
 * @module
 */

/** Reasons that are settings of a GPU, the same for all of its rows. */
const SETTINGS = [
  "applications_clocks_setting",
  "display_clock_setting",
  "sync_boost",
];

/**
 * Returns the reasons in the column `throttle` for which a GPU lowered its clocks by itself:
 * power, temperature.
 *
 * @example
 * ```ts
 * import { loweredBy } from "./throttle.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(loweredBy("applications_clocks_setting+sw_power_cap"), "sw_power_cap");
 * strictEqual(loweredBy("applications_clocks_setting"), "");
 * ```
 */
export function loweredBy(throttle: string): string {
  return throttle.split("+").filter((reason) => !SETTINGS.includes(reason))
    .join("+");
}
