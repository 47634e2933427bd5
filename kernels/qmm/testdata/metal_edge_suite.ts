/**
 * The edge-case shapes of an operation, for its Metal kernels on the lane emulator: the points of
 * the built-in suites are too large for it.
 *
 * @module
 */

import { defineSuite } from "../../../bench/model/suite.ts";
import { metalKernels } from "../metal/metal.ts";
import { qmm } from "../op.ts";
import { readPoint, TYPES } from "../point.ts";

/** K of eight slices, of which the last is shorter, in the modes that differ most. */
const CUT = { m: 2, n: 32, k: 1033, layout: "nn" };
const cut = TYPES.flatMap((type) => [
  readPoint({ ...CUT, type, bits: 5, group: 32 }),
  readPoint({ ...CUT, type, mode: "nvfp4" }),
]);

export default defineSuite({
  name: "metal-edge",
  title: "Metal at edge-case shapes",
  op: { ...qmm, edgeCases: qmm.edgeCases.slice(0, 1) },
  axes: {
    odd: [...qmm.edgeCases, ...cut].map(({ transposed, ...point }) => ({
      ...point,
      layout: transposed ? "nt" : "nn",
    })),
  },
  kernels: metalKernels,
  baselines: [],
});
