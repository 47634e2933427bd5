/**
 * Sets of operands that take turns, so that by the time one is used again the others have
 * displaced it from the last-level cache: for devices whose cache a flush does not empty.
 *
 * @module
 */

import type { Settings } from "../model/settings.ts";
import type { Backend, DeviceInfo } from "../device/device.ts";
import { BYTES } from "../model/dtype.ts";
import { elementsOf } from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";

/** The rotation of sets of operands. */
export interface Rotation {
  readonly sets: number;
  /** Bytes that are read between two uses of one. */
  readonly bytes: number;
  /** True if the sets are as large as a flush; else there is a flush too. */
  readonly enough: boolean;
}

/** More sets would take longer to make than to measure. */
const MOST_SETS = 256;

/** The inputs of a rotation. */
export interface Rotated {
  readonly settings: Pick<
    Settings,
    "timer" | "cache" | "checkOnly" | "once"
  >;
  readonly device: { readonly info: Pick<DeviceInfo, "flushBytes"> };
  readonly options: { readonly backend: Pick<Backend, "rotates"> };
}

/** Returns the rotation of the operands of `problem`, if they rotate. */
export function rotationOf(
  { settings, device, options }: Rotated,
  { operands }: Pick<Problem, "operands">,
): Rotation | undefined {
  const { timer, cache, checkOnly, once } = settings;
  const timed = !checkOnly && !once;
  if (!options.backend.rotates || !timed) return undefined;
  if (cache !== "cold" || timer !== "do_bench") return undefined;
  const one = operands.filter(({ role }) => role === "in").reduce(
    (sum, operand) => sum + elementsOf(operand) * BYTES[operand.type],
    0,
  );
  const { flushBytes } = device.info;
  const sets = Math.min(MOST_SETS, 1 + Math.ceil(flushBytes / one));
  const bytes = (sets - 1) * one;
  return { sets, bytes, enough: bytes >= flushBytes };
}
