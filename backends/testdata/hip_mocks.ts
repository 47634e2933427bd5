/**
 * HIP's libraries on the lane emulator, for tests.
 *
 * @module
 */

import { assert } from "@std/assert";
import { fileURLToPath } from "node:url";
import type { Backend, Device } from "../../bench/device/device.ts";
import { emulatedBackend } from "../emulator/emulator.ts";
import { cstring } from "../shared/ffi.ts";
import { CONTROLS, emulatedDriver, emulatedTest } from "./emulated.ts";
import { build } from "./mocks.ts";

/** Returns the emulated runtime, with hipRTC in it, or one of before ROCm 6. */
export function hipPath({ old = false } = {}): string {
  return old
    ? emulatedDriver("hip", "libamdhip64.so.5", ["-DOLD_DRIVER"])
    : emulatedDriver("hip", "libamdhip64.so.7");
}

/** Returns the mock hipBLAS of ROCm 6 or 7. */
export function hipblasPath(release: 2 | 3 = 2): string {
  return build(`libhipblas.so.${release}`, ["hip/blas.c"], [
    ...["-w", "-O2"],
    ...(release === 3 ? ["-DHIPBLAS3"] : []),
  ]);
}

/** Returns the mock hipBLASLt. */
export function hipblasltPath(): string {
  return build("libhipblaslt.so.0", ["hip/blas.c"], ["-w", "-O2"]);
}

/** Returns what tests tell and ask the emulated runtime. */
export function hipControls() {
  const { symbols } = Deno.dlopen(hipPath(), {
    ...CONTROLS,
    mock_arch: { parameters: ["buffer"], result: "void" },
  });
  return {
    /** Makes the call after `after` more of its kind return `status`. */
    fault: (call: string, status: number, after = 0) =>
      symbols.mock_fault(cstring(call), after, status),
    reset: () => symbols.driver_reset(),
    /** Makes the scheduler take another order. */
    seed: (seed: number) => symbols.driver_seed(BigInt(seed)),
    devices: (count: number) => symbols.mock_devices(count),
    arch: (name: string) => symbols.mock_arch(cstring(name)),
    /** Handles that were made and not given back. */
    living: () => symbols.driver_living(),
    calls: (call: string) => symbols.mock_calls(cstring(call)),
  };
}

/** Returns the backend of the emulated GPU. */
export function emulatedHip(): Backend {
  return emulatedBackend("emulator:gfx942", hipPath());
}

/**
 * Runs `test` on the emulated GPU and looks that everything was given back.
 *
 * @param arch The GPU's architecture.
 */
export function hipTest(
  name: string,
  test: (
    device: Device,
    mock: ReturnType<typeof hipControls>,
  ) => void | Promise<void>,
  arch = "gfx942",
): void {
  const emulated = () => {
    hipControls().arch(`${arch}:sramecc+:xnack-`);
    return emulatedHip();
  };
  emulatedTest(name, hipControls, emulated, test);
}

/** Compiles `text`, a source that includes `gfx.h`, for `arch` and returns the binary's path. */
export async function compileHip(
  text: string,
  defines: Readonly<Record<string, string | number>> = {},
  arch = "gfx942",
): Promise<string> {
  const folder = await Deno.makeTempDir();
  const api = fileURLToPath(
    new URL("../../kernels/device/gfx.h", import.meta.url),
  );
  const source = `${folder}/k.hip`;
  await Deno.writeTextFile(source, `#include "${api}"\n${text}`);
  const compiler = emulatedHip().compiler(arch);
  const binary = `${folder}/k.hsaco`;
  await compiler.compile(
    { source: new URL(`file://${source}`), defines },
    binary,
  );
  assert((await Deno.stat(binary)).size > 0);
  addEventListener(
    "unload",
    () => Deno.removeSync(folder, { recursive: true }),
  );
  return binary;
}
