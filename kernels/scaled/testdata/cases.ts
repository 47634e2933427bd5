/**
 * The cases of `scaled-matmul` for the tests of all operations.
 *
 * @module
 */

import { assert } from "@std/assert";
import type { Build } from "../../../bench/device/device.ts";
import type { OpCases } from "../../testdata/cases.ts";
import { scaledMatmul } from "../op.ts";
import { type ScaledPoint, SCALES } from "../point.ts";

function pointsOf(
  ...shapes: readonly { readonly [axis in "m" | "n" | "k"]: number }[]
): ScaledPoint[] {
  return SCALES.flatMap((scale) =>
    shapes.map((shape) => scaledMatmul.point({ ...shape, scale }))
  );
}

/** Of each tile the build of the most stages, and the reference. */
function chosen(all: readonly Build[]): readonly Build[] {
  const furthest = new Map<string, Build>();
  for (const build of all) {
    const { SCALE, BM, BN, STAGES, TOKEN_ROWS } = build.defines;
    const tile = [SCALE, BM, BN, TOKEN_ROWS].join();
    const known = furthest.get(tile);
    if (!known || Number(STAGES) > Number(known.defines.STAGES)) {
      furthest.set(tile, build);
    }
  }
  assert(furthest.size > 12, `${furthest.size}`);
  return [...furthest.values()];
}

/** The cases. */
export const cases: OpCases<ScaledPoint> = {
  long: pointsOf({ m: 4, n: 64, k: 8192 }),
  larger: pointsOf({ m: 271, n: 70, k: 1044 }),
  // K that ends within a block, rows of B in several, and rows that are no whole chunks.
  references: pointsOf({ m: 17, n: 133, k: 144 }, { m: 5, n: 24, k: 251 }),
  unsupported: /whole 16-byte chunks/,
  built: pointsOf(
    ...[1, 16, 32, 64].map((m) => ({ m, n: 512, k: 7168 })),
    { m: 256, n: 11008, k: 4096 },
  ),
  chosen,
};
