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

/** Of each tile the build of the most stages, and the others. */
function chosen(all: readonly Build[]): readonly Build[] {
  const furthest = new Map<string, Build>();
  for (const build of all) {
    const { TYPE, BM, BN, WARPS, STAGES } = build.defines;
    const tile = [build.source.pathname, TYPE, BM, BN, WARPS].join();
    const known = furthest.get(tile);
    if (!known || Number(STAGES) > Number(known.defines.STAGES)) {
      furthest.set(tile, build);
    }
  }
  assert(furthest.size > 8, `${furthest.size}`);
  return [...furthest.values()];
}

/** The cases. */
export const cases: OpCases<SwigluPoint> = {
  long: pointsOf({ m: 4, n: 64, k: 8192 }),
  larger: pointsOf({ m: 271, n: 35, k: 1044 }),
  unsupported: /whole 16-byte chunks/,
  built: pointsOf(...[1, 64, 128].map((m) => ({ m, n: 3584, k: 8192 }))),
  chosen,
};
