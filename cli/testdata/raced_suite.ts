/** A suite of a kernel with a race and one without. */

import { defineLaunch, defineSuite, matmul } from "mnkbench";

export default defineSuite({
  name: "raced",
  title: "a race that only the lane emulator finds",
  op: matmul,
  axes: { m: [8], k: [32] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: ["raced", "right"].map((entry) =>
    defineLaunch(matmul, {
      name: entry,
      backend: "cuda",
      source: new URL("raced.cu", import.meta.url),
      entry,
      shape: ({ m, n }) => ({
        grid: [m, 1, 1],
        block: [entry === "raced" ? 2 * n : n, 1, 1],
      }),
    })
  ),
  baselines: ["right"],
});
