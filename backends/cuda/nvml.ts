/**
 * NVIDIA's management library: clocks, power, temperature, why a clock is lowered, and what else
 * of a GPU's state moves times.
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
import { cstring, out32, out64, textAt, textIn } from "../shared/ffi.ts";
import { openFirst } from "../shared/find_library.ts";

/** The names under which the driver installs it. */
export const NVML_LIBRARIES = ["libnvidia-ml.so.1", "libnvidia-ml.so"] as const;

const nvml = (call: string) => `nvml${call}`;

const NVML = {
  ...statusCalls({
    Init_v2: [],
    SystemGetDriverVersion: ["buffer", "u32"],
    DeviceGetHandleByPciBusId_v2: ["buffer", "buffer"],
    DeviceGetClockInfo: ["u64", "i32", "buffer"],
    DeviceGetTemperature: ["u64", "i32", "buffer"],
    // The name that drivers before and after the change to "events" have.
    DeviceGetCurrentClocksThrottleReasons: ["u64", "buffer"],
    DeviceGetEccMode: ["u64", "buffer", "buffer"],
    DeviceGetEnforcedPowerLimit: ["u64", "buffer"],
    DeviceGetPowerManagementDefaultLimit: ["u64", "buffer"],
    DeviceGetPersistenceMode: ["u64", "buffer"],
  }, nvml),
  ...optionalCalls({
    DeviceGetFieldValues: ["u64", "i32", "buffer"],
    DeviceGetComputeRunningProcesses_v3: ["u64", "buffer", "buffer"],
    DeviceGetMigMode: ["u64", "buffer", "buffer"],
    DeviceGetDefaultEccMode: ["u64", "buffer"],
  }, nvml),
  nvmlErrorString: { parameters: ["i32"], result: "u64" },
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

/** `NVML_FI_DEV_POWER_INSTANT`, of the whole GPU: milliwatts, renewed every 100 ms. */
const POWER_INSTANT = 186;
/**
 * Counters of the nanoseconds for which a policy lowered clocks (`NVML_FI_DEV_PERF_POLICY_*`), by
 * the reason that {@linkcode THROTTLE} has for it.
 */
const LOWERED = [
  [74, "sw_power_cap"],
  [75, "sw_thermal_slowdown"],
  [77, "hw_power_brake_slowdown"],
] as const;
/** Share of the time between two looks for which clocks must have been lowered to be told. */
const LOWERED_SHARE = 0.01;
/** Bytes of a `nvmlFieldValue_t`, and where its status, type and value are. */
const FIELD = { bytes: 40, type: 24, status: 28, value: 32 };
/** `NVML_VALUE_TYPE_UNSIGNED_INT`. */
const UNSIGNED_INT = 1;
/** Bytes of a `nvmlProcessInfo_t`, version 2 and later; its first 4 are the process's number. */
const PROCESS_BYTES = 24;
const MOST_PROCESSES = 64;

/** The opened library. */
export interface Nvml {
  /** e.g. `580.159.03`. */
  readonly driverVersion: string;
  /**
   * Returns the function that reads the device at `busId`, if the library knows it. A
   * figure that the device does not give is missing from the answer.
   */
  device(busId: string): (() => Telemetry) | undefined;
  /** See {@linkcode Backend.machine}. */
  machine(busId: string): readonly string[];
}

/** Opens the library, or returns nothing where it is missing or refuses to start. */
export function openNvml(paths: readonly string[]): Nvml | undefined {
  const opened = openFirst(paths, (path) => {
    const call = openChecked(path, NVML, {
      explain: ({ nvmlErrorString }, status) => ({
        text: textAt(nvmlErrorString(status)),
      }),
    });
    call.Init_v2();
    const version = new Uint8Array(96);
    call.SystemGetDriverVersion(version, version.length);
    return { call, driverVersion: textIn(version) };
  });
  if ("reason" in opened) return undefined;
  const { call, driverVersion } = opened.value;
  const handleOf = (busId: string) =>
    ifOffered(() =>
      out64((to) => call.DeviceGetHandleByPciBusId_v2(cstring(busId), to))
    );
  return {
    driverVersion,
    device(busId) {
      const handle = handleOf(busId);
      return handle === undefined ? undefined : reader(call, handle);
    },
    machine(busId) {
      const handle = handleOf(busId);
      return handle === undefined ? ["no_nvml"] : machineOf(call, handle);
    },
  };
}

/** Returns the function that reads a device: throttle reasons are those since its last call. */
function reader(call: Checked<typeof NVML>, handle: bigint): () => Telemetry {
  const clock = (which: number) =>
    out32((to) => call.DeviceGetClockInfo(handle, which, to));
  const look = () => ({
    at: performance.now(),
    ns: LOWERED.map(([field]) => fieldOf(call, handle, field) ?? 0),
  });
  let last = look();
  const lowered = () => {
    const now = look();
    const least = LOWERED_SHARE * 1e6 * (now.at - last.at);
    const found = LOWERED.filter((_, i) => now.ns[i]! - last.ns[i]! > least);
    last = now;
    return found.map(([, name]) => name);
  };
  return () =>
    readings({
      sm_mhz: () => clock(CLOCK_SM),
      mem_mhz: () => clock(CLOCK_MEM),
      power_w() {
        const milliwatts = fieldOf(call, handle, POWER_INSTANT);
        return milliwatts === undefined ? undefined : milliwatts / 1000;
      },
      temp_c: () =>
        out32((to) => call.DeviceGetTemperature(handle, TEMPERATURE_GPU, to)),
      throttle() {
        const before = lowered();
        const ask = call.DeviceGetCurrentClocksThrottleReasons;
        const bits = out64((to) => ask(handle, to));
        return THROTTLE.map(([bit, name]) =>
          (bits & BigInt(bit)) !== 0n || before.some((own) => own === name)
            ? name
            : ""
        ).filter((name) => name !== "").join("+");
      },
    });
}

/** Returns a field's value; undefined where the device or the library has none. */
function fieldOf(
  call: Checked<typeof NVML>,
  handle: bigint,
  field: number,
): number | undefined {
  const ask = call.DeviceGetFieldValues;
  if (ask === null) return undefined;
  const bytes = new Uint8Array(FIELD.bytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, field, true);
  return ifOffered(() => {
    ask(handle, 1, bytes);
    if (view.getInt32(FIELD.status, true) !== 0) return undefined;
    return view.getInt32(FIELD.type, true) === UNSIGNED_INT
      ? view.getUint32(FIELD.value, true)
      : Number(view.getBigUint64(FIELD.value, true));
  });
}

/** Lists what differs from a GPU of its own in its default state. */
function machineOf(call: Checked<typeof NVML>, handle: bigint): string[] {
  const one = (ask: ((handle: bigint, to: Buffer) => void) | null) =>
    ask === null ? undefined : ifOffered(() => out32((to) => ask(handle, to)));
  /** The first of two answers. */
  const current = (
    ask: ((handle: bigint, to: Buffer, other: Buffer) => void) | null,
  ) => one(ask && ((handle, to) => ask(handle, to, new Int32Array(1))));
  const others = processesOf(call, handle).filter((pid) => pid !== Deno.pid);
  const ecc = current(call.DeviceGetEccMode);
  const usual = one(call.DeviceGetDefaultEccMode) ?? ecc;
  const cap = one(call.DeviceGetEnforcedPowerLimit);
  const full = one(call.DeviceGetPowerManagementDefaultLimit);
  const lowered = cap !== undefined && full !== undefined && cap < full;
  return [
    others.length > 0 && `processes=${others.length}`,
    current(call.DeviceGetMigMode) === 1 && "mig",
    ecc !== usual && `ecc=${ecc === 1 ? "on" : "off"}`,
    lowered && `power_cap=${Math.round(cap / 1000)}W`,
    one(call.DeviceGetPersistenceMode) === 0 && "persistence=off",
    fieldOf(call, handle, POWER_INSTANT) === undefined && "no_instant_power",
  ].filter((found) => found !== false);
}

type Buffer = Int32Array<ArrayBuffer>;

function processesOf(
  call: Checked<typeof NVML>,
  handle: bigint,
): readonly number[] {
  const ask = call.DeviceGetComputeRunningProcesses_v3;
  if (ask === null) return [];
  const bytes = new Uint8Array(PROCESS_BYTES * MOST_PROCESSES);
  const count = new Uint32Array([MOST_PROCESSES]);
  ifOffered(() => ask(handle, count, bytes));
  const words = new Uint32Array(bytes.buffer);
  return Array.from(
    { length: Math.min(count[0]!, MOST_PROCESSES) },
    (_, i) => words[i * PROCESS_BYTES / 4]!,
  ).filter((pid) => pid !== 0);
}
