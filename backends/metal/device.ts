/**
 * An opened Apple GPU.
 *
 * @module
 */

import type {
  Device,
  DeviceInfo,
  Interval,
} from "../../bench/device/device.ts";
import { allocateMetal } from "./memory.ts";
import { loadMetal } from "./module.ts";
import type { Objc } from "./objc.ts";
import { MetalQueue } from "./queue.ts";

const NS_PER_SECOND = 1e9;

/** Opens the device that `MTLDevice` `handle` is. */
export function openMetalDevice(
  objc: Objc,
  handle: bigint,
  info: DeviceInfo,
): Device {
  const made = objc.send(handle, "newCommandQueue");
  if (made === 0n) throw new Error("newCommandQueue: nil");
  const queue = new MetalQueue(objc, made);
  let open = true;
  return {
    info,
    alloc: (bytes) => allocateMetal(queue, handle, bytes),
    load: (binary) =>
      loadMetal(
        { queue, device: handle, sharedBytes: info.sharedBytes },
        binary,
      ),
    interval: () => createMetalInterval(queue),
    synchronize: () => queue.wait(),
    blasReason:
      "this version of mnkbench calls no matrix library of Metal's (MPSMatrixMultiplication)",
    [Symbol.dispose]() {
      if (open) queue[Symbol.dispose]();
      open = false;
    },
  };
}

/**
 * A command buffer for each sample, and the GPU's own times of its start and its end: what the
 * host does in between is not in them.
 */
function createMetalInterval(queue: MetalQueue): Interval {
  const { objc } = queue;
  let buffers: readonly bigint[] = [];
  const drop = () => {
    for (const buffer of buffers) objc.release(buffer);
    buffers = [];
  };
  const time = (buffer: bigint, which: string) =>
    objc.calls.seconds(buffer, objc.sel(which));
  return {
    measure(work) {
      drop();
      buffers = queue.collect(work);
    },
    nanoseconds() {
      // Without work there is no command buffer, and no time.
      const [first, last] = [buffers[0], buffers.at(-1)];
      if (first === undefined || last === undefined) return 0;
      const seconds = time(last, "GPUEndTime") - time(first, "GPUStartTime");
      return Math.round(seconds * NS_PER_SECOND);
    },
    [Symbol.dispose]: drop,
  };
}
