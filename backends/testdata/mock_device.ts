/**
 * The mock GPU, for tests.
 *
 * @module
 */

import { assert, assertStrictEquals } from "@std/assert";
import type { Device } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { cuda } from "../cuda/cuda.ts";
import { ccTest, driverControls, driverPath } from "./mocks.ts";

/** Runs `test` on the mock GPU and looks that everything was given back. */
export function deviceTest(
  name: string,
  test: (device: Device, mock: ReturnType<typeof driverControls>) => void,
): void {
  ccTest(name, () => {
    const mock = driverControls();
    mock.reset();
    const before = mock.living();
    const backend = cuda({ driver: driverPath(), nvml: [] });
    {
      using device = backend.open(backend.find().devices[0]!);
      test(device, mock);
    }
    mock.reset();
    assertStrictEquals(mock.living(), before, "something was not given back");
  });
}

/** Returns the error that `work` fails with. */
export function failure(work: () => void): CaseError {
  try {
    work();
  } catch (error) {
    assert(error instanceof CaseError, `${error}`);
    return error;
  }
  throw new Error("it did not fail");
}

/** One block of one warp. */
export const ONE = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
