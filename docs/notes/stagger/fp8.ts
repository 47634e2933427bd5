import { defineSuite } from "../../../bench/model/suite.ts";
import { kernels, scaledMatmul } from "../../../kernels/scaled/mod.ts";
import { variant } from "./variants.ts";

const cuda = kernels.filter(({ backend }) => backend === "cuda");
const wgmma = cuda.find(({ name }) => name === "wgmma")!;

export default defineSuite({
  name: "stagger-fp8",
  title: "decode-fp8, staggered tiles, sums added beside products",
  op: scaledMatmul,
  axes: {
    scale: ["tensor", "block128"],
    weights: [
      { n: 2112, k: 7168 },
      { n: 5120, k: 2880 },
      { n: 2880, k: 2048 },
      { n: 2880, k: 4096 },
    ],
    m: [64, 128],
  },
  kernels: [
    ...cuda.filter(({ name }) => name === "cublaslt-tuned"),
    ...[[0, 0], [0, 1], [1, 0], [1, 1]].map(([stagger, ahead]) =>
      variant(
        wgmma,
        `wgmma${stagger ? "-stagger" : ""}${ahead ? "-ahead" : ""}`,
        5,
        ({ STAGGER, AHEAD }) => STAGGER === stagger && AHEAD === ahead,
      )
    ),
  ],
  baselines: ["cublaslt-tuned"],
});
