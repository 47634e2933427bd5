/**
 * ROCm's management library: clocks, power and temperature.
 *
 * @module
 */

import type { Telemetry } from "../../bench/device/device.ts";
import {
  type Checked,
  ifOffered,
  openChecked,
  optionalCalls,
  readings,
  statusCalls,
} from "../shared/driver/checked.ts";
import { out32, out64 } from "../shared/ffi.ts";
import { inRocm } from "../shared/find_library.ts";

/** The names under which ROCm installs it, the newest first. */
export const SMI_LIBRARY = inRocm([
  "librocm_smi64.so.7",
  "librocm_smi64.so.1",
  "librocm_smi64.so.6",
  "librocm_smi64.so.5",
  "librocm_smi64.so",
]);

const rsmi = (call: string) => `rsmi_${call}`;

const SMI = {
  ...statusCalls({
    init: ["u64"],
    num_monitor_devices: ["buffer"],
    dev_pci_id_get: ["u32", "buffer"],
    dev_gpu_clk_freq_get: ["u32", "i32", "buffer"],
    dev_temp_metric_get: ["u32", "u32", "i32", "buffer"],
    dev_power_ave_get: ["u32", "u32", "buffer"],
  }, rsmi),
  // Of MI300 and later, in the place of the average.
  ...optionalCalls({
    dev_current_socket_power_get: ["u32", "buffer"],
  }, rsmi),
};

/** rsmi_clk_type_t. */
const CLOCK = { system: 0, memory: 4 } as const;
/** rsmi_temperature_type_t: the hottest spot; the edge where there is no other. */
const SENSORS = [1, 0];
const TEMPERATURE_CURRENT = 0;

/** The opened library. */
interface RocmSmi {
  /**
   * Returns the function that reads the device at `busId`, if the library knows it. A figure
   * that the device does not give is missing from the answer. Why a clock is lowered is in
   * no field that all releases share.
   */
  device(busId: string): (() => Telemetry) | undefined;
}

/**
 * Opens the library at `path`.
 *
 * @throws {Error} Where there is none, or it does not start.
 */
export function openRocmSmi(path: string): RocmSmi {
  const call = openChecked(path, SMI);
  call.init(0n);
  return {
    device(busId) {
      const wanted = parseBusId(busId);
      const count = out32((to) => call.num_monitor_devices(to));
      for (let i = 0; i < count; i++) {
        const id = ifOffered(() => out64((to) => call.dev_pci_id_get(i, to)));
        if (id !== undefined && maskPartition(id) === wanted) {
          return () => read(call, i);
        }
      }
      return undefined;
    },
  };
}

/** Returns `0000:c1:00.0` as the library numbers it: domain, bus, device, function. */
export function parseBusId(busId: string): bigint {
  const [domain, bus, device, fn] = busId.split(/[:.]/).map((part) =>
    BigInt(`0x${part}`)
  );
  return (domain! << 32n) | (bus! << 8n) | (device! << 3n) | fn!;
}

/** Bits 28 to 31 number the parts of a partitioned device. */
function maskPartition(id: bigint): bigint {
  return id & ~0xf0000000n;
}

function read(call: Checked<typeof SMI>, device: number): Telemetry {
  const clock = (which: number) => {
    const bytes = new Uint8Array(4096);
    call.dev_gpu_clk_freq_get(device, which, bytes);
    return clockIn(bytes);
  };
  const power = call.dev_current_socket_power_get;
  const temperature = call.dev_temp_metric_get;
  return readings({
    sm_mhz: () => clock(CLOCK.system),
    mem_mhz: () => clock(CLOCK.memory),
    power_w() {
      const microwatts = ifOffered(() =>
        out64((to) => call.dev_power_ave_get(device, 0, to))
      ) ??
        out64((to) => power?.(device, to));
      return microwatts === 0n ? undefined : Number(microwatts) / 1e6;
    },
    temp_c() {
      const [millidegrees] = SENSORS.map((sensor) =>
        ifOffered(() =>
          out64((to) => temperature(device, sensor, TEMPERATURE_CURRENT, to))
        )
      ).filter((value) => value !== undefined);
      return millidegrees === undefined
        ? undefined
        : Number(millidegrees) / 1000;
    },
    throttle: () => undefined,
  });
}

/**
 * Returns the current clock in MHz of a `rsmi_frequencies_t`: how many there are, which is
 * current, and their values in Hz. ROCm 6 put a flag before them, so that all moved; the
 * layout is the one that reads as a clock.
 */
function clockIn(bytes: Uint8Array<ArrayBuffer>): number | undefined {
  const view = new DataView(bytes.buffer);
  for (const [counts, values] of [[4, 16], [0, 8]] as const) {
    const count = view.getUint32(counts, true);
    const current = view.getUint32(counts + 4, true);
    if (count < 1 || count > 33 || current >= count) continue;
    const mhz = Number(view.getBigUint64(values + 8 * current, true)) / 1e6;
    if (mhz >= 1 && mhz < 1e5) return Math.round(mhz);
  }
  return undefined;
}
