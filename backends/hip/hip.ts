/**
 * AMD GPUs: binaries by hipRTC or clang, the rest by HIP's runtime.
 *
 * @module
 */

import type { Backend, Compiler, Target } from "../../bench/device/device.ts";
import { driverBackend, type Traits } from "../shared/driver/backend.ts";
import {
  type Host,
  inRocm,
  type Opened,
  openWanted,
  pathFolders,
  rocmRoots,
  thisHost,
} from "../shared/find_library.ts";
import { openHipBlas } from "./blas.ts";
import { openRocmSmi, SMI_LIBRARY } from "./rocm_smi.ts";
import { openRtc, type Rtc, rtcCompiler } from "../shared/rtc.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { askTool, programCompiler } from "../shared/compiler.ts";
import { CallError } from "../shared/driver/checked.ts";
import { type Driver, openDriver } from "../shared/driver/session.ts";
import { out32, textAt } from "../shared/ffi.ts";

/** The names under which ROCm installs it, the newest first. */
const HIP_LIBRARY = inRocm([
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
interface HipDriver extends Driver {
  /** Bytes of the properties of a device, in whatever layout this release has. */
  properties(ordinal: number): Uint8Array<ArrayBuffer>;
}

/**
 * Opens and initialises the runtime at `path`.
 *
 * @throws {CallError} If `hipInit` fails: a driver without a usable device.
 * @throws {Error} If there is no such library.
 */
function openHipDriver(path: string): HipDriver {
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
function hipVersion({ call }: Driver): string {
  const version = out32((to) => call.driverVersion(to));
  const [major, minor] = [1e7, 1e5].map((unit) => Math.floor(version / unit));
  return `${major}.${minor! % 100}.${version % 1e5}`;
}

/** Returns the properties of the device `ordinal` of `driver`. */
function hipTraits(
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

/** Flags that every compiler of this backend takes. */
const FLAGS = ["-O3", "-std=c++17"] as const;

/** Returns what is built for `arch`. */
function hipTarget(arch: string): Target {
  return { arch, extension: "hsaco", flags: FLAGS };
}

/** Programs on the path that compile HIP, the preferred first. */
const CLANGS = [
  "amdclang++",
  ...[22, 21, 20, 19, 18, 17].map((version) => `clang-${version}`),
  "clang",
];

/** The release of clang to install: what Debian has, and from 20 on it knows gfx950. */
const clangFor = (arch: string) => arch === "gfx950" ? 22 : 19;

/**
 * Returns hipRTC where it was found, else the first clang that knows `target`.
 *
 * @param chosen `hiprtc`, or a clang: the only one to take.
 * @throws {CaseError} `compile`, where there is neither, with all that was tried.
 */
function hipCompiler(
  hiprtc: Opened<Rtc>,
  target: Target,
  host: Host,
  chosen?: string,
): Compiler {
  const options = [`--offload-arch=${target.arch}`, ...target.flags];
  const byClang = chosen !== undefined && chosen !== "hiprtc";
  if ("value" in hiprtc && !byClang) {
    return rtcCompiler(hiprtc.value, { tool: "hiprtc", options, includes: [] });
  }
  const clangs = chosen === undefined
    ? findClangs(host)
    : byClang
    ? [chosen]
    : [];
  const usable = clangs.find((path) => knows(path, target));
  const compiler = usable && programCompiler(usable, {
    options: [
      ...["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output"],
      // The kernels bring what they need of HIP (kernels/device/gfx.h).
      ...["-nogpuinc", "-nogpulib", ...options],
    ],
  });
  if (compiler) return compiler;
  if (chosen !== undefined) {
    throw new CaseError(
      "compile",
      `Cannot compile for HIP by ${chosen}: it is ${
        byClang ? `no clang that knows ${target.arch}` : "not here"
      }; name hiprtc or a clang that knows it, or leave compiler out`,
    );
  }
  const refused = clangs.length === 0
    ? `no clang (tried PATH, ${
      rocmRoots(host).map((root) => `${root}/llvm/bin`).join(", ")
    })`
    : `no clang that knows ${target.arch} (tried ${clangs.join(", ")})`;
  const release = clangFor(target.arch);
  throw new CaseError(
    "compile",
    `Cannot compile for HIP: no hipRTC (${
      "reason" in hiprtc ? hiprtc.reason : ""
    }) and ${refused}; install ROCm, or: apt-get install clang-${release} lld-${release}`,
  );
}

/** Every clang: of ROCm, then on the path. */
function findClangs(host: Host): readonly string[] {
  const folders = [
    ...rocmRoots(host).map((root) => `${root}/llvm/bin`),
    ...pathFolders(host),
  ];
  const names = CLANGS.flatMap((name) =>
    folders.filter((folder) => host.list(folder).includes(name))
      .map((folder) => `${folder}/${name}`)
  );
  return [...new Set(names)];
}

/** Returns whether the clang at `path` lists the processor. */
function knows(path: string, { arch }: Target): boolean {
  const answer = askTool(path, [
    "--target=amdgcn-amd-amdhsa",
    "-nogpulib",
    "--print-supported-cpus",
  ]);
  const text = `${answer?.stdout ?? ""}${answer?.stderr ?? ""}`;
  return new RegExp(`\\b${arch}\\b`).test(text);
}

/** Libraries to take instead of those that this machine has. */
interface HipLibraries {
  /** HIP's runtime. */
  readonly driver?: readonly string[];
  readonly hiprtc?: readonly string[];
  readonly hipblas?: readonly string[];
  readonly hipblaslt?: readonly string[];
  /** The management library; none for no telemetry. */
  readonly smi?: readonly string[];
  /** The machine on which everything else is looked for. @default {this machine} */
  readonly host?: Host;
}

/** hipRTC has been a library of its own since ROCm 5; its number is the release's. */
const HIPRTC_LIBRARY = inRocm([
  "libhiprtc.so.7",
  "libhiprtc.so.6",
  "libhiprtc.so.5",
  "libhiprtc.so",
]);

/** The way out on a machine without a GPU, or in a container that cannot see it. */
const WAY_OUT =
  "install ROCm, or give the container its GPUs (--device /dev/kfd --device /dev/dri)";

/** Creates the HIP backend. Opens nothing before it is asked. */
export function hip(libraries: HipLibraries = {}): Backend {
  const { host = thisHost } = libraries;
  let hiprtc: Opened<Rtc> | undefined;
  return driverBackend({
    name: "hip",
    instruments: new URL("./instruments.hip", import.meta.url),
    target: hipTarget,
    wayOut: WAY_OUT,
    library: HIP_LIBRARY,
    places: { host, paths: libraries.driver },
    title: "HIP runtime",
    openDriver(path) {
      const driver = openHipDriver(path);
      const places = { host, paths: libraries.smi };
      const smi = openWanted(SMI_LIBRARY, places, openRocmSmi);
      return {
        driver,
        version: hipVersion(driver),
        traits: (ordinal, attribute) => hipTraits(driver, ordinal, attribute),
        telemetry: (busId) =>
          "value" in smi ? smi.value.device(busId) : undefined,
      };
    },
    compiler(arch, build) {
      const places = { host, paths: libraries.hiprtc };
      hiprtc ??= openWanted(
        HIPRTC_LIBRARY,
        places,
        (path) => openRtc(path, "hiprtc", "Code"),
      );
      return hipCompiler(hiprtc, hipTarget(arch), host, build?.compiler);
    },
    openBlas: (session) => openHipBlas(host, libraries, session),
  });
}
