/**
 * Names of emulated devices. Options read them, so nothing else is loaded here.
 *
 * @module
 */

import { join } from "node:path";
import { UserError } from "../../bench/model/errors.ts";
import type { EmulatedName } from "../../bench/model/settings.ts";

/** An API that is emulated, by the name of its backend. */
export type EmulatedApi = "cuda" | "hip" | "metal";

const PREFIX = "emulator:";

const ARCHS: Readonly<Record<string, EmulatedApi>> = {
  sm_90a: "cuda",
  sm_100a: "cuda",
  gfx942: "hip",
  gfx950: "hip",
  applegpu_g15s: "metal",
};

/** Returns the architecture of the emulated device `name`. */
export function emulatedArch(name: EmulatedName): string {
  return name.slice(PREFIX.length);
}

/** The names of all emulated devices, such as `emulator:sm_90a`. */
export const EMULATED: readonly EmulatedName[] = Object.keys(ARCHS)
  .map((arch) => `${PREFIX}${arch}` as const);

/** Returns whether `text` is meant as the name of an emulated device. */
export function isEmulated(text: string): text is EmulatedName {
  return text === "emulator" || text.startsWith(PREFIX);
}

/**
 * Returns the API of the emulated device `name`.
 *
 * @throws {UserError} If there is none of that name, with those that there are.
 */
export function emulatedApi(name: string): EmulatedApi {
  if (isEmulated(name)) {
    const arch = emulatedArch(name);
    if (Object.hasOwn(ARCHS, arch)) return ARCHS[arch]!;
  }
  throw new UserError(
    `No emulated device is named ${name}: give ${EMULATED.join(", ")}`,
  );
}

/** The folder of kernels that were compiled for the emulator, in that of the device's. */
export function emulatedKernels(kernelCache: string): string {
  return join(kernelCache, "emulated");
}
