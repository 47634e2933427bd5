/**
 * What kernels of this folder cannot do.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import { type GroupedPoint, realProblems } from "./point.ts";

/** Why a device has no copies that tell a barrier, and no clusters. */
export function noBulkCopies({ arch }: DeviceInfo): string | undefined {
  const capability = Number(/^sm_(\d+)/.exec(arch)?.[1] ?? 0);
  return capability >= 90
    ? undefined
    : `${arch} has no clusters and no bulk copies: sm_90 has`;
}

/** Why a device has no conversion from E4M3. */
export function noE4m3({ arch }: DeviceInfo): string | undefined {
  const capability = Number(/^sm_(\d+)/.exec(arch)?.[1] ?? 0);
  return capability >= 89 ? undefined : `${arch} converts no E4M3: sm_89 does`;
}

/** Elements of K that kernels copy at a time, and columns of C that they store at a time. */
const [SLAB, VECTOR] = [64, 8];

/** Why some problem is not of whole copies. */
export function wholeSlabs(point: GroupedPoint): string | undefined {
  for (const { n, k } of realProblems(point)) {
    if (k % SLAB !== 0) {
      return `K=${k} is no multiple of ${SLAB}, what is copied at a time`;
    }
    if (n % VECTOR !== 0) {
      return `N=${n} is no multiple of ${VECTOR}, what is stored at a time`;
    }
  }
  return undefined;
}
