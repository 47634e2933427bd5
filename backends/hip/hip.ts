/**
 * AMD GPUs: binaries by hipRTC or clang, the rest by HIP's runtime.
 *
 * @module
 */

import type { Backend, Found } from "../../bench/device/device.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { busId } from "../cuda/driver.ts";
import { openDevice } from "../shared/driver/device.ts";
import { CallError } from "../shared/driver/checked.ts";
import { type Host, type Opened, thisHost } from "../shared/find_library.ts";
import { openHipBlas } from "./blas.ts";
import { hipCompiler, hipTarget, openHiprtc } from "./compiler.ts";
import {
  HIP_LIBRARIES,
  hipDevices,
  type HipDriver,
  hipVersion,
  openHipDriver,
} from "./driver.ts";
import { openRocm } from "./rocm.ts";
import { openRocmSmi, type RocmSmi, SMI_LIBRARIES } from "./rocm_smi.ts";
import type { Rtc } from "../shared/rtc.ts";

/** Libraries to take instead of those that this machine has. */
export interface HipLibraries {
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
const HIPRTC_LIBRARIES = [
  "libhiprtc.so.7",
  "libhiprtc.so.6",
  "libhiprtc.so.5",
  "libhiprtc.so",
];

/** The way out on a machine without a GPU, or in a container that cannot see it. */
const WAY_OUT =
  "install ROCm, or give the container its GPUs (--device /dev/kfd --device /dev/dri)";

/** Creates the HIP backend. Opens nothing before it is asked. */
export function hip(libraries: HipLibraries = {}): Backend {
  const { host = thisHost } = libraries;
  let opened: {
    readonly path: string;
    readonly driver: HipDriver;
    readonly smi: RocmSmi | undefined;
  };
  let hiprtc: Opened<Rtc> | undefined;

  /** Opens the runtime once. @throws {Error} Where it is missing or does not start. */
  function use(): typeof opened {
    if (opened) return opened;
    let refused: CallError | undefined;
    const found = openRocm(
      HIP_LIBRARIES,
      { host, paths: libraries.driver },
      (path) => {
        try {
          return openHipDriver(path);
        } catch (error) {
          // It is there and says no: another of the same machine would say the same.
          if (error instanceof CallError) {
            refused ??= new CallError(
              error.failure,
              `${path}: ${error.message}`,
              error.status,
            );
          }
          throw error;
        }
      },
    );
    if ("reason" in found) {
      throw refused ?? new Error(`no HIP runtime: ${found.reason}`);
    }
    const smi = openRocm(
      SMI_LIBRARIES,
      { host, paths: libraries.smi },
      openRocmSmi,
    );
    return opened = {
      path: found.path,
      driver: found.value,
      smi: "value" in smi ? smi.value : undefined,
    };
  }

  function look(): Found {
    const { driver, path } = use();
    const devices = hipDevices(driver, hipVersion(driver));
    const reason = devices.length > 0
      ? ""
      : `${path} has no devices; ${WAY_OUT}`;
    return { devices, reason };
  }

  return {
    name: "hip",
    instruments: new URL("./instruments.hip", import.meta.url),
    target: hipTarget,
    find() {
      try {
        return look();
      } catch (error) {
        return { devices: [], reason: `${textOf(error)}; ${WAY_OUT}` };
      }
    },
    compiler(arch) {
      const places = { host, paths: libraries.hiprtc };
      hiprtc ??= openRocm(HIPRTC_LIBRARIES, places, openHiprtc);
      return hipCompiler(hiprtc, hipTarget(arch), host);
    },
    open(info) {
      try {
        const { driver, smi } = use();
        const telemetry = smi?.device(busId(driver, info.index));
        return openDevice(driver, info, {
          ...(telemetry ? { telemetry } : {}),
          openBlas: (session, device) =>
            openHipBlas({ host, libraries }, session, device),
        });
      } catch (error) {
        throw new UserError(
          `Cannot open HIP device ${info.index}: ${textOf(error)}`,
          EXIT.nothing,
        );
      }
    },
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
