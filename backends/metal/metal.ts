/**
 * Apple GPUs: MSL compiled by the system at run time, the rest by Metal's objects.
 *
 * @module
 */

import type { Backend, DeviceInfo, Found } from "../../bench/device/device.ts";
import { CaseError, EXIT, UserError } from "../../bench/model/errors.ts";
import { openFirst } from "../shared/find_library.ts";
import { openMetalDevice } from "./device.ts";
import { checkLibrary, flatten, METAL_FLAGS } from "./library.ts";
import { Objc } from "./objc.ts";
import { askTool } from "../shared/compiler.ts";

/** Libraries and facts to take instead of those that this machine has. */
export interface MetalOptions {
  /** The Objective-C runtime. */
  readonly objc?: readonly string[];
  /** Metal's framework. */
  readonly metal?: readonly string[];
  /** Cores of the GPU. @default {as the registry of drivers has them} */
  readonly cores?: () => number | undefined;
  /** The system. @default {this one} */
  readonly os?: typeof Deno.build.os;
}

// The second name of each is for the loader's path.
const OBJC = ["/usr/lib/libobjc.A.dylib", "libobjc.A.dylib"];
const METAL = [
  "/System/Library/Frameworks/Metal.framework/Metal",
  "libMetal.dylib",
];

const FRAMEWORK = {
  MTLCopyAllDevices: { parameters: [], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

interface Opened extends MetalDevices {
  readonly objc: Objc;
}

/** Creates the Metal backend. Opens nothing before it is asked. */
export function metal(options: MetalOptions = {}): Backend {
  const { cores = coresOfRegistry, os = Deno.build.os } = options;
  let opened: Opened | undefined;

  /** Opens the libraries and looks for devices, once. @throws {Error} Where one is missing. */
  function use(): Opened {
    if (opened) return opened;
    // Metal first: it brings the classes of Foundation.
    const framework = openFirst(
      options.metal ?? METAL,
      (path) => Deno.dlopen(path, FRAMEWORK).symbols,
    );
    if ("reason" in framework) throw new Error(missing(framework.reason));
    const runtime = openFirst(options.objc ?? OBJC, (path) => new Objc(path));
    if ("reason" in runtime) throw new Error(missing(runtime.reason));
    const objc = runtime.value;
    const all = framework.value.MTLCopyAllDevices();
    // The array is kept: it is what keeps the devices.
    return opened = { objc, ...describeMetal(objc, all, cores) };
  }

  function missing(reason: string): string {
    return os === "darwin"
      ? `no Metal: ${reason}`
      : `Metal is only on macOS, and this is ${os}: ${reason}`;
  }

  function look(): Found {
    const { found, refused } = use();
    const devices = found.map(({ info }) => info);
    const reason = devices.length > 0
      ? ""
      : `Metal has no device that can be used${
        refused.map((why) => `; ${why}`).join("")
      }`;
    return { devices, reason };
  }

  return {
    name: "metal",
    // The system-level cache lies behind all of memory, and what is written may pass it by.
    rotates: true,
    instruments: new URL("./instruments.metal", import.meta.url),
    target: (arch) => ({ arch, extension: "metal", flags: METAL_FLAGS }),
    find() {
      try {
        return look();
      } catch (error) {
        return { devices: [], reason: textOf(error) };
      }
    },
    compiler(arch) {
      const { devices: [info], reason } = this.find();
      if (info === undefined) {
        throw new CaseError(
          "compile",
          `Cannot compile for Metal: ${reason}; the system's own compiler does it, on a Mac with Apple silicon`,
        );
      }
      const { objc, found } = use();
      // The binary is the source as one text, which any Apple GPU's driver finishes.
      const { handle } = found.find((f) => f.info.arch === arch) ?? found[0]!;
      return {
        signature: `Metal of ${info.driver}`,
        async compile(build, binary) {
          const source = flatten(build);
          const log = await checkLibrary(objc, handle, source);
          await Deno.writeTextFile(binary, source);
          return log;
        },
      };
    },
    open(info) {
      try {
        const { objc, found } = use();
        const at = found[info.index];
        if (at === undefined) throw new Error("there is no such device");
        return openMetalDevice(objc, at.handle, info);
      } catch (error) {
        throw new UserError(
          `Cannot open Metal device ${info.index}: ${textOf(error)}`,
          EXIT.nothing,
        );
      }
    },
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

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

/** The devices, and the reasons why others cannot be used. */
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
