/**
 * The four benchmark lists of the GPU MODE competition's NVFP4 grouped GEMM: the experts of
 * a mixture-of-experts layer, with as many tokens each as a router gave them.
 *
 * Its score is the geometric mean over the four; its evaluator times as `--timer batch:15`
 * does. The ten lists that it checks kernels with are edge-case shapes of the operation.
 *
 * @module
 */

import { defineSuite } from "../bench/model/suite.ts";
import { groupedMatmul, kernels } from "../kernels/grouped/mod.ts";
import { BENCH_LISTS } from "../kernels/grouped/point.ts";

const lists = BENCH_LISTS.map(({ m, n, k }) => ({ m: m.join("+"), n, k }));

export default defineSuite({
  name: "grouped-nvfp4",
  title: "a list of A · Bᵀ in NVFP4, shapes A to D of the GPU MODE competition",
  op: groupedMatmul,
  axes: { list: lists, layout: ["nt"] },
  quick: { list: [lists.at(-1)!] },
  kernels,
  baselines: ["per-group", "naive"],
});
