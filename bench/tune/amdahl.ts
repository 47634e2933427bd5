/**
 * What a faster kernel makes of the whole that it is a part of.
 *
 * @module
 */

/**
 * The speed-up of a whole of which the share `fraction` becomes `speedup` times faster:
 * 1 / ((1 - f) + f / s) (Amdahl, "Validity of the Single Processor Approach", 1967).
 *
 * @throws {RangeError} For a share that is none, or a speed-up that is not above 0.
 * @example
 * ```ts
 * import { amdahl } from "./amdahl.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(amdahl(0.85, 1.3).toFixed(4), "1.2440");
 * ```
 */
export function amdahl(fraction: number, speedup: number): number {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw new RangeError(
      `Cannot take a share of ${fraction}: it must be from 0 to 1`,
    );
  }
  if (!(speedup > 0)) {
    throw new RangeError(
      `Cannot take a speed-up of ${speedup}: it must be above 0`,
    );
  }
  return 1 / (1 - fraction + fraction / speedup);
}

/** What {@linkcode amdahl} comes to however fast the part becomes; infinite for all of it. */
export function amdahlLimit(fraction: number): number {
  return amdahl(fraction, Infinity);
}
