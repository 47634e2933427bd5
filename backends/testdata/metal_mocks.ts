/**
 * Metal on the lane emulator, for tests.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Backend, Device } from "../../bench/device/device.ts";
import { emulatedBackend } from "../emulator/emulator.ts";
import { cstring } from "../shared/ffi.ts";
import { CONTROLS, emulatedDriver, emulatedTest } from "./emulated.ts";

/** Returns the emulated Metal, with its Objective-C runtime in it. */
export function metalPath(): string {
  return emulatedDriver("metal", "libMetal.dylib");
}

/** Returns what tests tell and ask the emulated Metal. */
export function metalControls() {
  const { symbols } = Deno.dlopen(metalPath(), {
    ...CONTROLS,
    mock_arch: { parameters: ["buffer", "i32"], result: "void" },
    mock_old: { parameters: ["i32"], result: "void" },
  });
  return {
    /** Makes the message after `after` more of its kind give nil, or a commit fail so. */
    fault: (selector: string, code = 1, after = 0) =>
      symbols.mock_fault(cstring(selector), after, code),
    reset: () => symbols.driver_reset(),
    /** Makes the scheduler take another order. */
    seed: (seed: number) => symbols.driver_seed(BigInt(seed)),
    devices: (count: number) => symbols.mock_devices(count),
    /** The architecture, and the number of the newest family that it is of. */
    arch: (name: string, family = 1009) =>
      symbols.mock_arch(cstring(name), family),
    /** Whether it is a macOS that cannot tell architectures. */
    old: (is: boolean) => symbols.mock_old(Number(is)),
    /** Objects that were made and not given back. */
    living: () => symbols.driver_living(),
    calls: (selector: string) => symbols.mock_calls(cstring(selector)),
  };
}

const made = new Map<"one", Backend>();

/** Returns the backend of the emulated GPU, one for all tests: it keeps the devices it found. */
export function emulatedMetal({ fresh = false } = {}): Backend {
  const known = made.get("one");
  if (known && !fresh) return known;
  const backend = emulatedBackend("emulator:applegpu_g15s", metalPath());
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
