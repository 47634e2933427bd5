/**
 * Devices that tests plan kernels for, as their drivers describe them.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";

/** NVIDIA's H200. */
export const h200: DeviceInfo = {
  index: 0,
  name: "NVIDIA H200",
  arch: "sm_90a",
  tensorMaps: true,
  units: 132,
  clusters: [132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7],
  cacheBytes: 60 << 20,
  flushBytes: 256 << 20,
  sharedBytes: 227 << 10,
  driver: "580",
};

/** NVIDIA's B200. */
export const b200: DeviceInfo = {
  index: 0,
  name: "NVIDIA B200",
  arch: "sm_100a",
  tensorMaps: true,
  units: 148,
  cacheBytes: 126 << 20,
  flushBytes: 256 << 20,
  sharedBytes: 227 << 10,
  driver: "580",
};

/** AMD's MI300X. */
export const mi300x: DeviceInfo = {
  index: 0,
  name: "AMD Instinct MI300X",
  arch: "gfx942",
  units: 304,
  cacheBytes: 256 << 20,
  flushBytes: 512 << 20,
  sharedBytes: 64 << 10,
  driver: "6.4",
};

/** AMD's MI355X. */
export const mi355x: DeviceInfo = {
  ...mi300x,
  name: "AMD Instinct MI355X",
  arch: "gfx950",
  units: 256,
  sharedBytes: 160 << 10,
};

/** Apple's M3 Max. */
export const m3max: DeviceInfo = {
  index: 0,
  name: "Apple M3 Max",
  arch: "applegpu_g15s",
  units: 40,
  cacheBytes: 64 << 20,
  flushBytes: 128 << 20,
  sharedBytes: 32 << 10,
  driver: "15.1",
};
