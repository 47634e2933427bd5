/**
 * Apple GPUs: MSL compiled by the system at run time, the rest by Metal's objects.
 *
 * @module
 */

import { checkLibrary, flatten, METAL_FLAGS } from "./library.ts";
import { allocateMetal } from "./memory.ts";
import { loadMetal } from "./module.ts";
import { openMps } from "./mps.ts";
import { Objc } from "./objc.ts";
import { MetalQueue } from "./queue.ts";
import { askTool, demandPlain } from "../shared/compiler.ts";
import { messageOf, openFirst } from "../shared/find_library.ts";
import type {
  Backend,
  Device,
  DeviceInfo,
  Interval,
} from "../../bench/device/device.ts";
import { CaseError, EXIT, UserError } from "../../bench/model/errors.ts";

/** Libraries and facts to take instead of those that this machine has. */
interface MetalOptions {
  /** The Objective-C runtime. */
  readonly objc?: readonly string[];
  /** Metal's framework. */
  readonly metal?: readonly string[];
  /** Metal Performance Shaders. */
  readonly mps?: readonly string[];
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

/** Creates the Metal backend. Opens nothing before it is asked. */
export function metal(options: MetalOptions = {}): Backend {
  const { cores = coresOfRegistry, os = Deno.build.os } = options;
  let opened: MetalDevices | undefined;

  /** Opens the libraries and looks for devices, once. @throws {Error} Where one is missing. */
  function use(): MetalDevices {
    if (opened) return opened;
    // Metal first: it brings the classes of Foundation.
    const framework = open(
      options.metal ?? METAL,
      (path) => Deno.dlopen(path, FRAMEWORK).symbols,
    );
    const objc = open(options.objc ?? OBJC, (path) => new Objc(path));
    // The array is kept: it is what keeps the devices.
    return opened = describe(objc, framework.MTLCopyAllDevices(), cores);
  }

  function open<T>(paths: readonly string[], library: (path: string) => T): T {
    const found = openFirst(paths, library);
    if ("value" in found) return found.value;
    throw new Error(
      os === "darwin"
        ? `no Metal: ${found.reason}`
        : `Metal is only on macOS, and this is ${os}: ${found.reason}`,
    );
  }

  return {
    name: "metal",
    graphs: false,
    // The system-level cache lies behind all of memory, and what is written may pass it by.
    rotates: true,
    instruments: new URL("./instruments.metal", import.meta.url),
    target: (arch) => ({ arch, extension: "metal", flags: METAL_FLAGS }),
    find() {
      try {
        const { found, refused } = use();
        const reason = found.length > 0
          ? ""
          : ["Metal has no device that can be used", ...refused].join("; ");
        return { devices: found.map(({ info }) => info), reason };
      } catch (error) {
        return { devices: [], reason: messageOf(error) };
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
          demandPlain(build, "Metal's own compiler");
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
        return openMetalDevice(objc, at.handle, { info, mps: options.mps });
      } catch (error) {
        throw new UserError(
          `Cannot open Metal device ${info.index}: ${messageOf(error)}`,
          EXIT.nothing,
        );
      }
    },
  };
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

/** The runtime, the devices, and the reasons why others cannot be used. */
interface MetalDevices {
  readonly objc: Objc;
  readonly found: readonly {
    readonly handle: bigint;
    readonly info: DeviceInfo;
  }[];
  readonly refused: readonly string[];
}

/** Describes every device of `all`, an `NSArray`. */
function describe(
  objc: Objc,
  all: bigint,
  cores: () => number | undefined,
): MetalDevices {
  using _pool = objc.pool();
  const driver = objc.textOf(
    objc.send(objc.class("NSProcessInfo"), "processInfo"),
    "operatingSystemVersionString",
  ).replace(/^Version /, "macOS ");
  const count = Number(objc.send(all, "count"));
  const found: { handle: bigint; info: DeviceInfo }[] = [];
  const refused: string[] = [];
  for (let i = 0; i < count; i++) {
    const handle = objc.send(all, "objectAtIndex:", BigInt(i));
    const name = objc.textOf(handle, "name");
    if (!objc.asks(handle, "supportsFamily:", APPLE7)) {
      refused.push(`${name} has no simdgroup matrices: an Apple M1 has`);
      continue;
    }
    if (!objc.has(handle, "architecture")) {
      refused.push(`${name} needs macOS 14 for bfloat, and this is ${driver}`);
      continue;
    }
    const arch = objc.textOf(objc.send(handle, "architecture"), "name");
    const size = arch.at(-1)!;
    const cacheBytes = CACHE[size] ?? 0;
    const shared = objc.send(handle, "maxThreadgroupMemoryLength");
    const info = {
      index: found.length,
      name,
      arch,
      units: cores() ?? CORES[size] ?? 10,
      cacheBytes,
      flushBytes: Math.max(FLUSH_FLOOR, 2 * cacheBytes),
      sharedBytes: Number(shared),
      driver,
    };
    found.push({ handle, info });
  }
  return { objc, found, refused };
}

/** Cores of the GPU as the registry of drivers has them; nothing where it cannot be asked. */
function coresOfRegistry(): number | undefined {
  const args = ["-r", "-c", "AGXAccelerator", "-d", "1"];
  const text = askTool("ioreg", args)?.stdout ?? "";
  const [, cores] = /"gpu-core-count"\s*=\s*(\d+)/.exec(text) ?? [];
  return cores === undefined ? undefined : Number(cores);
}

const NS_PER_SECOND = 1e9;

/** Opens the device that `MTLDevice` `handle` is. */
function openMetalDevice(
  objc: Objc,
  handle: bigint,
  { info, mps }: {
    readonly info: DeviceInfo;
    readonly mps: readonly string[] | undefined;
  },
): Device {
  const made = objc.send(handle, "newCommandQueue");
  if (made === 0n) throw new Error("newCommandQueue: nil");
  const queue = new MetalQueue(objc, made);
  const version = info.driver;
  const library = openMps({ queue, device: handle, version, paths: mps });
  let open = true;
  return {
    info,
    alloc: (bytes) => allocateMetal(queue, handle, bytes),
    load: (binary) =>
      loadMetal(
        { queue, device: handle, sharedBytes: info.sharedBytes },
        binary,
      ),
    interval: () => createMetalInterval(queue),
    synchronize: () => queue.wait(),
    ...library,
    [Symbol.dispose]() {
      if (!open) return;
      if ("blas" in library) library.blas[Symbol.dispose]();
      queue[Symbol.dispose]();
      open = false;
    },
  };
}

/**
 * A command buffer for each sample, and the GPU's own times of its start and its end: what the
 * host does in between is not in them.
 */
function createMetalInterval(queue: MetalQueue): Interval {
  const { objc } = queue;
  let buffers: readonly bigint[] = [];
  const drop = () => {
    for (const buffer of buffers) objc.release(buffer);
    buffers = [];
  };
  const time = (buffer: bigint, which: string) =>
    objc.calls.seconds(buffer, objc.sel(which));
  return {
    measure(work) {
      drop();
      buffers = queue.collect(work);
    },
    nanoseconds() {
      // Without work there is no command buffer, and no time.
      const [first, last] = [buffers[0], buffers.at(-1)];
      if (first === undefined || last === undefined) return 0;
      const seconds = time(last, "GPUEndTime") - time(first, "GPUStartTime");
      return Math.round(seconds * NS_PER_SECOND);
    },
    [Symbol.dispose]: drop,
  };
}
