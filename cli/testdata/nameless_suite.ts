/** A user's suite whose kernel has a misspelt name. */

import { defineLaunch, defineSuite, matmul } from "mnkbench";

// As unchecked as the types of a user's file: what JSON gives passes for anything.
const spec = JSON.parse(`{ "nam": "mine", "backend": "cpu", "entry": "mine" }`);
spec.source = new URL("./uncompilable.c", import.meta.url);
const mine = defineLaunch(matmul, spec);

export default defineSuite({
  name: "nameless",
  title: "a kernel without a name",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  kernels: [mine],
  baselines: [],
});
