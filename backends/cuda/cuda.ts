/**
 * NVIDIA GPUs: binaries by NVRTC or nvcc, the rest by CUDA's driver.
 *
 * @module
 */

import type { Backend, Reader } from "../../bench/device/device.ts";
import { openCudaBlas } from "./blas.ts";
import { cudaCompiler, cudaTarget, NVRTC, openNvrtc } from "./compiler.ts";
import {
  CUDA_LIBRARY,
  cudaTraits,
  cudaVersion,
  openCudaDriver,
} from "./driver.ts";
import { driverBackend } from "../shared/driver/backend.ts";
import {
  type Host,
  type Opened,
  openWanted,
  thisHost,
} from "../shared/find_library.ts";
import { type Nvml, NVML_LIBRARIES, openNvml } from "./nvml.ts";
import type { Rtc } from "../shared/rtc.ts";

/** Libraries to take instead of those that this machine has. */
export interface CudaLibraries {
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
    compiler(arch) {
      const places = { host, paths: libraries.nvrtc };
      nvrtc ??= openWanted(NVRTC, places, openNvrtc);
      return cudaCompiler(nvrtc, cudaTarget(arch), host);
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
    ...{ entry: `load_${unroll}`, threads, perUnit },
    blockBytes: 16 * threads,
  });
  const bulk = (chunk: number, perUnit: number): Reader => {
    const stages = Math.min(8, Math.floor(RINGS / perUnit / chunk));
    return {
      ...{ entry: "load_bulk", threads: 32, perUnit, blockBytes: chunk },
      sharedBytes: stages * chunk,
      parameters: [chunk, stages],
    };
  };
  const sm = Number.parseInt(arch.slice("sm_".length), 10);
  return [
    ...[loop(2, 256, 1), loop(2, 256, 8), loop(2, 512, 4), loop(4, 1024, 1)],
    ...(sm < 80 ? [] : [{
      ...{ entry: "load_async", threads: 256, perUnit: 4 },
      ...{ blockBytes: 16 * 256, sharedBytes: STAGES * 16 * 256 },
    }]),
    ...(sm < 90 ? [] : [bulk(16384, 2), bulk(32768, 2), bulk(8192, 4)]),
  ];
}
