/**
 * The cases of `swiglu` for the tests of all operations.
 *
 * @module
 */

import { assert } from "@std/assert";
import type { Build } from "../../../bench/device/device.ts";
import type { OpCases } from "../../testdata/cases.ts";
import { swiglu, type SwigluPoint } from "../op.ts";

function pointsOf(
  ...shapes: readonly { readonly [axis in "m" | "n" | "k"]: number }[]
): SwigluPoint[] {
  return ["bf16", "f16"].flatMap((type) =>
    shapes.map((shape) => swiglu.point({ ...shape, type }))
  );
}

/** Of `fused-dot`: ROWS, THREADS, COLS, UNROLL, CLUSTER with the most registers, and the fewest. */
const DOTS: readonly string[] = [
  "1 128 2 8 1", // one row
  "1 256 8 1 1", // most columns of a larger block
  "4 256 4 4 1", // most of a larger block
  "8 128 8 1 1", // most sums
  "1 512 2 2 1", // least work a thread
];

/** Of each tile the build of the most stages, and {@linkcode DOTS}. */
function chosen(all: readonly Build[]): readonly Build[] {
  const furthest = new Map<string, Build>();
  const dots: Build[] = [];
  for (const build of all) {
    const { ROWS, THREADS, COLS, UNROLL, CLUSTER } = build.defines;
    if (ROWS !== undefined) {
      const text = [ROWS, THREADS, COLS, UNROLL, CLUSTER].join(" ");
      if (DOTS.includes(text)) dots.push(build);
      continue;
    }
    const { TYPE, BM, BN, WARPS, STAGES } = build.defines;
    const tile = [build.source.pathname, TYPE, BM, BN, WARPS].join();
    const known = furthest.get(tile);
    if (!known || Number(STAGES) > Number(known.defines.STAGES)) {
      furthest.set(tile, build);
    }
  }
  assert(furthest.size > 8, `${furthest.size}`);
  assert(dots.length === 2 * DOTS.length, `${dots.length}`);
  return [...furthest.values(), ...dots];
}

/** The cases. */
export const cases: OpCases<SwigluPoint> = {
  long: pointsOf({ m: 4, n: 64, k: 8192 }),
  larger: pointsOf({ m: 271, n: 35, k: 1044 }),
  unsupported: /whole 16-byte chunks|registers for 8 rows/,
  built: pointsOf(...[1, 4, 8, 64, 128].map((m) => ({ m, n: 3584, k: 8192 }))),
  chosen,
};
