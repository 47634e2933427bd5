/**
 * Recorded sequences of steps that a driver queues as one.
 *
 * @module
 */

import type { Graph } from "../../../bench/device/device.ts";
import { out64 } from "../ffi.ts";
import { CallError } from "./error.ts";
import type { Session } from "./session.ts";

/**
 * Records what `work` queues, without running it.
 *
 * @throws {CaseError} `launch`, where something in it cannot be recorded; the stream is
 * usable again.
 */
export function capture(session: Session, work: () => void): Graph {
  const { driver: { call, codes }, stream } = session;
  session.enter();
  call.captureBegin(stream, codes.captureThreadLocal);
  try {
    work();
  } catch (error) {
    abandon(session);
    throw error;
  }
  const graph = out64((to) => call.captureEnd(stream, to));
  let exec: bigint;
  try {
    exec = out64((to) => call.graphInstantiate(to, graph, 0n));
  } finally {
    call.graphDestroy(graph);
  }
  let open = true;
  return {
    launch: () => call.graphLaunch(exec, stream),
    [Symbol.dispose]() {
      if (open) call.graphExecDestroy(exec);
      open = false;
    },
  };
}

/** Ends a capture whose work failed; what it recorded is dropped. */
function abandon({ driver: { call }, stream }: Session): void {
  try {
    const graph = out64((to) => call.captureEnd(stream, to));
    if (graph !== 0n) call.graphDestroy(graph);
  } catch (error) {
    // An invalidated capture ends with an error by design; the first one is thrown.
    if (!(error instanceof CallError)) throw error;
  }
}
