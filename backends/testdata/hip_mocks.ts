/**
 * HIP's libraries on the lane emulator, for tests.
 *
 * @module
 */

import { ok } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { Backend, Device } from "../../bench/device/device.ts";
import { cstring } from "../shared/ffi.ts";
import { hip } from "../hip/hip.ts";
import { emulatedTest } from "./emulated.ts";
import { build } from "./mocks.ts";

const EMULATOR = new URL("../../emulator/", import.meta.url);

/** Returns the mock runtime, whose kernels run on the emulator, or one of before ROCm 6. */
export function hipPath({ old = false } = {}): string {
  return build(`libamdhip64.so.${old ? 5 : 7}`, [
    "mock_hip.c",
    "mock_hip_launch.c",
    "../../emulator/emulator.cpp",
  ], [
    ...["-O2", "-U_FORTIFY_SOURCE", "-Wl,--no-as-needed", "-lstdc++"],
    ...(old ? ["-DOLD_RUNTIME"] : []),
  ]);
}

/** Returns the mock hipBLAS of ROCm 6 or 7. */
export function hipblasPath(release: 2 | 3 = 2): string {
  return build(`libhipblas.so.${release}`, ["mock_hipblas.c"], [
    ...["-w", "-O2"],
    ...(release === 3 ? ["-DHIPBLAS3"] : []),
  ]);
}

/** Returns the mock hipBLASLt. */
export function hipblasltPath(): string {
  return build("libhipblaslt.so.0", ["mock_hipblaslt.c"], ["-w", "-O2"]);
}

/** Returns the mock hipRTC, which compiles for the emulator. */
export function hiprtcPath(): string {
  return build("libhiprtc.so.7", ["mock_hiprtc.c"], [
    "-w",
    `-DEMULATOR="${fileURLToPath(EMULATOR).replace(/\/$/, "")}"`,
  ]);
}

/** Returns the folder with all of them, for the loader's path of another process. */
export function hipFolder(): string {
  hiprtcPath();
  hipblasPath();
  hipblasltPath();
  return hipPath().replace(/\/[^/]*$/, "");
}

/** Returns what tests tell and ask the mock runtime. */
export function hipControls() {
  const { symbols } = Deno.dlopen(hipPath(), {
    mock_fault: { parameters: ["buffer", "i32", "i32"], result: "void" },
    mock_reset: { parameters: [], result: "void" },
    mock_seed: { parameters: ["u64"], result: "void" },
    mock_devices: { parameters: ["i32"], result: "void" },
    mock_arch: { parameters: ["buffer"], result: "void" },
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
    devices: (count: number) => symbols.mock_devices(count),
    arch: (name: string) => symbols.mock_arch(cstring(name)),
    /** Handles that were made and not given back. */
    living: () => symbols.mock_living(),
    calls: (call: string) => symbols.mock_calls(cstring(call)),
  };
}

/** Returns the backend on the mock libraries. */
export function emulatedHip(): Backend {
  return hip({
    driver: [hipPath()],
    hiprtc: [hiprtcPath()],
    hipblas: [],
    hipblaslt: [],
    smi: [],
  });
}

/** Runs `test` on the emulated GPU and looks that everything was given back. */
export function hipTest(
  name: string,
  test: (
    device: Device,
    mock: ReturnType<typeof hipControls>,
  ) => void | Promise<void>,
): void {
  emulatedTest(name, hipControls, emulatedHip, test);
}

/** Compiles `text`, a source that includes `gfx.h`, and returns the binary's path. */
export async function compileHip(
  text: string,
  defines: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const folder = await Deno.makeTempDir();
  const api = fileURLToPath(
    new URL("../../kernels/device/gfx.h", import.meta.url),
  );
  const source = `${folder}/k.hip`;
  await Deno.writeTextFile(source, `#include "${api}"\n${text}`);
  const compiler = emulatedHip().compiler("gfx942");
  const binary = `${folder}/k.hsaco`;
  await compiler.compile(
    { source: new URL(`file://${source}`), defines },
    binary,
  );
  ok((await Deno.stat(binary)).size > 0);
  addEventListener(
    "unload",
    () => Deno.removeSync(folder, { recursive: true }),
  );
  return binary;
}
