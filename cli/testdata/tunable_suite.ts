/** A user's suite with a kernel whose config is how long it takes. */

import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";

const naive = kernels.find(({ name }) => name === "naive")!;

/** Right, after a wait that its config and M decide: 2 is best up to M = 4, then 3 is. */
const waiting = defineKernel(matmul, {
  name: "waiting",
  backend: "cpu",
  idea: "waits before it computes",
  configs: () => [{ STEP: 1 }, { STEP: 2 }, { STEP: 3 }, { STEP: 8 }],
  rules: {
    power: (_, { STEP }) =>
      Number(STEP) > 4 ? `a step of ${STEP} is beyond 4` : undefined,
  },
  prepare(context) {
    const { steps } = naive.prepare(context);
    const { point, config } = context;
    const best = point.m <= 4 ? 2 : 3;
    const enqueue = () => {
      const end = performance.now() + (config.STEP === best ? 0 : 0.3);
      while (performance.now() < end);
      for (const step of steps) step.enqueue();
    };
    return { steps: [{ label: "waiting", capturable: false, enqueue }] };
  },
});

export default defineSuite({
  name: "tunable",
  title: "a small product",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [waiting],
  baselines: ["waiting"],
});
