/**
 * HIP's runtime: its names for the shared verbs, its statuses and its devices.
 *
 * @module
 */

import type { Traits } from "../shared/driver/backend.ts";
import { CallError } from "../shared/driver/checked.ts";
import { type Driver, openDriver } from "../shared/driver/session.ts";
import { out32, textAt } from "../shared/ffi.ts";
import { inRocm } from "../shared/find_library.ts";

/** The names under which ROCm installs it, the newest first. */
export const HIP_LIBRARY = inRocm([
  "libamdhip64.so.7",
  "libamdhip64.so.6",
  "libamdhip64.so.5",
  "libamdhip64.so",
]);

/** hipDeviceAttribute_t since ROCm 4.3, which renumbered it. */
const ATTRIBUTE = {
  l2Bytes: 19,
  multiprocessors: 63,
  sharedBytes: 74,
} as const;

/** Bytes that hold a `hipDeviceProp_t` of any release so far (1472 in ROCm 6 and 7). */
const PROPERTIES_BYTES = 16384;

const MIB = 2 ** 20;

/**
 * Bytes of the cache between the L2 caches and memory ("Infinity Cache"), which HIP has no
 * attribute for; from AMD's data sheets.
 */
const INFINITY_CACHE: Readonly<Record<string, number>> = {
  gfx942: 256 * MIB,
  gfx950: 256 * MIB,
  gfx1030: 128 * MIB,
  gfx1031: 96 * MIB,
  gfx1100: 96 * MIB,
  gfx1101: 64 * MIB,
  gfx1201: 64 * MIB,
};

/** HIP's runtime with what only it has. */
export interface HipDriver extends Driver {
  /** Bytes of the properties of a device, in whatever layout this release has. */
  properties(ordinal: number): Uint8Array<ArrayBuffer>;
}

/**
 * Opens and initialises the runtime at `path`.
 *
 * @throws {CallError} If `hipInit` fails: a driver without a usable device.
 * @throws {Error} If there is no such library.
 */
export function openHipDriver(path: string): HipDriver {
  const text = { parameters: ["i32"], result: "u64" } as const;
  const get = {
    parameters: ["buffer", "i32"],
    result: "i32",
    optional: true,
  } as const;
  const call = openDriver(
    path,
    "HIP",
    {
      hipGetErrorName: text,
      hipGetErrorString: text,
      // ROCm 6 gave the properties a new layout and a name of its own; the plain name keeps
      // the old one.
      hipGetDevicePropertiesR0600: get,
      hipGetDeviceProperties: get,
    },
    ({ hipGetErrorName, hipGetErrorString }, status) => ({
      name: textAt(hipGetErrorName(status)),
      text: textAt(hipGetErrorString(status)),
    }),
  );
  return {
    api: "HIP",
    call,
    // A launch may ask for all that a workgroup can have.
    freeShared: Infinity,
    properties(ordinal) {
      const bytes = new Uint8Array(PROPERTIES_BYTES);
      const get = call.hipGetDevicePropertiesR0600 ??
        call.hipGetDeviceProperties;
      get?.(bytes, ordinal);
      return bytes;
    },
  };
}

/** Returns HIP's version, e.g. `6.4.43482`. */
export function hipVersion({ call }: Driver): string {
  const version = out32((to) => call.driverVersion(to));
  const [major, minor] = [1e7, 1e5].map((unit) => Math.floor(version / unit));
  return `${major}.${minor! % 100}.${version % 1e5}`;
}

/** Returns the properties of the device `ordinal` of `driver`. */
export function hipTraits(
  driver: HipDriver,
  ordinal: number,
  attribute: (which: number) => number,
): Traits {
  const arch = archIn(driver.properties(ordinal));
  const l2Bytes = attribute(ATTRIBUTE.l2Bytes);
  return {
    arch,
    units: attribute(ATTRIBUTE.multiprocessors),
    cacheBytes: Math.max(l2Bytes, INFINITY_CACHE[arch] ?? 0),
    sharedBytes: attribute(ATTRIBUTE.sharedBytes),
  };
}

/**
 * Returns the architecture in a `hipDeviceProp_t`, without what is after its colon (`sramecc`,
 * `xnack`: a binary without them runs with either). The field's place differs from release
 * to release, but it is the last text in the structure that looks like one: the device's own
 * name, which may look so too, comes first.
 *
 * @throws {CallError} If there is none: neither form of the properties could be had.
 */
export function archIn(properties: Uint8Array<ArrayBuffer>): string {
  const text = new TextDecoder("latin1").decode(properties);
  const found = [...text.matchAll(/gfx[0-9a-f]{3,5}(?=[:\0])/g)].at(-1)?.[0];
  if (found !== undefined) return found;
  throw new CallError(
    "launch",
    "hipGetDeviceProperties: no architecture such as gfx942 in what it gave; a newer ROCm may say it",
    0,
  );
}
