/**
 * What a run took.
 *
 * @module
 */

import type { Spent } from "../../bench/measure/time_ledger.ts";
import { formatSeconds } from "./progress.ts";

/**
 * What was spent on what in `wall` seconds, and how that compares with the measuring that the
 * options ask for. Compilers, starts of workers and the least number of samples of a slow
 * kernel come on top of it.
 *
 * @example
 * ```ts
 * import { costLine } from "./cost_line.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const spent = { build: 41000, calibrate: 600, search: 9000, check: 5000, time: 20000 };
 * strictEqual(
 *   costLine([{ ...spent, asked: 23600, total: 77000 }], 78.1),
 *   "Took 1 min 18 s, 3.31x the 23.6 s of measuring that the options ask for: warm-up and repetitions of all cases, with searches, checks and calibration (spent: build 41.0, calibrate 0.6, search 9.0, check 5.0, time 20.0 s)",
 * );
 * ```
 */
export function costLine(spent: readonly Spent[], wall: number): string {
  const sum = (of: keyof Spent) =>
    spent.reduce((total, s) => total + s[of], 0) / 1000;
  const parts = (["build", "calibrate", "search", "check", "time"] as const)
    .map((of) => `${of} ${sum(of).toFixed(1)}`);
  const asked = sum("asked");
  const ratio = asked > 0
    ? `, ${(wall / asked).toFixed(2)}x the ${
      asked.toFixed(1)
    } s of measuring that the options ask for: warm-up and repetitions of all cases, with searches, checks and calibration`
    : "";
  return `Took ${formatSeconds(wall)}${ratio} (spent: ${parts.join(", ")} s)`;
}
