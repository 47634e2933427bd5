/**
 * The lane emulator as a device: CUDA, HIP and Metal kernels on a CPU, which is looked at for
 * races, accesses out of bounds and values that were never written.
 *
 * @module
 */

import { join } from "node:path";
import type { Backend, DeviceInfo } from "../../bench/device/device.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import type { EmulatedName } from "../../bench/model/settings.ts";
import { cuda } from "../cuda/cuda.ts";
import { hip } from "../hip/hip.ts";
import { metal } from "../metal/metal.ts";
import type { Host } from "../shared/find_library.ts";
import { type EmulatedApi, emulatedApi } from "./names.ts";
import { emulatorHash, emulatorLibrary } from "./library.ts";

/** A place without libraries, so that nothing of this machine is found. */
const NOWHERE: Host = {
  env: () => undefined,
  list: () => [],
  link: () => undefined,
};

/**
 * Returns the backend of the emulated device `name`, which is its only device.
 *
 * @param library The path of its driver, built by {@linkcode emulatorLibrary}.
 * @throws {UserError} For an unknown name.
 */
export function emulatedBackend(name: EmulatedName, library: string): Backend {
  const backend = OPEN[emulatedApi(name)](library);
  const hash = emulatorHash();
  return {
    ...backend,
    openings: 1,
    find() {
      const { devices, reason } = backend.find();
      const driver = `emulator ${hash}`;
      return { reason, devices: devices.map((info) => ({ ...info, driver })) };
    },
    // What the headers in the place of the API's say is in the binary.
    target(arch) {
      const target = backend.target(arch);
      return { ...target, flags: [...target.flags, `emulator ${hash}`] };
    },
  };
}

const OPEN: Readonly<Record<EmulatedApi, (library: string) => Backend>> = {
  cuda: (driver) =>
    cuda({
      driver: [driver],
      nvrtc: [driver],
      nvml: [],
      cublas: [],
      host: NOWHERE,
    }),
  hip: (driver) =>
    hip({
      ...{ driver: [driver], hiprtc: [driver], hipblas: [], smi: [] },
      host: NOWHERE,
    }),
  metal: (library) =>
    metal({ objc: [library], metal: [library], cores: () => 40 }),
};

/**
 * The emulated device `name`, whose driver is in the folder `kernelCache` or comes there.
 *
 * @throws {UserError} For an unknown name, without a C++ compiler, or where it does not start.
 */
export function emulatedDevice(
  name: EmulatedName,
  kernelCache: string,
): { readonly backend: Backend; readonly info: DeviceInfo } {
  const folder = join(kernelCache, "emulator");
  const library = emulatorLibrary(emulatedApi(name), { folder });
  const backend = emulatedBackend(name, library);
  const { devices: [info], reason } = backend.find();
  if (info !== undefined) return { backend, info };
  throw new UserError(`Cannot open ${name}: ${reason}`, EXIT.nothing);
}
