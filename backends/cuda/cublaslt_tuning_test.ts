import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { FusedGemm, Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { cuda } from "./cuda.ts";
import {
  build,
  ccTest,
  cublasPath,
  driverControls,
  driverPath,
} from "../testdata/mocks.ts";

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
        driver: driverPath(),
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
        ...{ m: 1, n: 1, k: K, epilogue: "none" },
        ...{ a: matrix(K, K), b: matrix(K, 1), c: matrix(1, 1) },
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
