import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { Epilogue, FusedGemm, Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { cuda } from "./cuda.ts";
import {
  build,
  ccTest,
  cublasPath,
  driverControls,
  driverPath,
} from "../testdata/mocks.ts";
import { formatValues } from "../../bench/model/grid.ts";

function controls() {
  cublasPath();
  return Deno.dlopen(build("libcublasLt.so.13", []), {
    mock_lt_living: { parameters: [], result: "i32" },
    mock_lt_alignment: { parameters: ["i32"], result: "u32" },
    mock_lt_scale: { parameters: ["i32"], result: "u64" },
    mock_lt_stream: { parameters: [], result: "u64" },
  }).symbols;
}

function fusedTest(
  name: string,
  test: (
    device: Device,
    f32: (values: readonly number[]) => Memory,
    mock: ReturnType<typeof controls>,
  ) => void,
): void {
  ccTest(name, () => {
    driverControls().reset();
    const mock = controls();
    {
      const backend = cuda({
        driver: [driverPath()],
        nvml: [],
        cublas: [cublasPath()],
      });
      using device = backend.open(backend.find().devices[0]!);
      using stack = new DisposableStack();
      test(device, (values) => {
        const memory = stack.use(device.alloc(4 * values.length));
        memory.upload(new Uint8Array(new Float32Array(values).buffer));
        return memory;
      }, mock);
    }
    strictEqual(mock.mock_lt_living(), 0, "a descriptor was not given back");
  });
}

function values(memory: Memory): readonly number[] {
  return [...new Float32Array(memory.download().buffer)];
}

function matrix(memory: Memory, ld: number): Matrix {
  return { memory, type: "f32", ld };
}

/** A 2x3 by 3x4 product with results of both signs. */
function product(f32: (values: readonly number[]) => Memory): FusedGemm {
  const a = f32([1, 2, 3, 4, 5, 6]);
  const b = f32([1, 0, -2, 0, 0, 1, 0, -1, 1, 1, -1, 1]);
  const c = f32(new Array(8).fill(NaN));
  return {
    m: 2,
    n: 4,
    k: 3,
    epilogue: "none",
    a: matrix(a, 3),
    b: matrix(b, 4),
    c: matrix(c, 4),
  };
}

const RESULTS = {
  "none": [4, 5, -5, 1, 10, 11, -14, 1],
  "relu": [4, 5, 0, 1, 10, 11, 0, 1],
  "bias": [14, 25, 25, 41, 20, 31, 16, 41],
  "bias+relu": [14, 25, 25, 41, 20, 31, 16, 41],
} as const satisfies Record<Epilogue, readonly number[]>;

fusedTest(
  "fused() multiplies row-major matrices with each epilogue",
  (device, f32, mock) => {
    const gemm = product(f32);
    const bias = f32([10, 20, 30, 40]);
    for (const [epilogue, expected] of Object.entries(RESULTS)) {
      const [choice] = device.blas!.fused!({
        ...gemm,
        epilogue: epilogue as Epilogue,
        bias,
      }, 1);
      gemm.c.memory.fill(0xff);
      choice!.step.enqueue();
      deepStrictEqual(values(gemm.c.memory), expected, epilogue);
    }
    ok(mock.mock_lt_stream() !== 0n, "the work went to the default stream");
  },
);

fusedTest("fused() clamps after the bias", (device, f32) => {
  const gemm: FusedGemm = {
    ...product(f32),
    epilogue: "bias+relu",
    bias: f32([-5, -5, -5, -5]),
  };
  device.blas!.fused!(gemm, 1)[0]!.step.enqueue();
  deepStrictEqual(values(gemm.c.memory), [0, 0, 0, 0, 5, 6, 0, 0]);
});

fusedTest(
  "fused() takes transposed operands, leading dimensions and batches",
  (device, f32) => {
    const a = f32([1, 4, 9, 2, 5, 9, 3, 6, 9, 1, 0, 9, 0, 1, 9, 0, 0, 9]); // columns of two 2x3, ld 3
    const b = f32([1, 2, 3, 0, 0, 1, 1, 0, 1, 0, 0, 1]); // columns of two 3x2
    const c = f32(new Array(11).fill(-1));
    const gemm: FusedGemm = {
      m: 2,
      n: 2,
      k: 3,
      batch: 2,
      epilogue: "none",
      a: { ...matrix(a, 3), transposed: true, stride: 9 },
      b: { ...matrix(b, 3), transposed: true, stride: 6 },
      c: { ...matrix(c, 3), stride: 6 },
    };
    device.blas!.fused!(gemm, 1)[0]!.step.enqueue();
    deepStrictEqual(values(c), [14, 3, -1, 32, 6, -1, 1, 0, -1, 0, 0]);
  },
);

fusedTest(
  "fused() names its usable algorithms and what they need",
  (device, f32, mock) => {
    using workspace = device.alloc(4096);
    const gemm = { ...product(f32), workspace };
    const choices = device.blas!.fused!(gemm, 8);
    deepStrictEqual(
      choices.map(({ name, workspaceBytes }) => [name, workspaceBytes]),
      [
        ["algo=66 tile=64x64 splitk=1", 0],
        ["algo=68 tile=#600 splitk=3 stages=5", 2048],
      ],
    );
    choices[1]!.step.enqueue();
    deepStrictEqual(values(gemm.c.memory), RESULTS.none);
    strictEqual(device.blas!.fused!(gemm, 1).length, 1);
    // Without a workspace the library cannot propose what needs one.
    strictEqual(device.blas!.fused!(product(f32), 8).length, 1);
    deepStrictEqual([0, 1, 2, 3].map((i) => mock.mock_lt_alignment(i)), [
      256,
      256,
      256,
      256,
    ]);
  },
);

fusedTest(
  "fused() tells the library how operands are aligned",
  (device, f32, mock) => {
    const gemm = product(f32);
    using room = device.alloc(256);
    device.blas!.fused!({
      ...gemm,
      b: { ...gemm.b, memory: room.slice(16, 48) },
    }, 1);
    deepStrictEqual([0, 1, 2, 3].map((i) => mock.mock_lt_alignment(i)), [
      16,
      256,
      256,
      256,
    ]);
  },
);

fusedTest(
  "fused() is unsupported where the library proposes nothing",
  (device, f32) => {
    const memory = f32(new Array(16).fill(1));
    const gemm = (k: number): FusedGemm => ({
      m: 1,
      n: 1,
      k,
      epilogue: "relu",
      a: matrix(memory, k),
      b: matrix(memory, 1),
      c: matrix(memory, 1),
    });
    throws(() => device.blas!.fused!(gemm(13), 4), {
      failure: "unsupported",
      message:
        "cuBLASLt proposes no algorithm for 1x1x13 in f32 with epilogue relu",
    });
    throws(() => device.blas!.fused!(gemm(14), 4), {
      failure: "unsupported",
      message:
        /^cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED \(15\)/,
    });
  },
);

fusedTest(
  "fused() gives the library the scales of FP8 operands, swapped as they are",
  (device, f32, mock) => {
    const [memory, a, b] = [f32(new Array(64).fill(0)), f32([1]), f32([2])];
    const gemm: FusedGemm = {
      m: 4,
      n: 8,
      k: 16,
      epilogue: "none",
      a: { memory, type: "e4m3", ld: 16 },
      b: { memory, type: "e4m3", ld: 16, transposed: true },
      c: { memory, type: "bf16", ld: 8 },
    };
    // cublasLtMatmulMatrixScale_t, of the library's A and B.
    for (
      const [kind, modes] of [
        ["tensor", [0n, 0n]],
        ["row", [3n, 3n]],
        ["block128", [5n, 4n]],
      ] as const
    ) {
      device.blas!.fused!({ ...gemm, scales: { kind, a, b } }, 1);
      const given = [0, 1, 2, 3].map((i) => mock.mock_lt_scale(i));
      deepStrictEqual(given, [b.address, a.address, ...modes], kind);
    }
    throws(() => device.blas!.fused!(gemm, 1), {
      failure: "unsupported",
      message: /not e4m3 by e4m3 into bf16/,
    });
    const scales = { kind: "row", a, b } as const;
    throws(
      () =>
        device.blas!.fused!({
          ...gemm,
          c: { ...gemm.c, type: "f32" },
          scales,
        }, 1),
      { failure: "unsupported", message: /not for e4m3 e4m3 f32/ },
    );
  },
);

fusedTest("fused() needs the bias that its epilogue adds", (device, f32) => {
  const gemm: FusedGemm = { ...product(f32), epilogue: "bias" };
  throws(
    () => device.blas!.fused!(gemm, 1),
    /^TypeError: Cannot fuse the epilogue bias: no bias was given$/,
  );
});

const K = 256;

/** A device, and a product of 1 x 1 x 256 ones in fp32 with that much workspace. */
function tuningTest(
  name: string,
  test: (device: Device, gemm: (workspace: number) => FusedGemm) => void,
): void {
  ccTest(name, () => {
    driverControls().reset();
    cublasPath();
    const mock = Deno.dlopen(build("libcublasLt.so.13", []), {
      mock_lt_living: { parameters: [], result: "i32" },
    }).symbols;
    {
      const backend = cuda({
        driver: [driverPath()],
        nvml: [],
        cublas: [cublasPath()],
      });
      using device = backend.open(backend.find().devices[0]!);
      using stack = new DisposableStack();
      const ones = (count: number): Memory => {
        const memory = stack.use(device.alloc(4 * count));
        memory.upload(
          new Uint8Array(new Float32Array(count).fill(1).buffer),
        );
        return memory;
      };
      const matrix = (count: number, ld: number): Matrix => ({
        memory: ones(count),
        type: "f32",
        ld,
      });
      test(device, (workspace) => ({
        m: 1,
        n: 1,
        k: K,
        epilogue: "none",
        a: matrix(K, K),
        b: matrix(K, 1),
        c: matrix(1, 1),
        workspace: stack.use(device.alloc(workspace)),
      }));
    }
    strictEqual(mock.mock_lt_living(), 0, "a descriptor was not given back");
  });
}

tuningTest(
  "algorithms() are the proposals and their splits that fit, the default first",
  (device, gemm) => {
    const texts = (workspace: number) =>
      device.blas!.algorithms!(gemm(workspace)).map(formatValues);
    deepStrictEqual(texts(4096), [
      "algo=66 tile=64x64 splitk=1",
      "algo=68 tile=#600 splitk=3 stages=5",
      "algo=66 tile=64x64 splitk=2 reduction=2",
      "algo=66 tile=64x64 splitk=4 reduction=2",
      "algo=68 tile=#600 splitk=1 stages=5",
      "algo=68 tile=#600 splitk=2 reduction=2 stages=5",
      "algo=68 tile=#600 splitk=4 reduction=2 stages=5",
    ]);
    deepStrictEqual(texts(3000), [
      "algo=66 tile=64x64 splitk=1",
      "algo=68 tile=#600 splitk=3 stages=5",
      "algo=66 tile=64x64 splitk=2 reduction=2",
      "algo=68 tile=#600 splitk=1 stages=5",
      "algo=68 tile=#600 splitk=2 reduction=2 stages=5",
    ]);
  },
);

tuningTest(
  "fusedBy() finds each algorithm by its description",
  (device, gemm) => {
    const product = gemm(4096);
    const blas = device.blas!;
    const found = blas.algorithms!(product);
    ok(found.length > 3);
    for (const algorithm of found) {
      const choice = blas.fusedBy!(product, algorithm);
      strictEqual(choice.name, formatValues(algorithm));
      product.c.memory.fill(0xff);
      choice.step.enqueue();
      const [sum] = new Float32Array(product.c.memory.download().buffer);
      strictEqual(sum, K, choice.name);
    }
  },
);

tuningTest(
  "fusedBy() puts together what the heuristic does not propose",
  (device, gemm) => {
    const algorithm = { algo: 69, tile: "128x64", splitk: 2, reduction: 2 };
    const choice = device.blas!.fusedBy!(gemm(4096), algorithm);
    strictEqual(choice.name, "algo=69 tile=128x64 splitk=2 reduction=2");
    strictEqual(choice.workspaceBytes, 2048);
  },
);

tuningTest("fusedBy() is unsupported for what is not there", (device, gemm) => {
  for (
    const [algorithm, workspace] of [
      [{ algo: 1, tile: "64x64", splitk: 1 }, 4096],
      [{ algo: 66, tile: "64x64", splitk: 5, reduction: 2 }, 4096],
      [{ algo: 66, tile: "64x64", splitk: 4, reduction: 2 }, 1024],
    ] as const
  ) {
    throws(() => device.blas!.fusedBy!(gemm(workspace), algorithm), {
      failure: "unsupported",
      message: `cuBLASLt has no algorithm ${
        formatValues(algorithm)
      } for 1x1x256 in f32 with epilogue none: search again`,
    });
  }
});
