/**
 * The mock GPU, for tests.
 *
 * @module
 */

import { assert, assertStrictEquals } from "@std/assert";
import { cuda, openCudaDriver } from "../cuda/cuda.ts";
import { addressOf } from "../shared/ffi.ts";
import { ccTest, driverControls, driverPath } from "./mocks.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Arg } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";

/** Runs `test` on the mock GPU and looks that everything was given back. */
export function deviceTest(
  name: string,
  test: (device: Device, mock: ReturnType<typeof driverControls>) => void,
): void {
  ccTest(name, () => {
    const mock = driverControls();
    mock.reset();
    const before = mock.living();
    const backend = cuda({ driver: [driverPath()], nvml: [] });
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

/** A tensor map of two dimensions of fp32 in boxes of 8 x 32, but for these fields. */
export interface Asked {
  /** CUtensorMapDataType. */
  readonly type?: number;
  readonly address?: bigint;
  readonly rank?: number;
  readonly dims?: readonly number[];
  /** Bytes. */
  readonly strides?: readonly number[];
  readonly box?: readonly number[];
  readonly steps?: readonly number[];
  readonly interleave?: number;
  readonly swizzle?: number;
  readonly promotion?: number;
  readonly fill?: number;
  /** Bytes from a multiple of 64 to where the map is written. */
  readonly off?: number;
}

/**
 * Returns the map that the driver at `path` makes, as a kernel's parameter.
 *
 * @throws {CallError} Where it makes none.
 */
export function encoded(path: string, asked: Asked): Arg {
  const { type = 7, address = 0x10000n, rank = 2, off = 0 } = asked;
  const { dims = [32, 64], strides = [128], box = [32, 8] } = asked;
  const { steps = [1, 1], interleave = 0, swizzle = 0 } = asked;
  const { promotion = 0, fill = 0 } = asked;
  const { call } = openCudaDriver(path);
  const room = new ArrayBuffer(256);
  const first = Number(-addressOf(room) & 63n) + off;
  const bytes = new Uint8Array(room, first, 128);
  call.tensorMapEncode!(
    bytes,
    type,
    rank,
    address,
    BigUint64Array.from(dims, BigInt),
    BigUint64Array.from(strides, BigInt),
    Uint32Array.from(box),
    Uint32Array.from(steps),
    interleave,
    swizzle,
    promotion,
    fill,
  );
  return { kind: "bytes", bytes, align: 64 };
}
