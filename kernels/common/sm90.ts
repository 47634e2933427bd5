/**
 * Constants of sm_90 (H100, H200) for the cost models and config rules of CUDA kernels.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";

/**
 * Clocks of a µs with which models of time turn clocks into µs: 1755 MHz, the boost clock of an H100
 * PCIe. An H200 may run at 1980 MHz; the constants that were fitted beside it take up the difference.
 */
export const CLOCKS_PER_US = 1755;

/**
 * Bytes of shared memory of a multiprocessor, of which the system takes 1 KiB for each block: 228 KB
 * in the table of compute capabilities of the CUDA C++ Programming Guide.
 */
export const UNIT_SHARED_BYTES = 228 * 1024;

/** Bytes of shared memory of a block at most: 227 KB in the same table. */
export const BLOCK_SHARED_BYTES = 227 * 1024;

/**
 * Clusters of `size` blocks that are on a device at once, a block a unit: what its driver says, else
 * at most so many, as units come in groups that a cluster does not leave.
 */
export function clustersAtOnce(
  { units, clusters }: Pick<DeviceInfo, "units" | "clusters">,
  size: number,
): number {
  return Math.max(1, clusters?.[size - 1] ?? Math.floor(units / size));
}
