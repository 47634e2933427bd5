/**
 * Chooses the device of a command, and explains why others are not used.
 *
 * @module
 */

import { backends as all } from "../backends/mod.ts";
import { emulatedDevice } from "../backends/emulator/emulator.ts";
import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import type { EmulatedName } from "../bench/model/settings.ts";
import { kernelCacheOf, typed } from "./home.ts";
import type { Target } from "./options.ts";
import { unknown } from "./select.ts";
import { emulatedApi } from "../backends/emulator/library.ts";

/** A device that was taken. */
export interface Taken {
  readonly backend: Backend;
  readonly info: DeviceInfo;
  /** Lines on what was found, the taken one last. */
  readonly notes: readonly string[];
}

/** What may be taken. */
export interface Wanted extends Target {
  /** Backends that have a kernel to run. */
  readonly useful: ReadonlySet<string>;
  /** Where the driver of an emulated device is kept. @default {the program's own folder} */
  readonly kernelCache?: string | undefined;
}

/** The backend named `name`. @throws {UserError} If there is none. */
export function backendNamed(
  name: string,
  backends: readonly Backend[] = all,
): Backend {
  const backend = backends.find((b) => b.name === name);
  if (backend) return backend;
  throw unknown("backend", name, backends.map((b) => b.name));
}

/**
 * The wanted device of the wanted backend, or of the first one that has any and
 * something to run on it.
 *
 * @throws {UserError} If there is none, with what is wrong with each.
 */
export function takeDevice(
  wanted: Wanted,
  backends: readonly Backend[] = all,
): Taken {
  const { backend: name, device, useful } = wanted;
  if (typeof device === "string") return takeEmulated(device, wanted);
  const tried = name === undefined ? backends : [backendNamed(name, backends)];
  const notes: string[] = [];
  for (const backend of tried) {
    if (!useful.has(backend.name)) {
      notes.push(`${backend.name}: no selected kernel runs on it`);
      continue;
    }
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
        notes: [...notes, `${backend.name}: taken, ${describe(info, devices)}`],
      };
    }
    const list = devices.map((d) => `${d.index} (${d.name})`).join(", ");
    notes.push(`${backend.name}: no device ${device}, only ${list}`);
  }
  // No driver would mend that kernels are for other devices.
  const elsewhere = tried.every((backend) => !useful.has(backend.name)) &&
    [...useful].join(" and ");
  throw new UserError(
    `No usable device: ${notes.join("; ")}; ${
      elsewhere
        ? `they are for ${elsewhere}`
        : `\`${typed("doctor")}\` says what would mend it`
    }`,
    EXIT.nothing,
  );
}

/** @throws {UserError} Where nothing wanted runs on it, or it cannot be opened. */
function takeEmulated(
  device: EmulatedName,
  { backend: name, useful, kernelCache }: Wanted,
): Taken {
  const api = emulatedApi(device);
  if (name !== undefined && name !== api) {
    throw new UserError(
      `${device} is a device of ${api}: leave out --backend ${name}`,
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
  const taken = emulatedDevice(device, kernelCacheOf(kernelCache));
  const note = `${api}: taken, ${describe(taken.info, [taken.info])}`;
  return { ...taken, notes: [note] };
}

function describe(info: DeviceInfo, devices: readonly DeviceInfo[]): string {
  const of = devices.length > 1
    ? `device ${info.index} of ${devices.length}, `
    : "";
  return `${of}${info.name} (${info.arch}, driver ${info.driver})`;
}
