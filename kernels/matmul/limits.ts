/**
 * What the CUDA kernels cannot do at any config.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import type { MatmulPoint } from "./point.ts";

/** Why the output's elements cannot be numbered. */
export function tooLarge({ m, n }: MatmulPoint): string | undefined {
  return m * n < 2 ** 31
    ? undefined
    : `M x N = ${m * n}: elements of C are numbered in 31 bits`;
}

/** Why the device cannot run `cp.async` and bf16 `mma.sync`. */
export function tooOld({ arch }: DeviceInfo): string | undefined {
  const generation = Number(/^sm_(\d+)/.exec(arch)?.[1]);
  return generation >= 80
    ? undefined
    : `${arch} has no cp.async and no bf16 tensor cores: sm_80 has`;
}

/** Why the device has no thread-block clusters with distributed shared memory. */
export function noClusters({ arch }: DeviceInfo): string | undefined {
  const generation = Number(/^sm_(\d+)/.exec(arch)?.[1]);
  return generation >= 90
    ? undefined
    : `${arch} has no thread-block clusters: sm_90 has`;
}
