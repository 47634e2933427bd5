/**
 * A suite of kernels that leave something behind, and of right ones, in the order that the
 * variable ORDER gives: the process that measures loads it again.
 */

import { defineLaunch, defineSuite, matmul } from "mnkbench";

const source = new URL("leaving.c", import.meta.url);
const ALL =
  "writes writes_late spins rounds_up flushes_denormals alarms profiles limits_cpu limits_memory limits_files limits_size forks daemonizes orphans disowns resigns closes_input closes_output closes_error moves masks_files masks_signals handles yields narrows sets leaks smashes protects exits kills_parent crashes mistakes right right_threads right_heap right_touchy";
const order = (Deno.env.get("ORDER") ?? ALL).split(" ");

export default defineSuite({
  name: "leaving",
  title: "kernels that leave something behind",
  op: matmul,
  axes: { m: [8], k: [32] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: order.map((entry) =>
    defineLaunch(matmul, {
      name: entry,
      backend: "cpu",
      source,
      entry,
      shape: () => ({ grid: [1, 1, 1], block: [1, 1, 1] }),
    })
  ),
  baselines: [order[0]!],
});
