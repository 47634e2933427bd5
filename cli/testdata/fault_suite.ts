/** A suite in which nearly every kernel fails, each in another way; `right` comes last. */

import { defineKernel, defineLaunch, defineSuite, matmul } from "mnkbench";

const FAULTS = [
  "segfault",
  "illegal",
  "forever",
  "unwritten",
  "nan_result",
  "out_of_bounds",
  "off_by_some",
  "stops",
  "right",
];
const EXTENSIONS = { cpu: "c", cuda: "cu" };

const here = (file: string) => new URL(file, import.meta.url);

export default defineSuite({
  name: "faults",
  title: "kernels that fail",
  op: matmul,
  axes: { m: [8], k: [32] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: Object.entries(EXTENSIONS).flatMap(([backend, extension]) => [
    defineKernel(matmul, {
      name: "hungry",
      backend,
      idea: "asks for a pebibyte",
      prepare: ({ alloc }) => (alloc(2 ** 50), { steps: [] }),
    }),
    defineLaunch(matmul, {
      name: "uncompilable",
      backend,
      source: here(`faults.${extension}`),
      entry: "uncompilable",
      tunables: { UNCOMPILABLE: [1] },
      shape: () => ({ grid: [1, 1, 1], block: [1, 1, 1] }),
    }),
    ...FAULTS.map((entry) =>
      defineLaunch(matmul, {
        name: entry.replaceAll("_", "-"),
        backend,
        source: here(`faults.${extension}`),
        entry,
        shape: ({ m, n }) => ({ grid: [m, 1, 1], block: [n, 1, 1] }),
      })
    ),
  ]),
  baselines: ["right"],
});
