/**
 * Tells which clauses of NVIDIA's guideline for measuring GEMMs a row meets.
 *
 * Source: CUTLASS documentation, "GEMM Performance Measurement Methodology Guidelines".
 *
 * @module
 */

import type { Fill } from "../model/inputs.ts";
import { loweredBy } from "../row/row.ts";

/** The parts of a measurement that the clauses are about. */
export interface Measured {
  readonly fill: Fill;
  /** Sets of operands that are read in turn, and the bytes of the inputs of one. */
  readonly sets: number;
  readonly inputBytes: number;
  readonly cacheBytes: number;
  /** Calls between two events, without other work between them. */
  readonly calls: number;
  readonly samples: number;
  readonly warmup_ms: number;
  readonly throttle: string | undefined;
}

/** Milliseconds for which clocks oscillate under load. */
const SETTLED_MS = 3000;
/** Calls from which a median of a large GEMM is stable: more than these. */
const CALLS = 1000;

/**
 * The clauses, in the guideline's words: values uniform in [-1, 1]; buffers rotated, of twice the
 * cache and two at least; clocks settled before the first sample and not lowered after it; minimal
 * gaps between calls; more than 1000 calls.
 */
const CLAUSES: Readonly<Record<string, (measured: Measured) => boolean>> = {
  fill: ({ fill }) => fill === "uniform",
  rotation: ({ sets, inputBytes, cacheBytes }) =>
    sets >= 2 && sets * inputBytes >= 2 * cacheBytes,
  clocks: ({ warmup_ms, throttle }) =>
    warmup_ms >= SETTLED_MS && loweredBy(throttle ?? "") === "",
  gaps: ({ calls }) => calls > 1,
  count: ({ calls, samples }) => calls * samples > CALLS,
};

/** Returns the names of the clauses that `measured` meets, joined by `+`. */
export function clausesOf(measured: Measured): string {
  return Object.entries(CLAUSES).filter(([, meets]) => meets(measured))
    .map(([name]) => name).join("+");
}
