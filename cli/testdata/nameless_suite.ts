/** A user's suite whose kernel has a misspelt name. */

import { defineLaunch, defineSuite, matmul } from "mnkbench";

const mine = defineLaunch(matmul, {
  // @ts-expect-error A user need not check types.
  nam: "mine",
  backend: "cpu",
  entry: "mine",
  source: new URL("./uncompilable.c", import.meta.url),
});

export default defineSuite({
  name: "nameless",
  title: "a kernel without a name",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  kernels: [mine],
  baselines: [],
});
