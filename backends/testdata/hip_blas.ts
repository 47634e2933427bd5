/**
 * A device with the mock hipBLAS and hipBLASLt, for tests.
 *
 * @module
 */

import { strictEqual } from "node:assert/strict";
import type { Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { hip } from "../hip/hip.ts";
import { cxxTest } from "./cxx.ts";
import {
  hipblasltPath,
  hipblasPath,
  hipControls,
  hipPath,
} from "./hip_mocks.ts";

/** Runs `test` on a device with both libraries; looks that all was given back. */
export function blasTest(
  name: string,
  release: 2 | 3,
  test: (
    device: Device,
    f32: (values: readonly number[]) => Memory,
    mock: { mock_blas_fail(status: number): void },
  ) => void,
): void {
  cxxTest(name, () => {
    hipControls().reset();
    const { symbols: mock } = Deno.dlopen(hipblasPath(release), {
      mock_blas_fail: { parameters: ["i32"], result: "void" },
      mock_blas_living: { parameters: [], result: "i32" },
      mock_blas_stream: { parameters: [], result: "u64" },
    });
    const { symbols: lt } = Deno.dlopen(hipblasltPath(), {
      mock_lt_living: { parameters: [], result: "i32" },
    });
    {
      const backend = hip({
        driver: [hipPath()],
        hipblas: [hipblasPath(release)],
        hipblaslt: [hipblasltPath()],
        smi: [],
      });
      using device = backend.open(backend.find().devices[0]!);
      using stack = new DisposableStack();
      test(device, (values) => {
        const memory = stack.use(device.alloc(4 * values.length));
        memory.upload(new Uint8Array(new Float32Array(values).buffer));
        return memory;
      }, mock);
      strictEqual(mock.mock_blas_stream() !== 0n, true);
    }
    strictEqual(mock.mock_blas_living() + lt.mock_lt_living(), 0);
  });
}

/** The fp32 values of `memory`. */
export const values = (memory: Memory): readonly number[] => [
  ...new Float32Array(memory.download().buffer),
];

/** A matrix in fp32 with rows `ld` apart. */
export const matrix = (memory: Memory, ld: number): Matrix => ({
  memory,
  type: "f32",
  ld,
});
