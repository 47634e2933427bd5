/**
 * CUDA's libraries on the lane emulator, for tests.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Backend, Device } from "../../bench/device/device.ts";
import { cuda } from "../cuda/cuda.ts";
import { cstring } from "../shared/ffi.ts";
import { emulatedTest } from "./emulated.ts";
import { build, cublasPath, DRIVER_SOURCES, fakeHost } from "./mocks.ts";

const EMULATOR = new URL("../../emulator/", import.meta.url);
/** The mocks whose kernels are C functions have the same names. */
const FOLDER = "lanes";

/** Returns the mock driver, whose kernels run on the emulator. */
export function cudaPath(): string {
  return build(`${FOLDER}/libcuda.so.1`, [
    ...DRIVER_SOURCES,
    "mockcuda_lanes.c",
    "../../emulator/emulator.cpp",
  ], ["-w", "-O2", "-U_FORTIFY_SOURCE", "-Wl,--no-as-needed", "-lstdc++"]);
}

/** Returns the mock NVRTC, which compiles for the emulator. */
export function nvrtcPath(): string {
  return build(`${FOLDER}/libnvrtc.so.13`, ["mocknvrtc_lanes.c"], [
    "-w",
    `-DEMULATOR="${fileURLToPath(EMULATOR).replace(/\/$/, "")}"`,
  ]);
}

/**
 * Returns what another process needs in its environment to find them: with CUDA's headers
 * beside it, the mock NVRTC is taken and no compiler of this machine.
 */
export function cudaEnvironment(): Readonly<Record<string, string>> {
  const driver = cudaPath();
  nvrtcPath();
  const folder = driver.replace(/\/[^/]*$/, "");
  for (const header of ["cuda_fp16.h", "nv/target"]) {
    const path = `${folder}/include/${header}`;
    Deno.mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(path, "");
  }
  return { LD_LIBRARY_PATH: folder, CUDA_HOME: folder };
}

/** Returns what tests tell and ask the mock driver. */
export function cudaControls() {
  const { symbols } = Deno.dlopen(cudaPath(), {
    mock_fault: { parameters: ["buffer", "i32", "i32"], result: "void" },
    mock_reset: { parameters: [], result: "void" },
    mock_seed: { parameters: ["u64"], result: "void" },
    mock_living: { parameters: [], result: "i32" },
    mock_calls: { parameters: ["buffer"], result: "i32" },
  });
  return {
    /** Makes the call after `after` more of its kind return `status`. */
    fault: (call: string, status: number, after = 0) =>
      symbols.mock_fault(cstring(call), after, status),
    reset: () => symbols.mock_reset(),
    /** Makes the scheduler take another order. */
    seed: (seed: number) => symbols.mock_seed(BigInt(seed)),
    /** Handles that were made and not given back. */
    living: () => symbols.mock_living(),
    calls: (call: string) => symbols.mock_calls(cstring(call)),
  };
}

/** Returns the backend on the mock libraries. */
export function emulatedCuda(): Backend {
  return cuda({
    driver: cudaPath(),
    nvrtc: [nvrtcPath()],
    nvml: [],
    cublas: [cublasPath()],
    host: fakeHost({}, []),
  });
}

/** Runs `test` on the emulated GPU and looks that everything was given back. */
export function cudaTest(
  name: string,
  test: (
    device: Device,
    mock: ReturnType<typeof cudaControls>,
  ) => void | Promise<void>,
): void {
  emulatedTest(name, cudaControls, emulatedCuda, test);
}
