/**
 * Features that only some GPU architectures have, as reasons why a kernel cannot run.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";

type Arch = Pick<DeviceInfo, "arch">;

/** The compute capability of `sm_*`, such as 90; 0 for other architectures. */
function capabilityOf({ arch }: Arch): number {
  return Number(/^sm_(\d+)/.exec(arch)?.[1] ?? 0);
}

/** Returns why a device has no `cp.async` and no bf16 `mma.sync`. */
export function tooOld(info: Arch): string | undefined {
  return capabilityOf(info) >= 80
    ? undefined
    : `${info.arch} has no cp.async and no bf16 tensor cores: sm_80 has`;
}

/** Returns why a device has no thread-block clusters with distributed shared memory. */
export function noClusters(info: Arch): string | undefined {
  return capabilityOf(info) >= 90
    ? undefined
    : `${info.arch} has no thread-block clusters: sm_90 has`;
}

/** Returns why a device has no copies that tell a barrier, and no clusters. */
export function noBulkCopies(info: Arch): string | undefined {
  return capabilityOf(info) >= 90
    ? undefined
    : `${info.arch} has no clusters and no bulk copies: sm_90 has`;
}

/** Returns why a device has no conversion from E4M3. */
export function noE4m3(info: Arch): string | undefined {
  return capabilityOf(info) >= 89
    ? undefined
    : `${info.arch} converts no E4M3: sm_89 does`;
}

/** Returns why a device has no warpgroup products. */
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
