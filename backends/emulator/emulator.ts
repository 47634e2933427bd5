/**
 * The lane emulator as a device: CUDA, HIP and Metal kernels on a CPU, which is looked at for
 * races, accesses out of bounds and values that were never written.
 *
 * @module
 */

import type { Backend } from "../../bench/device/device.ts";
import { UserError } from "../../bench/model/errors.ts";
import { cuda } from "../cuda/cuda.ts";
import { hip } from "../hip/hip.ts";
import { metal } from "../metal/metal.ts";
import type { Host } from "../shared/find_library.ts";
import {
  type EmulatedApi,
  emulatorHash,
  emulatorLibrary,
  type LibraryOptions,
} from "./library.ts";

/** How emulated devices are named on a command line, before their architecture. */
const PREFIX = "emulator:";

/** What is emulated, by architecture. */
const ARCHS: Readonly<Record<string, EmulatedApi>> = {
  sm_90a: "cuda",
  gfx942: "hip",
  applegpu_g15s: "metal",
};

/** The names of all emulated devices, such as `emulator:sm_90a`. */
export const EMULATED: readonly string[] = Object.keys(ARCHS)
  .map((arch) => `${PREFIX}${arch}`);

/** A place without libraries, so that nothing of this machine is found. */
const NOWHERE: Host = {
  env: () => undefined,
  list: () => [],
  link: () => undefined,
};

/**
 * The API of the emulated device `name`.
 *
 * @throws {UserError} If there is none of that name, with those that there are.
 */
export function emulatedApi(name: string): EmulatedApi {
  const api = name.startsWith(PREFIX)
    ? ARCHS[name.slice(PREFIX.length)]
    : undefined;
  if (api !== undefined) return api;
  throw new UserError(
    `No emulated device is named ${name}: give ${EMULATED.join(", ")}`,
  );
}

/**
 * The backend of the emulated device `name`, which is its only device.
 *
 * @param options Where its driver is kept; or `library`: the path of one that was built by
 * {@linkcode emulatorLibrary}.
 * @throws {UserError} For an unknown name, and without a C++ compiler.
 */
export function emulatedBackend(
  name: string,
  options: LibraryOptions | { readonly library: string },
): Backend {
  const api = emulatedApi(name);
  const library = "library" in options
    ? options.library
    : emulatorLibrary(api, options);
  const backend = OPEN[api](library);
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
      ...{ driver, nvrtc: [driver], nvml: [], cublas: [] },
      host: NOWHERE,
    }),
  hip: (driver) =>
    hip({
      ...{ driver: [driver], hiprtc: [driver], host: NOWHERE },
      ...{ hipblas: [], hipblaslt: [], smi: [] },
    }),
  metal: (library) =>
    metal({ objc: [library], metal: [library], cores: () => 40 }),
};
