/**
 * NVIDIA GPUs: binaries by NVRTC or nvcc, the rest by CUDA's driver.
 *
 * @module
 */

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type {
  Backend,
  Compiler,
  Placement,
  Reader,
} from "../../bench/device/device.ts";
import { PHASES } from "../../bench/measure/stats.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { driverBackend, type Traits } from "../shared/driver/backend.ts";
import { type Driver, openDriver } from "../shared/driver/session.ts";
import { out32, out64, textAt } from "../shared/ffi.ts";
import {
  type Host,
  type LibraryQuery,
  type Opened,
  openWanted,
  thisHost,
} from "../shared/find_library.ts";
import type { Rtc } from "../shared/rtc.ts";
import { openCudaBlas } from "./blas.ts";
import {
  cudaCompiler,
  cudaTarget,
  NVRTC,
  openNvrtc,
  openWorkingNvrtc,
} from "./compiler.ts";
import { isCubin, smOf } from "./cubin.ts";
import { type Nvml, NVML_LIBRARIES, openNvml } from "./nvml.ts";

/** The name under which every driver installs it. */
const CUDA_LIBRARY: LibraryQuery = {
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
function cudaVersion({ call }: Driver): string {
  const version = out32((to) => call.driverVersion(to));
  return `${Math.floor(version / 1000)}.${Math.floor(version % 1000 / 10)}`;
}

/** Returns the properties of a device of `driver`. */
function cudaTraits(
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

/** Libraries to take instead of those that this machine has. */
interface CudaLibraries {
  /** The driver. @default {"libcuda.so.1"} */
  readonly driver?: readonly string[];
  /** The management library; none for no telemetry. */
  readonly nvml?: readonly string[];
  readonly nvrtc?: readonly string[];
  /** cuBLAS, with cuBLASLt beside it. */
  readonly cublas?: readonly string[];
  /** The machine on which everything else is looked for. @default {this machine} */
  readonly host?: Host;
}

/**
 * Operands in 9 % of places are 0.25 µs faster, in each process others. As many copies as a series
 * has phases, so that each is a phase. See `docs/notes/2026-11-23-process-state.md`.
 */
const PLACEMENT: Placement = { copies: PHASES, pageBytes: 1 << 21 };

/** The way out on a machine without a GPU, or in a container that cannot see it. */
const WAY_OUT =
  "install NVIDIA's driver, or give the container its GPUs (--gpus all)";

/** Creates the CUDA backend. Opens nothing before it is asked. */
export function cuda(libraries: CudaLibraries = {}): Backend {
  const { host = thisHost } = libraries;
  let nvrtc: Opened<Rtc> | undefined;
  let nvml: Nvml | undefined;
  return driverBackend({
    name: "cuda",
    openings: 5,
    placement: PLACEMENT,
    instruments: new URL("./instruments.cu", import.meta.url),
    readers,
    target: cudaTarget,
    wayOut: WAY_OUT,
    library: CUDA_LIBRARY,
    places: { host, paths: libraries.driver },
    title: "CUDA driver",
    openDriver(path) {
      const driver = openCudaDriver(path);
      nvml = openNvml(libraries.nvml ?? NVML_LIBRARIES);
      return {
        driver,
        version: nvml?.driverVersion ?? cudaVersion(driver),
        traits: (_, attribute) => cudaTraits(driver, attribute),
        telemetry: (busId) => nvml?.device(busId),
      };
    },
    machine: (busId) => nvml?.machine(busId) ?? ["no_nvml"],
    compiler(arch, build) {
      const given = givenCompiler(arch, build?.source);
      if (given) return given;
      const places = { host, paths: libraries.nvrtc };
      nvrtc ??= openWanted(
        NVRTC,
        places,
        // One that was named is not tried: the emulator's would take long.
        (path) =>
          libraries.nvrtc ? openNvrtc(path) : openWorkingNvrtc(path, host),
      );
      return cudaCompiler(nvrtc, cudaTarget(arch), host, build?.compiler);
    },
    openBlas: (session, device) =>
      openCudaBlas(host, libraries, session, device),
  });
}

/** Stages of load_async, 16 bytes a thread each. */
const STAGES = 8;
/** Shared memory that the rings of all blocks on a multiprocessor take. */
const RINGS = 192 * 1024;

/**
 * The readers in instruments.cu. Of 40 in docs/notes/2026-11-23-bound-and-chain.md these were the
 * fastest, each at some size.
 */
function readers(arch: string): readonly Reader[] {
  const loop = (unroll: number, threads: number, perUnit: number): Reader => ({
    entry: `load_${unroll}`,
    threads,
    perUnit,
    blockBytes: 16 * threads,
  });
  const bulk = (chunk: number, perUnit: number): Reader => {
    const stages = Math.min(8, Math.floor(RINGS / perUnit / chunk));
    return {
      entry: "load_bulk",
      threads: 32,
      perUnit,
      blockBytes: chunk,
      sharedBytes: stages * chunk,
      parameters: [chunk, stages],
    };
  };
  const sm = Number.parseInt(arch.slice("sm_".length), 10);
  return [
    ...[loop(2, 256, 1), loop(2, 256, 8), loop(2, 512, 4), loop(4, 1024, 1)],
    ...(sm < 80 ? [] : [{
      entry: "load_async",
      threads: 256,
      perUnit: 4,
      blockBytes: 16 * 256,
      sharedBytes: STAGES * 16 * 256,
    }]),
    ...(sm < 90 ? [] : [bulk(16384, 2), bulk(32768, 2), bulk(8192, 4)]),
  ];
}

/** Returns the "compiler" of a `.ptx` or `.cubin` file for `arch`; nothing of a source. */
export function givenCompiler(
  arch: string,
  source: URL | undefined,
): Compiler | undefined {
  const [, kind] = /\.(ptx|cubin)$/.exec(source?.pathname ?? "") ?? [];
  if (kind === undefined) return undefined;
  return {
    signature: `given ${kind}`,
    async compile(build, binary) {
      const path = fileURLToPath(build.source);
      const bytes = await Deno.readFile(path);
      const refuse = (why: string): never => {
        throw new CaseError("compile", `Cannot load ${basename(path)}: ${why}`);
      };
      const why = kind === "ptx"
        ? misfitOfPtx(new TextDecoder().decode(bytes), arch)
        : misfitOfCubin(bytes, arch);
      if (why !== undefined) refuse(why);
      await Deno.writeFile(binary, bytes);
      // The driver takes PTX as a string of C.
      if (kind === "ptx") {
        await Deno.writeFile(binary, new Uint8Array(1), { append: true });
      }
      return "";
    },
  };
}

/** Returns why the driver of a device of `arch` cannot load a cubin. */
function misfitOfCubin(bytes: Uint8Array, arch: string): string | undefined {
  if (!isCubin(bytes)) {
    return "it is no cubin; name what ptxas or nvcc -cubin wrote";
  }
  const [own, sm] = [numberOf(arch), smOf(bytes)];
  return sm <= own && Math.floor(sm / 10) === Math.floor(own / 10)
    ? undefined
    : misfit(`sm_${sm}`, arch);
}

/** Returns why the driver of a device of `arch` cannot compile PTX. */
function misfitOfPtx(text: string, arch: string): string | undefined {
  const [, target, number, suffix] =
    /^\s*\.target\s+(sm_(\d+)([af]?))\b/m.exec(text) ?? [];
  if (target === undefined) return "it is no PTX: it has no line .target";
  const [own, sm] = [numberOf(arch), Number(number)];
  const fits = suffix === "a" ? sm === own : sm <= own &&
    (suffix === "" || Math.floor(sm / 10) === Math.floor(own / 10));
  return fits ? undefined : misfit(target, arch);
}

function misfit(target: string, arch: string): string {
  return `it is for ${target}, and the device is ${arch}; compile it for ${arch}`;
}

/** Returns the number of an architecture: 90 of `sm_90a`. */
function numberOf(arch: string): number {
  return Number.parseInt(arch.slice("sm_".length), 10);
}
