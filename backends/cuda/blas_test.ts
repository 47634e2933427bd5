import {
  deepStrictEqual,
  match,
  ok,
  strictEqual,
  throws,
} from "node:assert/strict";
import type { Blas, Gemm, Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import type { DType } from "../../bench/model/dtype.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { formatVersion, workspaceBytes } from "./blas.ts";
import { cuda } from "./cuda.ts";
import { textAt } from "../shared/ffi.ts";
import {
  ccTest,
  cublasPath,
  driverControls,
  driverPath,
} from "../testdata/mocks.ts";

interface Bench {
  readonly device: Device;
  readonly blas: Blas;
  /** The library's calls since the last question. */
  calls(): readonly string[];
  fail(status: number): void;
  f32(values: readonly number[]): Memory;
}

function blasTest(name: string, test: (bench: Bench) => void): void {
  ccTest(name, () => {
    driverControls().reset();
    const { symbols: mock } = Deno.dlopen(cublasPath(), {
      mock_cublas_calls: { parameters: [], result: "u64" },
      mock_cublas_fail: { parameters: ["i32"], result: "void" },
    });
    const backend = cuda({
      driver: [driverPath()],
      nvml: [],
      cublas: ["/none/libcublas.so.13", cublasPath()],
    });
    using device = backend.open(backend.find().devices[0]!);
    using stack = new DisposableStack();
    const calls = () =>
      textAt(mock.mock_cublas_calls()).split("\n").filter(Boolean);
    calls();
    test({
      device,
      blas: device.blas!,
      calls,
      fail: (status) => mock.mock_cublas_fail(status),
      f32(values) {
        const memory = stack.use(device.alloc(4 * values.length));
        memory.upload(new Uint8Array(new Float32Array(values).buffer));
        return memory;
      },
    });
  });
}

function values(memory: Memory): readonly number[] {
  return [...new Float32Array(memory.download().buffer)];
}

function matrix(memory: Memory, ld: number, type: DType = "f32"): Matrix {
  return { memory, type, ld };
}

blasTest(
  "blas is opened once, with torch's workspace and the default math mode",
  ({ device, blas, calls }) => {
    strictEqual(blas.name, "cublas");
    strictEqual(blas.version, "13.1.2");
    strictEqual(blas.path, cublasPath());
    strictEqual(device.blas, blas);
    strictEqual(device.blasReason, undefined);
    deepStrictEqual(calls(), [
      "create",
      "stream 11 1",
      "workspace 11 1 33554432",
      "math 11 0",
    ]);
  },
);

blasTest(
  "gemm() multiplies row-major matrices by swapping them",
  ({ blas, calls, f32 }) => {
    calls();
    const a = f32([1, 2, 3, 4, 5, 6]); // 2x3
    const b = f32([1, 0, 2, 0, 0, 1, 0, 1, 1, 1, 1, 1]); // 3x4
    const c = f32(new Array(8).fill(NaN));
    const step = blas.gemm({
      m: 2,
      n: 4,
      k: 3,
      a: matrix(a, 3),
      b: matrix(b, 4),
      c: matrix(c, 4),
    });
    deepStrictEqual([step.label, step.capturable, calls().length], [
      "cublasGemmEx",
      true,
      0,
    ]);
    step.enqueue();
    deepStrictEqual(values(c), [4, 5, 5, 5, 10, 11, 14, 11]);
    // handle; operations; n, m, k; alpha; B: type, ld; A: type, ld; beta; C: type, ld; COMPUTE_32F, DEFAULT_TENSOR_OP
    deepStrictEqual(calls(), ["gemm 11 0 0 4 2 3 1 0 4 0 3 0 0 4 68 99"]);
  },
);

blasTest(
  "gemm() takes transposed operands and leading dimensions",
  ({ blas, f32 }) => {
    const a = f32([1, 4, 9, 2, 5, 9, 3, 6, 9]); // columns of a 2x3, ld 3
    const b = f32([1, 0, 1, 9, 0, 0, 1, 9, 2, 1, 1, 9, 0, 1, 1, 9]); // rows are columns, ld 4
    const c = f32(new Array(10).fill(-1));
    blas.gemm({
      m: 2,
      n: 4,
      k: 3,
      a: { ...matrix(a, 3), transposed: true },
      b: { ...matrix(b, 4), transposed: true },
      c: matrix(c, 5),
    }).enqueue();
    deepStrictEqual(values(c), [4, 3, 7, 5, -1, 10, 6, 19, 11, -1]);
  },
);

blasTest(
  "gemm() multiplies batches at their strides, 16-bit types into fp32",
  ({ device, blas, calls, f32 }) => {
    calls();
    const a = f32([1, 2, 9, 3, 4, 9]); // two 1x2, stride 3
    const b = f32([1, 1, 2, 2]); // two 2x1
    const c = f32([0, 0, 0]);
    const batch: Gemm = {
      m: 1,
      n: 1,
      k: 2,
      batch: 2,
      a: { ...matrix(a, 2), stride: 3 },
      b: { ...matrix(b, 1), stride: 2 },
      c: { ...matrix(c, 1), stride: 2 },
    };
    const step = blas.gemm(batch);
    strictEqual(step.label, "cublasGemmStridedBatchedEx");
    step.enqueue();
    deepStrictEqual(values(c), [3, 0, 14]);
    using half = device.alloc(64);
    const bf16 = { ...matrix(half, 2, "bf16"), stride: 3 };
    blas.gemm({ ...batch, a: bf16, b: { ...bf16, ld: 1 } }).enqueue();
    const f16 = { ...matrix(half, 2, "f16") };
    blas.gemm({ ...batch, batch: 1, a: f16, b: f16, c: f16 }).enqueue();
    deepStrictEqual(calls(), [
      "batched 11 0 0 1 1 2 1 0 1 2 0 2 3 0 0 1 2 2 68 99",
      "batched 11 0 0 1 1 2 1 14 1 3 14 2 3 0 0 1 2 2 68 99",
      "gemm 11 0 0 1 1 2 1 2 2 2 2 0 2 2 68 99",
    ]);
  },
);

blasTest("gemm() refuses types without fp32 sums", ({ device, blas }) => {
  using memory = device.alloc(64);
  const shape = { m: 1, n: 1, k: 1 };
  const of = (type: DType) => matrix(memory, 1, type);
  for (
    const [a, b, c] of [["e4m3", "e4m3", "f32"], ["bf16", "f16", "f32"], [
      "f32",
      "f32",
      "bf16",
    ], ["f64", "f64", "f64"]] as const
  ) {
    throws(
      () => blas.gemm({ ...shape, a: of(a), b: of(b), c: of(c) }),
      (error: unknown) => {
        ok(error instanceof CaseError);
        strictEqual(error.failure, "unsupported");
        match(error.message, /^cuBLAS multiplies .* not /);
        return true;
      },
    );
  }
});

blasTest("gemm() names the call that failed", ({ blas, fail, f32 }) => {
  const m = matrix(f32([1]), 1);
  const step = blas.gemm({ m: 1, n: 1, k: 1, a: m, b: m, c: m });
  fail(15);
  throws(() => step.enqueue(), {
    failure: "unsupported",
    message:
      "cublasGemmEx: CUBLAS_STATUS_NOT_SUPPORTED (15): the requested functionality is not supported",
  });
  fail(1);
  throws(() => step.enqueue(), { failure: "launch" });
});

Deno.test("workspaceBytes() is torch's: 32 MiB on Hopper, 8 MiB and 128 KiB elsewhere", () => {
  strictEqual(workspaceBytes("sm_90a"), 32 * 2 ** 20);
  strictEqual(workspaceBytes("sm_80"), 8 * 2 ** 20 + 128 * 2 ** 10);
});

Deno.test("formatVersion() reads both numberings", () => {
  deepStrictEqual([130002, 130102, 120805, 11000].map(formatVersion), [
    "13.0.2",
    "13.1.2",
    "12.8.5",
    "11.0.0",
  ]);
});
