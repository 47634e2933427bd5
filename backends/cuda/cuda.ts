/**
 * NVIDIA GPUs: binaries by NVRTC or nvcc, the rest by CUDA's driver.
 *
 * @module
 */

import type { Backend, Found } from "../../bench/device/device.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { openCudaBlas } from "./blas.ts";
import {
  cudaCompiler,
  cudaTarget,
  NVRTC_WANTED,
  openNvrtc,
} from "./compiler.ts";
import {
  busId,
  CUDA_LIBRARY,
  cudaDevices,
  cudaVersion,
  openCudaDriver,
} from "./driver.ts";
import { openDevice } from "../shared/driver/device.ts";
import { CallError } from "../shared/driver/checked.ts";
import type { Driver } from "../shared/driver/session.ts";
import {
  type Host,
  type Opened,
  openWanted,
  quote,
  thisHost,
} from "../shared/find_library.ts";
import { type Nvml, NVML_LIBRARIES, openNvml } from "./nvml.ts";
import type { Rtc } from "../shared/rtc.ts";

/** Libraries to take instead of those that this machine has. */
export interface CudaLibraries {
  /** The driver. @default {"libcuda.so.1"} */
  readonly driver?: string;
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
  const { driver: path = CUDA_LIBRARY, host = thisHost } = libraries;
  let opened: { readonly driver: Driver; readonly nvml: Nvml | undefined };
  let nvrtc: Opened<Rtc> | undefined;

  /** Opens the driver once. @throws {Error} Where it is missing or does not start. */
  function use(): typeof opened {
    return opened ??= {
      driver: openCudaDriver(path),
      nvml: openNvml(libraries.nvml ?? NVML_LIBRARIES),
    };
  }

  function look(): Found {
    const { driver, nvml } = use();
    const version = nvml?.driverVersion ?? cudaVersion(driver);
    const devices = cudaDevices(driver, version);
    const reason = devices.length > 0
      ? ""
      : `${path} has no devices; ${WAY_OUT}`;
    return { devices, reason };
  }

  return {
    name: "cuda",
    openings: 5,
    instruments: new URL("./instruments.cu", import.meta.url),
    target: cudaTarget,
    find() {
      try {
        return look();
      } catch (error) {
        return { devices: [], reason: `${whyNot(path, error)}; ${WAY_OUT}` };
      }
    },
    compiler(arch) {
      const places = { host, paths: libraries.nvrtc };
      nvrtc ??= openWanted(NVRTC_WANTED, places, openNvrtc);
      return cudaCompiler(nvrtc, cudaTarget(arch), host);
    },
    open(info) {
      try {
        const { driver, nvml } = use();
        const telemetry = nvml?.device(busId(driver, info.index));
        return openDevice(driver, info, {
          ...(telemetry ? { telemetry } : {}),
          openBlas: (session, device) =>
            openCudaBlas({ host, paths: libraries.cublas }, session, device),
        });
      } catch (error) {
        throw new UserError(
          `Cannot open CUDA device ${info.index}: ${whyNot(path, error)}`,
          EXIT.nothing,
        );
      }
    },
  };
}

function whyNot(path: string, error: unknown): string {
  return error instanceof CallError
    ? `${path}: ${error.message}`
    : `no CUDA driver: tried ${quote(path, error)}`;
}
