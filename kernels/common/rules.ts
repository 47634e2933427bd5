/**
 * Rules that several kernels share. Each returns the reason why a device cannot run a kernel or a config
 * is not legal, or undefined.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import type { Rule } from "../../bench/model/kernel.ts";

type Arch = Pick<DeviceInfo, "arch">;

/** Makes the rule that an NVIDIA device has at least the compute capability `least`: 80 is 8.0. */
function requiresSm(least: number, reason: string) {
  return ({ arch }: Arch): string | undefined =>
    Number(/^sm_(\d+)/.exec(arch)?.[1] ?? 0) >= least
      ? undefined
      : `${arch} ${reason}`;
}

/** Returns why a device has no `cp.async` and no bf16 `mma.sync`. */
export const tooOld = requiresSm(
  80,
  "has no cp.async and no bf16 tensor cores: sm_80 has",
);

/** Returns why a device has no thread-block clusters with distributed shared memory. */
export const noClusters = requiresSm(
  90,
  "has no thread-block clusters: sm_90 has",
);

/** Returns why launches cannot start before their predecessor ends. */
export const noOverlap = requiresSm(90, "has no dependent launch: sm_90 has");

/** Returns why a device has no bulk copies that complete on an mbarrier, and no clusters. */
export const noBulkCopies = requiresSm(
  90,
  "has no clusters and no bulk copies: sm_90 has",
);

/** Returns why a device has no conversion from E4M3. */
export const noE4m3 = requiresSm(89, "converts no E4M3: sm_89 does");

/** Returns why a device has no wgmma. */
export function noWgmma({ arch }: Arch): string | undefined {
  return arch === "sm_90a"
    ? undefined
    : `${arch} has no wgmma: sm_90a is the only one that has`;
}

/** Returns why a device has no MFMA of bf16 by 16 x 16 x 16. */
export function noMfma({ arch }: Arch): string | undefined {
  return /^gfx9(0a|4[0-2]|50)$/.test(arch)
    ? undefined
    : `${arch} has no MFMA of bf16 by 16 x 16 x 16: gfx90a, gfx942 and gfx950 have`;
}

/** The limit of a grid along an axis. */
const MOST_BLOCKS = 65535;

/** Returns the least power of two that is at least `size` and at least `least`. */
export function nextPowerOfTwo(size: number, least = 16): number {
  return Math.max(least, 2 ** Math.ceil(Math.log2(size)));
}

/** Returns why the tunable `name` is too large: above `most`, more than half of the tile is padding. */
export function padding(
  name: string,
  value: number,
  most: number,
): string | undefined {
  return value <= most
    ? undefined
    : `more than half of ${name}=${value} would be padding`;
}

/** Returns why some of `slices` slices of `slice` elements would be empty at K = `k`. */
export function emptySlices(
  k: number,
  { slices, slice }: { readonly slices: number; readonly slice: number },
): string | undefined {
  return (slices - 1) * slice < k
    ? undefined
    : `${slices} slices of ${slice} leave some without any of K=${k}`;
}

/** Makes the rule that the shared memory of a block has room for so many bytes. */
export function fitsMemory<P, C>(
  bytesOf: (point: P, config: C) => number,
  memory = "shared memory, a block",
): Rule<P, C> {
  return (point, config, { sharedBytes }) => {
    const bytes = bytesOf(point, config);
    return bytes <= sharedBytes
      ? undefined
      : `${bytes} bytes of ${memory} may have ${sharedBytes}`;
  };
}

/** Makes the rule that the grid is within the limits of a launch. */
export function fitsGrid<P, C>(
  gridOf: (point: P, config: C) => readonly number[],
): Rule<P, C> {
  return (point, config) => {
    const most = Math.max(...gridOf(point, config));
    return most <= MOST_BLOCKS
      ? undefined
      : `a grid of ${most} blocks is beyond ${MOST_BLOCKS} along an axis`;
  };
}

/** Returns the rows of a table as configs; `names` are its columns. */
export function tableOf<const Name extends string>(
  names: readonly Name[],
  rows: readonly (readonly number[])[],
): readonly Readonly<Record<Name, number>>[] {
  return rows.map((row) =>
    Object.fromEntries(names.map((name, i) => [name, row[i]!])) as Record<
      Name,
      number
    >
  );
}
