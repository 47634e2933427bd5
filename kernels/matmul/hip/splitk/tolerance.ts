/**
 * What right means for sums that are rounded to 16 bits once a split.
 *
 * @module
 */

import type { Tolerance } from "../../../../bench/model/problem.ts";
import { matmul } from "../../op.ts";
import type { MatmulPoint } from "../../point.ts";
import type { SplitkConfig } from "./config.ts";

/** Half the distance of neighbours, relative to the binade: 2 to minus the significand's bits. */
const ROUNDING = { bf16: 2 ** -8, f16: 2 ** -11 } as const;
/**
 * Standard deviations that are right. The errors have wider tails than a normal distribution,
 * since a large sum is rounded coarsely: of four million simulated sums the worst is beyond
 * the relative part by 3.8.
 */
const SIGMAS = 6;

/**
 * The tolerance of the operation, and beside it what the roundings of the protocol come to for
 * inputs of unit variance.
 *
 * A rounding of a sum of `j` products errs by at most u·√j about, uniformly: a variance of
 * u²·j/3. Waves of a block round their sums (K in all), then the block its own (K), then each of
 * S additions what is in C by then: K·(1 + ... + S)/S. AITER's own check of the same kernel grows
 * too, as S times the waves along K, and allows for several times as much.
 */
export function atomicTolerance(
  point: MatmulPoint,
  { SPLIT }: Pick<SplitkConfig, "SPLIT">,
): Tolerance {
  const { rtol, atol } = matmul.tolerance(point);
  if (point.type === "f32") return { rtol, atol };
  const variance = point.k / 3 * (2 + (SPLIT + 1) / 2);
  const spread = SIGMAS * ROUNDING[point.type] * Math.sqrt(variance);
  return { rtol, atol: atol + spread };
}
