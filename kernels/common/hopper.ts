/**
 * What only NVIDIA's Hopper has.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";

/** Why a device has no warpgroup products. */
export function noWgmma(
  { arch }: Pick<DeviceInfo, "arch">,
): string | undefined {
  return arch === "sm_90a"
    ? undefined
    : `${arch} has no wgmma: sm_90a is the only one that has`;
}
