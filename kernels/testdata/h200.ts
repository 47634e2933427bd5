/**
 * The device that tests plan CUDA kernels for.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";

/** An H200, as its driver describes it. */
export const h200: DeviceInfo = {
  index: 0,
  name: "NVIDIA H200",
  arch: "sm_90a",
  tensorMaps: true,
  units: 132,
  cacheBytes: 60 << 20,
  flushBytes: 256 << 20,
  sharedBytes: 227 << 10,
  driver: "580",
};
