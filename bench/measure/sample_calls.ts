/**
 * Queues the calls that one sample of a timer holds, for kernels and for the calibration alike.
 *
 * @module
 */

import type { Device } from "../device/device.ts";
import type { Step } from "../device/queue.ts";
import { CaseError } from "../model/errors.ts";
import {
  startsEarly,
  type Timer,
  usesGraph,
  withoutGraphs,
} from "../model/settings.ts";

/** Returns the number of calls in a sample, each on a set of operands of its own. */
export function callsOf(timer: Timer): number {
  return Number(timer.split(":")[1] ?? 1);
}

/**
 * Queues one call.
 *
 * @param early Whether it may start before its predecessor ends.
 */
export type Call = (early: boolean) => void;

/** Returns the call of a single step. */
export function callOf(step: Step): Call {
  return (early) => early && step.early ? step.early() : step.enqueue();
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
    readonly calls: readonly Call[];
  },
  owner: DisposableStack,
): () => void {
  const all = () => {
    for (const [i, call] of calls.entries()) call(i > 0 && startsEarly(timer));
  };
  if (!usesGraph(timer)) return all;
  if (!device.capture) {
    throw new CaseError("unsupported", withoutGraphs(api));
  }
  const graph = owner.use(device.capture(all));
  return () => graph.launch();
}
