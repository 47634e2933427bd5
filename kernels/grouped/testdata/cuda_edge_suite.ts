/**
 * Short lists, for the CUDA kernels on the lane emulator: those of the built-in suite are too
 * large for it.
 *
 * @module
 */

import { defineSuite } from "../../../bench/model/suite.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { groupedMatmul } from "../op.ts";

const LIST = { m: "1+0+65", n: "136+64+40", k: "64+64+128" };

export default defineSuite({
  name: "grouped-cuda-edge",
  title: "lists of A · Bᵀ in NVFP4 that an emulator runs in a moment",
  op: {
    ...groupedMatmul,
    edgeCases: [groupedMatmul.point({ m: 3, n: 8, k: 64 })],
  },
  axes: { list: [LIST], layout: ["nt", "nt-mmajor"] },
  kernels: cudaKernels,
  baselines: [],
});
