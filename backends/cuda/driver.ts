/**
 * CUDA's driver: its names for the shared verbs, its statuses and its devices.
 *
 * @module
 */

import type { Traits } from "../shared/driver/backend.ts";
import { type Driver, openDriver } from "../shared/driver/session.ts";
import { out32, out64, textAt } from "../shared/ffi.ts";
import type { Wanted } from "../shared/find_library.ts";

/** The name under which every driver installs it. */
export const CUDA_LIBRARY: Wanted = {
  names: ["libcuda.so.1"],
  folders: () => [],
};

/** CUdevice_attribute of cuda.h. */
const ATTRIBUTE = {
  multiprocessors: 16,
  l2Bytes: 38,
  major: 75,
  minor: 76,
  sharedOptIn: 97,
} as const;

/** The major compute capability that first has programmatic dependent launch. */
const OVERLAPS_SINCE = 9;
/** The major compute capability that first has tensor maps. */
const TENSOR_MAPS_SINCE = 9;

/**
 * Opens and initialises the driver at `path`.
 *
 * @throws {CallError} If `cuInit` fails: a driver without a usable device.
 * @throws {Error} If there is no such library.
 */
export function openCudaDriver(path: string): Driver {
  // The status of these two is not checked: without a text the number is shown.
  const text = { parameters: ["i32", "buffer"], result: "u32" } as const;
  const call = openDriver(
    path,
    "CUDA",
    { cuGetErrorName: text, cuGetErrorString: text },
    ({ cuGetErrorName, cuGetErrorString }, status) => ({
      name: textAt(out64((to) => cuGetErrorName(status, to))),
      text: textAt(out64((to) => cuGetErrorString(status, to))),
    }),
  );
  return { api: "CUDA", call, freeShared: 48 * 1024 };
}

/** Returns the CUDA version that the driver supports, e.g. `13.0`. */
export function cudaVersion({ call }: Driver): string {
  const version = out32((to) => call.driverVersion(to));
  return `${Math.floor(version / 1000)}.${Math.floor(version % 1000 / 10)}`;
}

/** Returns the properties of a device of `driver`. */
export function cudaTraits(
  { call }: Driver,
  attribute: (which: number) => number,
): Traits {
  const major = attribute(ATTRIBUTE.major);
  return {
    arch: archOf(major, attribute(ATTRIBUTE.minor)),
    units: attribute(ATTRIBUTE.multiprocessors),
    cacheBytes: attribute(ATTRIBUTE.l2Bytes),
    sharedBytes: attribute(ATTRIBUTE.sharedOptIn),
    overlaps: major >= OVERLAPS_SINCE && call.launchEx !== null,
    tensorMaps: major >= TENSOR_MAPS_SINCE && call.tensorMapEncode !== null,
  };
}

/**
 * Returns what to build for: with the suffix `a` where the architecture has
 * instructions of its own (wgmma of 9.0, tcgen05 of 10.x).
 */
export function archOf(major: number, minor: number): string {
  const capability = `${major}${minor}`;
  const own = ["90", "100", "103"].includes(capability) || major === 12;
  return `sm_${capability}${own ? "a" : ""}`;
}
