/**
 * Metal on the lane emulator, for tests.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Backend, Device } from "../../bench/device/device.ts";
import { cstring } from "../shared/ffi.ts";
import { metal } from "../metal/metal.ts";
import { emulatedTest } from "./emulated.ts";
import { build } from "./mocks.ts";

const EMULATOR = new URL("../../emulator/", import.meta.url);

/** Returns the mock Metal, with its Objective-C runtime in it. */
export function metalPath(): string {
  return build("libMetal.dylib", [
    "mock_objc.c",
    "mock_foundation.c",
    "mock_metal.c",
    "mock_metal_queue.c",
    "mock_metal_compile.c",
    "../../emulator/emulator.cpp",
  ], [
    ...["-w", "-O2", "-U_FORTIFY_SOURCE", "-Wl,--no-as-needed", "-lstdc++"],
    `-DEMULATOR="${fileURLToPath(EMULATOR).replace(/\/$/, "")}"`,
  ]);
}

/** Returns the mock under the runtime's name: the same library, so that both share all. */
export function objcPath(): string {
  const path = metalPath().replace(/libMetal/, "libobjc.A");
  try {
    Deno.symlinkSync(metalPath(), path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  return path;
}

/** Returns the folder with both, for the loader's path of another process. */
export function metalFolder(): string {
  return objcPath().replace(/\/[^/]*$/, "");
}

/** Returns what tests tell and ask the mock. */
export function metalControls() {
  const { symbols } = Deno.dlopen(metalPath(), {
    mock_fault: { parameters: ["buffer", "i32", "i32"], result: "void" },
    mock_reset: { parameters: [], result: "void" },
    mock_seed: { parameters: ["u64"], result: "void" },
    mock_devices: { parameters: ["i32"], result: "void" },
    mock_arch: { parameters: ["buffer", "i32"], result: "void" },
    mock_old: { parameters: ["i32"], result: "void" },
    mock_living: { parameters: [], result: "i32" },
    mock_calls: { parameters: ["buffer"], result: "i32" },
  });
  return {
    /** Makes the message after `after` more of its kind give nil, or a commit fail so. */
    fault: (selector: string, code = 1, after = 0) =>
      symbols.mock_fault(cstring(selector), after, code),
    reset: () => symbols.mock_reset(),
    /** Makes the scheduler take another order. */
    seed: (seed: number) => symbols.mock_seed(BigInt(seed)),
    devices: (count: number) => symbols.mock_devices(count),
    /** The architecture, and the number of the newest family that it is of. */
    arch: (name: string, family = 1009) =>
      symbols.mock_arch(cstring(name), family),
    /** Whether it is a macOS that cannot tell architectures. */
    old: (is: boolean) => symbols.mock_old(Number(is)),
    /** Objects that were made and not given back. */
    living: () => symbols.mock_living(),
    calls: (selector: string) => symbols.mock_calls(cstring(selector)),
  };
}

const made = new Map<"one", Backend>();

/** Returns the backend on the mock, one for all tests: it keeps the devices it found. */
export function emulatedMetal({ fresh = false } = {}): Backend {
  const known = made.get("one");
  if (known && !fresh) return known;
  const backend = metal({
    objc: [objcPath()],
    metal: [metalPath()],
    cores: () => 40,
  });
  if (!fresh) made.set("one", backend);
  return backend;
}

/** Runs `test` on the emulated GPU and looks that everything was given back. */
export function metalTest(
  name: string,
  test: (
    device: Device,
    mock: ReturnType<typeof metalControls>,
  ) => void | Promise<void>,
): void {
  const controls = () => {
    // The list of devices is kept for good, from the first time on.
    emulatedMetal().find();
    return metalControls();
  };
  emulatedTest(name, controls, emulatedMetal, test);
}

/** Compiles `text`, a source that includes `msl.h`, and returns the binary's path. */
export async function compileMetal(
  text: string,
  defines: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const folder = await Deno.makeTempDir();
  const api = fileURLToPath(
    new URL("../../kernels/device/msl.h", import.meta.url),
  );
  const source = `${folder}/k.metal`;
  await Deno.writeTextFile(source, `#include "${api}"\n${text}`);
  const binary = `${folder}/binary.metal`;
  addEventListener(
    "unload",
    () => Deno.removeSync(folder, { recursive: true }),
  );
  const compiler = emulatedMetal().compiler("applegpu_g15s");
  await compiler.compile(
    { source: new URL(`file://${source}`), defines },
    binary,
  );
  return binary;
}
