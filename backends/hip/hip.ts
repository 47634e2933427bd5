/**
 * AMD GPUs: binaries by hipRTC or clang, the rest by HIP's runtime.
 *
 * @module
 */

import type { Backend } from "../../bench/device/device.ts";
import { driverBackend } from "../shared/driver/backend.ts";
import {
  type Host,
  inRocm,
  type Opened,
  openWanted,
  thisHost,
} from "../shared/find_library.ts";
import { openHipBlas } from "./blas.ts";
import { hipCompiler, hipTarget, openHiprtc } from "./compiler.ts";
import { HIP_LIBRARY, hipTraits, hipVersion, openHipDriver } from "./driver.ts";
import { openRocmSmi, SMI_LIBRARY } from "./rocm_smi.ts";
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
    compiler(arch) {
      const places = { host, paths: libraries.hiprtc };
      hiprtc ??= openWanted(HIPRTC_LIBRARY, places, openHiprtc);
      return hipCompiler(hiprtc, hipTarget(arch), host);
    },
    openBlas: (session) => openHipBlas(host, libraries, session),
  });
}
