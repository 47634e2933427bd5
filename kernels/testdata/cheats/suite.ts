/**
 * The suite of kernels that cheat: `mnkbench bench --suite kernels/testdata/cheats/suite.ts`.
 *
 * @module
 */

import { defineLaunch, defineSuite, type Kernel, matmul } from "mnkbench";
import type { MatmulPoint } from "../../matmul/point.ts";
import { CHEATS, HONEST } from "./table.ts";

/** Makes the CPU kernel `name` of cheats.c. */
function inC(name: string): Kernel<MatmulPoint> {
  return defineLaunch(matmul, {
    name,
    backend: "cpu",
    source: new URL("./cheats.c", import.meta.url),
    entry: name.replaceAll("-", "_"),
    unsupported: ({ type }) => type === "f32" ? undefined : "it is for fp32",
  });
}

export default defineSuite({
  name: "cheats",
  title: "Kernels that cheat",
  op: matmul,
  axes: { m: [16], n: [16], k: [64] },
  fixed: { type: "f32", epilogue: "none" },
  kernels: [...CHEATS.cpu.map(({ name }) => name), HONEST].map(inC),
  baselines: [HONEST],
});
