/**
 * Takes the device that a command runs on.
 *
 * @module
 */

import { EMULATED, emulatedApi } from "../backends/emulator/names.ts";
import { type Backends, backends as all } from "../backends/mod.ts";
import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import type { DeviceSet, EmulatedName } from "../bench/model/settings.ts";
import { unknown } from "./cases.ts";
import { kernelCacheOf, typed } from "./home.ts";
import type { Target } from "./options.ts";

/** The error if no device is present that can run a selected kernel. */
export class NoDeviceError extends UserError {}

/** The device of a command. */
export interface TakenDevice {
  readonly backend: Backend;
  readonly info: DeviceInfo;
  /** Lines for the user on the choice. */
  readonly notes: readonly string[];
}

/** The wanted device. */
export interface DeviceRequest extends Target {
  /** The backends of the selected kernels. */
  readonly useful: ReadonlySet<string>;
  /** Whether Python runs one of these kernels. @default {false} */
  readonly isPython?: boolean;
  /** Folder of built kernels, for an emulated device's driver. @default {the program's own folder} */
  readonly kernelCache?: string | undefined;
}

/** Loads the backend named `name`. @throws {UserError} If there is no such backend. */
export async function backendNamed(
  name: string,
  backends: Backends = all,
): Promise<Backend> {
  if (Object.hasOwn(backends, name)) return await backends[name]!();
  throw unknown("backend", name, Object.keys(backends));
}

/**
 * Returns the wanted device of the wanted backend, or of the first backend with a device and a selected
 * kernel.
 *
 * @throws {UserError} If there is none, with the reason for each backend.
 */
export async function takeDevice(
  wanted: DeviceRequest,
  backends: Backends = all,
): Promise<TakenDevice> {
  const { backend: name, device, useful, isPython = false } = wanted;
  const tried = name === undefined ? Object.keys(backends) : [name];
  if (name !== undefined && !Object.hasOwn(backends, name)) {
    throw unknown("backend", name, Object.keys(backends));
  }
  if (typeof device === "string") return await takeEmulated(device, wanted);
  const notes: string[] = [];
  const absent: string[] = [];
  for (const name of tried) {
    if (!useful.has(name)) {
      notes.push(`${name}: no selected kernel runs on it`);
      continue;
    }
    absent.push(name);
    const backend = await backendNamed(name, backends);
    const { devices, reason } = backend.find();
    if (devices.length === 0) {
      notes.push(`${backend.name}: ${reason}`);
      continue;
    }
    const info = devices.find(({ index }) => index === device);
    if (info) {
      return {
        backend,
        info,
        notes: [
          `Using ${name}: ${describe(info, devices)}${
            elsewhereNote(absent.slice(0, -1))
          }`,
        ],
      };
    }
    const list = devices.map((d) => `${d.index} (${d.name})`).join(", ");
    notes.push(`${backend.name}: no device ${device}, only ${list}`);
  }
  // `doctor` cannot help if all kernels are for other backends.
  const isElsewhere = tried.every((name) => !useful.has(name));
  const none = `No usable device: ${notes.join("; ")}`;
  if (isElsewhere) {
    const others = [...useful].join(" and ");
    throw new UserError(`${none}; they are for ${others}`, EXIT.nothing);
  }
  throw new NoDeviceError(
    `${none}; \`${typed("doctor")}\` says what would fix it${
      isPython
        ? `; Python functions run on a CUDA device only, by a Python with torch: without one \`${
          typed("bench --dry-run")
        }\` lists their cases, and no emulator runs them`
        : emulatorNote(tried, useful)
    }`,
    EXIT.nothing,
  );
}

/** Returns the note on the emulated device of the first of `backends` that has one; empty if none has. */
function emulatorNote(
  backends: readonly string[],
  useful: ReadonlySet<string>,
): string {
  const device = EMULATED.find((name) => {
    const api = emulatedApi(name);
    return backends.includes(api) && useful.has(api);
  });
  return device === undefined
    ? ""
    : `; without one, \`check\` takes \`--device ${device}\``;
}

/** Returns the note that `backends` have no device here; empty for none. */
function elsewhereNote(backends: readonly string[]): string {
  return backends.length === 0
    ? ""
    : `; no device of ${backends.join(", ")} (\`${typed("doctor")}\` says why)`;
}

/** @throws {UserError} Where nothing wanted runs on it, or it cannot be opened. */
async function takeEmulated(
  device: EmulatedName,
  { backend: name, useful, kernelCache }: DeviceRequest,
): Promise<TakenDevice> {
  const api = emulatedApi(device);
  if (name !== undefined && name !== api) {
    throw new UserError(
      `${device} is a device of ${api}, and kernels of ${name} are asked for: take another --device, leave out --backend, or take kernels of ${api}`,
    );
  }
  if (!useful.has(api)) {
    throw new UserError(
      `No selected kernel runs on ${device}: it is of ${api}, and they are for ${
        [...useful].join(" and ")
      }`,
      EXIT.nothing,
    );
  }
  const { emulatedDevice } = await import("../backends/emulator/emulator.ts");
  const taken = emulatedDevice(device, kernelCacheOf(kernelCache));
  const note = `Using ${api}: ${describe(taken.info, [taken.info])}`;
  return { ...taken, notes: [note] };
}

/**
 * The devices that share cases with the one that was taken.
 *
 * @throws {UserError} Where one is not there, or of another kind: cases on different GPUs are not
 * compared.
 */
export function sharing(
  { backend, info }: TakenDevice,
  wanted: DeviceSet,
): readonly DeviceInfo[] {
  const { devices } = backend.find();
  const infos = wanted === "all"
    ? devices
    : devices.filter(({ index }) => wanted.includes(index));
  const absent = wanted === "all"
    ? undefined
    : wanted.find((index) => !infos.some((one) => one.index === index));
  if (absent !== undefined) {
    throw new NoDeviceError(
      `No device ${absent} of ${backend.name}: there are ${
        devices.map((d) => `${d.index} (${d.name})`).join(", ")
      }`,
      EXIT.nothing,
    );
  }
  const other = infos.find(({ name, arch }) =>
    name !== info.name || arch !== info.arch
  );
  if (other === undefined) return infos;
  throw new UserError(
    `Cannot share cases between device ${info.index} (${info.name}) and device ${other.index} (${other.name}): name devices of one kind, as in --device ${
      devices.filter(({ name }) => name === info.name)
        .map(({ index }) => index).join()
    }`,
  );
}

function describe(info: DeviceInfo, devices: readonly DeviceInfo[]): string {
  const of = devices.length > 1
    ? `device ${info.index} of ${devices.length}, `
    : "";
  return `${of}${info.name} (${info.arch}, driver ${info.driver})`;
}
