/**
 * NVIDIA GPUs: binaries by NVRTC or nvcc, the rest by CUDA's driver.
 *
 * @module
 */

import type { Backend } from "../../bench/device/device.ts";
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
import { NVML_LIBRARIES, openNvml } from "./nvml.ts";
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
  return driverBackend({
    name: "cuda",
    openings: 5,
    instruments: new URL("./instruments.cu", import.meta.url),
    target: cudaTarget,
    wayOut: WAY_OUT,
    library: CUDA_LIBRARY,
    places: { host, paths: libraries.driver },
    title: "CUDA driver",
    openDriver(path) {
      const driver = openCudaDriver(path);
      const nvml = openNvml(libraries.nvml ?? NVML_LIBRARIES);
      return {
        driver,
        version: nvml?.driverVersion ?? cudaVersion(driver),
        traits: (_, attribute) => cudaTraits(driver, attribute),
        telemetry: (busId) => nvml?.device(busId),
      };
    },
    compiler(arch) {
      const places = { host, paths: libraries.nvrtc };
      nvrtc ??= openWanted(NVRTC, places, openNvrtc);
      return cudaCompiler(nvrtc, cudaTarget(arch), host);
    },
    openBlas: (session, device) =>
      openCudaBlas(host, libraries, session, device),
  });
}
