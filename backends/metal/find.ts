/**
 * Apple GPUs on this machine, described.
 *
 * @module
 */

import type { DeviceInfo } from "../../bench/device/device.ts";
import { askTool } from "../shared/compiler.ts";
import type { Objc } from "./objc.ts";

/** MTLGPUFamilyApple7: the first with simdgroup matrices (A14, M1). */
const APPLE7 = 1007n;

const MIB = 2 ** 20;

/** The least flush, for a cache that is not known. */
const FLUSH_FLOOR = 64 * MIB;

/**
 * Bytes of the system-level cache by the last letter of an architecture: `p` phone, `g` base
 * and Pro, `s` Max, `d` Ultra. Metal does not tell; these are the most of any generation so
 * far as published measurements have it, since too much only takes longer.
 */
const CACHE: Readonly<Record<string, number>> = {
  p: 24 * MIB,
  g: 24 * MIB,
  s: 64 * MIB,
  d: 128 * MIB,
};

/** Cores likewise, where the system does not tell: of an M3 of each size. */
const CORES: Readonly<Record<string, number>> = { p: 6, g: 10, s: 40, d: 80 };

/** A device and what is known of it. */
export interface MetalFound {
  readonly handle: bigint;
  readonly info: DeviceInfo;
}

/** What there is, and why some of it is of no use; empty where all is. */
export interface MetalDevices {
  readonly found: readonly MetalFound[];
  readonly refused: readonly string[];
}

/**
 * Describes every device of `all`, an `NSArray`.
 *
 * @param cores The GPU's cores, where the system tells.
 */
export function describeMetal(
  objc: Objc,
  all: bigint,
  cores: () => number | undefined,
): MetalDevices {
  const driver = objc.pool(() =>
    objc.textOf(
      objc.send(objc.class("NSProcessInfo"), "processInfo"),
      "operatingSystemVersionString",
    ).replace(/^Version /, "macOS ")
  );
  const count = Number(objc.send(all, "count"));
  const found: MetalFound[] = [];
  const refused: string[] = [];
  for (let i = 0; i < count; i++) {
    const handle = objc.send(all, "objectAtIndex:", BigInt(i));
    const name = objc.textOf(handle, "name");
    if (!objc.asks(handle, "supportsFamily:", APPLE7)) {
      refused.push(`${name} has no simdgroup matrices: an Apple M1 has`);
    } else if (!objc.has(handle, "architecture")) {
      refused.push(`${name} needs macOS 14 for bfloat, and this is ${driver}`);
    } else {
      const arch = objc.pool(() =>
        objc.textOf(objc.send(handle, "architecture"), "name")
      );
      const size = arch.at(-1)!;
      const cacheBytes = CACHE[size] ?? 0;
      const shared = objc.send(handle, "maxThreadgroupMemoryLength");
      found.push({
        handle,
        info: {
          index: found.length,
          name,
          arch,
          units: cores() ?? CORES[size] ?? 10,
          cacheBytes,
          flushBytes: Math.max(FLUSH_FLOOR, 2 * cacheBytes),
          sharedBytes: Number(shared),
          driver,
        },
      });
    }
  }
  return { found, refused };
}

/** Cores of the GPU as the registry of drivers has them; nothing where it cannot be asked. */
export function coresOfRegistry(): number | undefined {
  const args = ["-r", "-c", "AGXAccelerator", "-d", "1"];
  const text = askTool("ioreg", args)?.stdout ?? "";
  const [, cores] = /"gpu-core-count"\s*=\s*(\d+)/.exec(text) ?? [];
  return cores === undefined ? undefined : Number(cores);
}
