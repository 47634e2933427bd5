/**
 * Prints the launches of the kernels that probe.cc runs, a line each: what the compiler and the
 * driver are given for them. `deno run -A cases.ts > cases.tsv`; it needs no device.
 *
 * @module
 */

import type { Arg } from "../../../bench/device/queue.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { legal, plan } from "../../../kernels/matmul/testdata/listener.ts";

/** Recorded winners on an H200: 32 to 132 blocks that wait for one another, and a cluster of 16. */
const CASES: readonly (readonly [string, string, Values, Values])[] = [
  ["x32", "exchange-k", { m: 16, n: 16, k: 16384 }, {
    ...{ LOAD: "warps", BM: 16, BN: 16, CLUSTER: 1, PARTS: 32, BK: 256 },
    ...{ WARPS: 4, KWARPS: 4, STAGES: 2 },
  }],
  ["x128", "exchange-k", { m: 64, n: 64, k: 12288 }, {
    ...{ LOAD: "warps", BM: 16, BN: 32, CLUSTER: 1, PARTS: 16, BK: 512 },
    ...{ WARPS: 8, KWARPS: 8, STAGES: 2 },
  }],
  ["x132", "exchange-k", { m: 128, n: 2112, k: 7168, layout: "nt" }, {
    ...{ LOAD: "ring", BM: 64, BN: 64, CLUSTER: 1, PARTS: 2, BK: 128 },
    ...{ WARPS: 4, KWARPS: 1, STAGES: 6 },
  }],
  ["x128c2", "exchange-k", { m: 64, n: 64, k: 32768 }, pair()],
  ["c96", "cluster-k", { m: 48, n: 48, k: 20480 }, {
    ...{ LOAD: "warps", BM: 16, BN: 32, CLUSTER: 16, PARTS: 1, BK: 256 },
    ...{ WARPS: 4, KWARPS: 4, STAGES: 5 },
  }],
];

/** The config whose pairs of blocks wait for most other pairs. */
function pair(): Values {
  const parts = (config: Values) =>
    64 * 64 / Number(config.BM) / Number(config.BN) * Number(config.PARTS);
  return legal("exchange-k", { m: 64, n: 64, k: 32768 })
    .filter(({ CLUSTER }) => CLUSTER === 2)
    .reduce((best, config) => parts(config) > parts(best) ? config : best);
}

const number = (arg: Arg) => arg.kind === "i32" ? [arg.value] : [];
for (const [name, kernel, values, config] of CASES) {
  const point = { type: "bf16", layout: "nn", ...values };
  const { queue: [launch], allocated } = plan(kernel, point, config);
  const { what, build, shape, args } = launch!;
  const { grid, block, sharedBytes = 0, cluster = 1 } = shape!;
  const defines = Object.entries(build!.defines).map(([k, v]) => `-D${k}=${v}`);
  console.log([
    ...[name, what, ...grid, block[0], sharedBytes, cluster],
    ...[allocated[0] ?? 0, point.layout],
    // M, N, K, slice, lda, ldb, ldc, relu, whole
    ...args.flatMap(number),
    defines.join(" "),
  ].join("\t"));
}
