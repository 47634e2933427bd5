/** A user's suite whose kernel has an error in its source. */

import { defineLaunch, defineSuite, matmul } from "mnkbench";

export default defineSuite({
  name: "uncompilable",
  title: "a source that no compiler takes",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  kernels: [
    defineLaunch(matmul, {
      name: "uncompilable",
      backend: "cpu",
      source: new URL("./uncompilable.c", import.meta.url),
      entry: "uncompilable",
      shape: () => ({ grid: [1, 1, 1], block: [1, 1, 1] }),
    }),
  ],
  baselines: [],
});
