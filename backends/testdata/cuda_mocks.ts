/**
 * CUDA's libraries on the lane emulator, for tests.
 *
 * @module
 */

import type { Backend, Device } from "../../bench/device/device.ts";
import { emulatedBackend } from "../emulator/emulator.ts";
import { cstring } from "../shared/ffi.ts";
import { CONTROLS, emulatedDriver, emulatedTest } from "./emulated.ts";

/** Returns the emulated driver, with NVRTC in it. */
export function cudaPath(): string {
  // The mock whose kernels are C functions has the same name.
  return emulatedDriver("cuda", "lanes/libcuda.so.1");
}

/** Returns what tests tell and ask the emulated driver. */
export function cudaControls() {
  const { symbols } = Deno.dlopen(cudaPath(), {
    ...CONTROLS,
    driver_together: { parameters: ["i32"], result: "void" },
    mock_sm: { parameters: ["i32"], result: "void" },
  });
  return {
    /** Makes the call after `after` more of its kind return `status`. */
    fault: (call: string, status: number, after = 0) =>
      symbols.mock_fault(cstring(call), after, status),
    reset: () => symbols.driver_reset(),
    /** Makes the scheduler take another order. */
    seed: (seed: number) => symbols.driver_seed(BigInt(seed)),
    /** Holds launches back until there are so many, which run at the same time. */
    together: (launches: number) => symbols.driver_together(launches),
    arch: (name: string) => symbols.mock_sm(Number(/\d+/.exec(name))),
    /** Handles that were made and not given back. */
    living: () => symbols.driver_living(),
    calls: (call: string) => symbols.mock_calls(cstring(call)),
  };
}

/** Returns the backend of the emulated GPU. */
export function emulatedCuda(): Backend {
  return emulatedBackend("emulator:sm_90a", cudaPath());
}

/**
 * Runs `test` on the emulated GPU and looks that everything was given back.
 *
 * @param arch The GPU's architecture.
 */
export function cudaTest(
  name: string,
  test: (
    device: Device,
    mock: ReturnType<typeof cudaControls>,
  ) => void | Promise<void>,
  arch = "sm_90a",
): void {
  const emulated = () => {
    cudaControls().arch(arch);
    return emulatedCuda();
  };
  emulatedTest(name, cudaControls, emulated, test);
}
