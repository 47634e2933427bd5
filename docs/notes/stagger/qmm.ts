import { defineSuite } from "../../../bench/model/suite.ts";
import { kernels, qmm } from "../../../kernels/qmm/mod.ts";
import { staggered } from "./variants.ts";

const cuda = kernels.filter(({ backend }) => backend === "cuda");
const wgmma = cuda.find(({ name }) => name === "qmm-wgmma")!;

export default defineSuite({
  name: "stagger-qmm",
  title: "x · Wᵀ of 4 bits, tiles of rows that start at other spans of K",
  op: qmm,
  axes: {
    weights: [{ n: 4096, k: 4096 }, { n: 8192, k: 8192 }],
    m: [32, 64, 128, 256, 512, 1024],
  },
  fixed: { type: "bf16", layout: "nt", mode: "affine", bits: 4, group: 64 },
  kernels: [
    ...cuda.filter(({ name }) => name === "cublas"),
    ...staggered(wgmma, 4),
  ],
  baselines: ["cublas"],
});
