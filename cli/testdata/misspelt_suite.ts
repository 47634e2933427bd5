/** A user's suite with a field that its operation does not have. */

import { defineSuite, kernels, matmul } from "mnkbench";

export default defineSuite({
  name: "misspelt",
  title: "a field that means nothing",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { tpye: "f32" },
  kernels: kernels.filter(({ name }) => name === "naive"),
  baselines: [],
});
