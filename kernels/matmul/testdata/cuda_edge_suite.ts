/**
 * Edge-case shapes of the operation, for its CUDA kernels on the lane emulator: the points of the
 * built-in suites are too large for it.
 *
 * @module
 */

import { defineSuite } from "../../../bench/model/suite.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { matmul } from "../op.ts";

/** Kernels that need no matrix library. */
const own = cudaKernels.filter(({ name }) => !/^cublas|^bmm-sum$/.test(name));
/** Every kind of shape in one type or another; in each type some that every kernel takes. */
const SHAPES = {
  bf16: ["1x16x128", "16x16x256", "17x33x129", "64x48x1024", "5x24x251"],
  f16: ["3x5x7", "5x24x251", "16x16x256", "64x48x1024", "48x40x512"],
  f32: ["1x16x128", "16x16x256", "64x48x1024", "31x65x250", "17x64x256"],
};
const points = matmul.edgeCases.filter(({ m, n, k, type }) =>
  SHAPES[type].includes([m, n, k].join("x"))
);

export default defineSuite({
  name: "cuda-edge",
  title: "CUDA at edge-case shapes",
  op: { ...matmul, edgeCases: matmul.edgeCases.slice(0, 1) },
  axes: { odd: points.map((point) => ({ ...point })) },
  kernels: own,
  baselines: [],
});
