/**
 * The edge-case shapes of an operation, for its Metal kernels on the lane emulator: the points of
 * the built-in suites are too large for it.
 *
 * @module
 */

import { defineSuite } from "../../../bench/model/suite.ts";
import { metalKernels } from "../metal/metal.ts";
import { matmul } from "../op.ts";

export default defineSuite({
  name: "metal-edge",
  title: "Metal at edge-case shapes",
  op: { ...matmul, edgeCases: matmul.edgeCases.slice(0, 1) },
  axes: { odd: matmul.edgeCases.map((point) => ({ ...point })) },
  kernels: metalKernels,
  baselines: [],
});
