/** A suite whose kernels have five configs, some of which take the worker with them. */

import {
  defineKernel,
  defineLaunch,
  defineSuite,
  kernels,
  matmul,
} from "mnkbench";

const naive = kernels.find(({ name }) => name === "naive")!;

/** The second config segfaults, the fourth hangs; of the others the fifth is fastest. */
const fragile = defineLaunch(matmul, {
  name: "fragile",
  backend: "cpu",
  source: new URL("./faults.c", import.meta.url),
  entry: "searched",
  tunables: { KIND: [1, 2, 3, 4, 5] },
});

/** The third config cannot be launched. */
const refusing = defineKernel(matmul, {
  name: "refusing",
  backend: "cpu",
  idea: "throws at one config",
  configs: () => [1, 2, 3, 4, 5].map((KIND) => ({ KIND })),
  prepare(context) {
    if (context.config.KIND === 3) throw new TypeError("no such thing");
    return naive.prepare(context);
  },
});

/** Every config segfaults. */
const hopeless = defineKernel(matmul, {
  name: "hopeless",
  backend: "cpu",
  idea: "segfaults at every config",
  configs: () => [1, 3, 5].map((AT) => ({ AT })),
  builds: () => [FRAGILE],
  prepare: ({ operands, point, program }) => ({
    steps: [
      program(FRAGILE, "searched").step(matmul.args(point, operands), {
        grid: [1, 1, 1],
        block: [1, 1, 1],
      }),
    ],
  }),
});
const FRAGILE = {
  source: new URL("./faults.c", import.meta.url),
  defines: { KIND: 2 },
};

export default defineSuite({
  name: "search-faults",
  title: "kernels with configs that end the worker",
  op: matmul,
  axes: { m: [8, 9, 10], k: [32] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [fragile, refusing, hopeless],
  baselines: ["fragile"],
});
