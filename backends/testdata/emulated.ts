/**
 * Tests of an emulated device, whatever its API.
 *
 * @module
 */

import { strictEqual } from "node:assert/strict";
import type { Backend, Device } from "../../bench/device/device.ts";
import { cxxTest } from "./cxx.ts";

/** What every mock driver can be asked. */
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
    strictEqual(mock.living(), before, "something was not given back");
  });
}
