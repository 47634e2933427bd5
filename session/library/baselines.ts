/**
 * Names the kernels that speed-ups are relative to: for tables, pictures and pages alike.
 *
 * @module
 */

import { baselines as ofMatmul } from "../../kernels/matmul/mod.ts";
import { builtInSuites } from "../../suites/mod.ts";

/** Baselines where a suite's own have no time: of our matrix kernels, and of published figures. */
export const USUAL_BASELINES: readonly string[] = [
  ...ofMatmul,
  ...["torch.mm+relu", "torch.mm"],
];

/** The baselines of suites of users, by the name of the suite. */
export type OwnBaselines = ReadonlyMap<string, readonly string[]>;

const builtIn = new Map(
  (await builtInSuites()).map(({ name, baselines }) => [name, baselines]),
);

/**
 * Returns the candidates for the baseline of `suite`, the preferred first: the first that has a
 * time is taken.
 *
 * @param choice `baseline`: the one that an option names, which leaves no other. `own`: those of
 * suites whose file is known. @default {those of the built-in suite, then the usual ones}
 *
 * @example
 * ```ts
 * import { baselinesOf, USUAL_BASELINES } from "./baselines.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const own = new Map([["mine", ["decompose-k"]]]);
 * deepStrictEqual(baselinesOf("mine", { own }), ["decompose-k", ...USUAL_BASELINES]);
 * deepStrictEqual(baselinesOf("mine"), USUAL_BASELINES);
 * deepStrictEqual(baselinesOf("mine", { own, baseline: "naive" }), ["naive"]);
 * ```
 */
export function baselinesOf(
  suite: string,
  { baseline, own }: {
    readonly baseline?: string | undefined;
    readonly own?: OwnBaselines | undefined;
  } = {},
): readonly string[] {
  if (baseline !== undefined) return [baseline];
  const first = own?.get(suite) ?? builtIn.get(suite) ?? [];
  return [...new Set([...first, ...USUAL_BASELINES])];
}
