/**
 * Suites of functions of testdata/own/, and jobs that measure them by stub_peers.py.
 *
 * @module
 */

import { definePython } from "../../bench/model/kernel.ts";
import type { Values } from "../../bench/model/grid.ts";
import { DEFAULTS, type Settings } from "../../bench/model/settings.ts";
import { defineSuite, type Suite } from "../../bench/model/suite.ts";
import type { Job } from "../../bench/worker/protocol.ts";
import { matmul } from "../../kernels/matmul/mod.ts";

/** The real program with a torch of bytes, and no driver. */
export const PROGRAM = new URL("./stub_peers.py", import.meta.url);

/** The path of a file of testdata/own/. */
export const file = (name: string) =>
  `${new URL("./own/", import.meta.url).pathname}${name}`;

/** A suite of functions, such as `good.py:writes`, each a kernel of the function's name. */
export function suiteOf(
  functions: readonly string[],
  fixed: Values = {},
  op: typeof matmul = matmul,
): Suite {
  return defineSuite({
    name: "own",
    title: "Own",
    op,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none", ...fixed },
    kernels: functions.map((one) =>
      definePython(op, {
        name: one.split(":")[1]!,
        python: file(one),
      })
    ),
    baselines: [],
  });
}

/** A job with a folder of its own; its worker has the cases. */
export function jobIn(cacheDir: string, more: Partial<Settings> = {}): Job {
  return {
    suites: [],
    backend: "fake",
    device: 0,
    cases: [],
    peers: { python: "python3" },
    settings: { ...DEFAULTS, warmup: 0.01, rep: 0.1, cacheDir, ...more },
    skip: [],
    configs: {},
    run: "r",
    calibration: {
      marker_us: 1,
      launch_us: 2,
      graph_us: 3,
      timer: "graph",
      call_us: 3,
      load: [{ bytes: 1, us: 3 }, { bytes: 1024, us: 4 }],
      peak: {},
    },
  };
}
