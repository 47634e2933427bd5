/**
 * Tests of an emulated device, whatever its API.
 *
 * @module
 */

import { assertStrictEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import type { Backend, Device } from "../../bench/device/device.ts";
import { emulatorLibrary } from "../emulator/emulator.ts";
import { EMULATED, type EmulatedApi, emulatedApi } from "../emulator/names.ts";
import { CASES, kernelsOf } from "./conformance.ts";
import { cxxTest, own, scratch, SHARED } from "./mocks.ts";

/**
 * Returns the driver of `api` that a user has, called `name`, with what tests add to it.
 *
 * @param flags More flags of the compiler.
 */
export function emulatedDriver(
  api: EmulatedApi,
  name: string,
  flags: readonly string[] = [],
): string {
  return own(name, () =>
    emulatorLibrary(api, {
      folder: `${SHARED}emulator`,
      sources: [fileURLToPath(new URL("faults.c", import.meta.url))],
      flags,
    }));
}

/** Functions by which tests control every driver. */
export const CONTROLS = {
  mock_fault: { parameters: ["buffer", "i32", "i32"], result: "void" },
  mock_devices: { parameters: ["i32"], result: "void" },
  mock_calls: { parameters: ["buffer"], result: "i32" },
  driver_reset: { parameters: [], result: "void" },
  driver_seed: { parameters: ["u64"], result: "void" },
  driver_living: { parameters: [], result: "i32" },
} as const;

/** Controls that every mock driver has. */
interface Controls {
  readonly reset: () => void;
  readonly living: () => number;
}

/** Runs `test` on the emulated GPU and looks that everything was given back. */
export function emulatedTest<C extends Controls>(
  name: string,
  controls: () => C,
  emulated: () => Backend,
  test: (device: Device, mock: C) => void | Promise<void>,
): void {
  cxxTest(name, async () => {
    const mock = controls();
    mock.reset();
    const before = mock.living();
    const backend = emulated();
    try {
      using device = backend.open(backend.find().devices[0]!);
      await test(device, mock);
    } finally {
      mock.reset();
    }
    assertStrictEquals(mock.living(), before, "something was not given back");
  });
}

/** Registers a test for each thing that every backend must do, on the emulated GPU of `api`. */
export function conformanceTests(
  api: "hip" | "metal",
  emulated: () => Backend,
  test: (name: string, run: (device: Device) => Promise<void>) => void,
): void {
  const arch = EMULATED.find((name) => emulatedApi(name) === api)!.split(
    ":",
  )[1]!;
  let compiled: Promise<readonly string[]> | undefined;
  const compile = () => {
    const backend = emulated();
    const compiler = backend.compiler(arch);
    const sources = [backend.instruments, kernelsOf(api)];
    return Promise.all(sources.map(async (source, i) => {
      const binary = scratch(`conformance.${i}`);
      await compiler.compile({ source, defines: {} }, binary);
      return binary;
    }));
  };
  for (const { name, run } of CASES) {
    // The virtual clock does not know how long a loop is.
    if (/longer for more work|wait/.test(name)) continue;
    test(`emulated ${api} conforms: ${name}`, async (device) => {
      const [instrumentsPath, kernelsPath] = await (compiled ??= compile());
      using instruments = device.load(instrumentsPath!);
      using kernels = device.load(kernelsPath!);
      run({ device, instruments, kernels });
    });
  }
}
