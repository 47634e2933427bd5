/**
 * Names the kernels that speed-ups in tables are relative to.
 *
 * @module
 */

import { builtInSuites } from "../../suites/mod.ts";

/** Baselines of published figures where a suite has none of its own. */
const EAGER = ["torch.mm+relu", "torch.mm"];
/** Baselines of suites of users, whose files are not loaded. */
export const USUAL_BASELINES: readonly string[] = [
  ...["cublas", "openblas", "blocked", "naive"],
  ...EAGER,
];

const builtIn = await builtInSuites();

/** Returns the baselines of `suite`, the preferred first. */
export function baselinesOf(suite: string): readonly string[] {
  const own = builtIn.find(({ name }) => name === suite)?.baselines;
  return own === undefined ? USUAL_BASELINES : [...own, ...EAGER];
}
