/**
 * Queues the calls that one sample of a timer holds, for kernels and for the calibration alike.
 *
 * @module
 */

import type { Device } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import type { Timer } from "../model/settings.ts";

/** Returns the number of calls in a sample, each on a set of operands of its own. */
export function callsOf(timer: Timer): number {
  return timer.startsWith("batch:") ? Number(timer.slice(6)) : 1;
}

/**
 * Returns the function that queues one sample of `timer`: each of `calls` once.
 *
 * @param owner Owns the graph, if there is one.
 * @throws {CaseError} `unsupported`, where the timer needs graphs and the device has none.
 */
export function sampleOf(
  timer: Timer,
  { device, api, calls }: {
    readonly device: Pick<Device, "capture">;
    /** The name of the device's backend, for the error. */
    readonly api: string;
    readonly calls: readonly (() => void)[];
  },
  owner: DisposableStack,
): () => void {
  const all = () => {
    for (const call of calls) call();
  };
  if (timer !== "graph") return all;
  if (!device.capture) {
    throw new CaseError(
      "unsupported",
      `${api} has no graphs: time with --timer do_bench`,
    );
  }
  const graph = owner.use(device.capture(all));
  return () => graph.launch();
}
