import { defineSuite } from "../../../bench/model/suite.ts";
import { baselines, kernels, swiglu } from "../../../kernels/swiglu/mod.ts";
import { staggered } from "./variants.ts";

const cuda = kernels.filter(({ backend }) => backend === "cuda");

export default defineSuite({
  name: "stagger-swiglu",
  title: "ffn-swiglu, tiles of weights that start at other steps of K",
  op: swiglu,
  axes: {
    weights: [
      { n: 14336, k: 4096 },
      { n: 3584, k: 8192 },
      { n: 6656, k: 16384 },
      { n: 6400, k: 5120 },
      { n: 2304, k: 7168 },
      { n: 2048, k: 7168 },
      { n: 3072, k: 6144 },
    ],
    m: [1, 16, 64],
  },
  fixed: { type: "bf16" },
  kernels: cuda.flatMap((kernel) =>
    kernel.name === "fused" ? staggered(kernel, 5) : [kernel]
  ),
  baselines: baselines.filter((name) => name !== "naive"),
});
