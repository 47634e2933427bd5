/**
 * NVIDIA's management library: clocks, power, temperature and why a clock is lowered.
 *
 * @module
 */

import type { Telemetry } from "../../bench/device/device.ts";
import {
  type Checked,
  given,
  openChecked,
  readings,
} from "../shared/driver/checked.ts";
import { cstring, out32, out64, textAt, textIn } from "../shared/ffi.ts";
import { openFirst } from "../shared/find_library.ts";

/** The names under which the driver installs it. */
export const NVML_LIBRARIES = ["libnvidia-ml.so.1", "libnvidia-ml.so"] as const;

const STATUS = "i32";
const NVML = {
  nvmlInit_v2: { parameters: [], result: STATUS },
  nvmlSystemGetDriverVersion: { parameters: ["buffer", "u32"], result: STATUS },
  nvmlDeviceGetHandleByPciBusId_v2: {
    parameters: ["buffer", "buffer"],
    result: STATUS,
  },
  nvmlDeviceGetClockInfo: {
    parameters: ["u64", "i32", "buffer"],
    result: STATUS,
  },
  nvmlDeviceGetPowerUsage: { parameters: ["u64", "buffer"], result: STATUS },
  nvmlDeviceGetTemperature: {
    parameters: ["u64", "i32", "buffer"],
    result: STATUS,
  },
  // The name that drivers before and after the change to "events" have.
  nvmlDeviceGetCurrentClocksThrottleReasons: {
    parameters: ["u64", "buffer"],
    result: STATUS,
  },
  nvmlErrorString: { parameters: [STATUS], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

const CLOCK_SM = 1;
const CLOCK_MEM = 2;
const TEMPERATURE_GPU = 0;

/** Bits of `nvmlClocksThrottleReasons`; 0x1, an idle GPU, lowers nobody's kernel. */
const THROTTLE = [
  [0x2, "applications_clocks_setting"],
  [0x4, "sw_power_cap"],
  [0x8, "hw_slowdown"],
  [0x10, "sync_boost"],
  [0x20, "sw_thermal_slowdown"],
  [0x40, "hw_thermal_slowdown"],
  [0x80, "hw_power_brake_slowdown"],
  [0x100, "display_clock_setting"],
] as const;

/** The opened library. */
export interface Nvml {
  /** e.g. `580.159.03`. */
  readonly driverVersion: string;
  /**
   * Returns the function that reads the device at `busId`, if the library knows it. A
   * figure that the device does not give is missing from the answer.
   */
  device(busId: string): (() => Telemetry) | undefined;
}

/** Opens the library, or returns nothing where it is missing or refuses to start. */
export function openNvml(paths: readonly string[]): Nvml | undefined {
  const opened = openFirst(paths, (path) => {
    const call = openChecked(path, NVML, {
      explain: ({ nvmlErrorString }, status) => ({
        text: textAt(nvmlErrorString(status)),
      }),
    });
    call.nvmlInit_v2();
    const version = new Uint8Array(96);
    call.nvmlSystemGetDriverVersion(version, version.length);
    return { call, driverVersion: textIn(version) };
  });
  if ("reason" in opened) return undefined;
  const { call, driverVersion } = opened.value;
  return {
    driverVersion,
    device(busId) {
      const handle = given(() =>
        out64((to) => call.nvmlDeviceGetHandleByPciBusId_v2(cstring(busId), to))
      );
      return handle === undefined ? undefined : () => read(call, handle);
    },
  };
}

function read(call: Checked<typeof NVML>, handle: bigint): Telemetry {
  const clock = (which: number) =>
    out32((to) => call.nvmlDeviceGetClockInfo(handle, which, to));
  return readings({
    sm_mhz: () => clock(CLOCK_SM),
    mem_mhz: () => clock(CLOCK_MEM),
    power_w: () =>
      out32((to) => call.nvmlDeviceGetPowerUsage(handle, to)) / 1000,
    temp_c: () =>
      out32((to) => call.nvmlDeviceGetTemperature(handle, TEMPERATURE_GPU, to)),
    throttle() {
      const ask = call.nvmlDeviceGetCurrentClocksThrottleReasons;
      const bits = out64((to) => ask(handle, to));
      return THROTTLE.filter(([bit]) => (bits & BigInt(bit)) !== 0n)
        .map(([, name]) => name).join("+");
    },
  });
}
