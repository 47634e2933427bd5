/**
 * Durations between two events of a driver.
 *
 * @module
 */

import type { Interval } from "../../../bench/device/device.ts";
import { out64 } from "../ffi.ts";
import type { Session } from "./session.ts";

const NS_PER_MS = 1e6;

/** Creates the events of one interval. */
export function createInterval(session: Session): Interval {
  const { driver: { call }, stream } = session;
  session.enter();
  using stack = new DisposableStack();
  const create = () => {
    const event = out64((to) => call.eventCreate(to, 0));
    stack.defer(() => call.eventDestroy(event));
    return event;
  };
  const [start, end] = [create(), create()];
  const elapsed = call.eventElapsedNew ?? call.eventElapsed;
  const owned = stack.move();
  return {
    measure(work) {
      call.eventRecord(start, stream);
      work();
      call.eventRecord(end, stream);
    },
    nanoseconds() {
      const ms = new Float32Array(1);
      elapsed(ms, start, end);
      return Math.round(ms[0]! * NS_PER_MS);
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}
