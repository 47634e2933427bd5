import {
  deepStrictEqual,
  match,
  strictEqual,
  throws,
} from "node:assert/strict";
import type { Epilogue, FusedGemm } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { formatValues } from "../../bench/model/grid.ts";
import { blasTest, matrix, values } from "../testdata/hip_blas.ts";
import { failure } from "../testdata/mock_device.ts";

/** What solution 7003 of the mock needs for 2 x 2 outputs: four partial products in fp32. */
const SPLIT_BYTES = 4 * 2 * 2 * 4;

interface Made {
  readonly device: Device;
  readonly f32: (values: readonly number[]) => Memory;
}

/** Calls `use` with a 2 x 3 by 3 x 2 product, and `bytes` of workspace. */
function product(
  { device, f32 }: Made,
  bytes: number,
  use: (gemm: FusedGemm) => void,
): void {
  const [a, b] = [f32([1, 2, 3, -4, -5, -6]), f32([1, 0, 0, 1, 1, 1])];
  const [c, bias] = [f32(new Array(4).fill(NaN)), f32([10, 1])];
  using workspace = device.alloc(bytes);
  use({
    ...{ m: 2, n: 2, k: 3, epilogue: "none", bias, workspace },
    ...{ a: matrix(a, 3), b: matrix(b, 2), c: matrix(c, 2) },
  });
}

const RIGHT: Readonly<Record<Epilogue, readonly number[]>> = {
  "none": [4, 5, -10, -11],
  "relu": [4, 5, 0, 0],
  "bias": [14, 6, 0, -10],
  "bias+relu": [14, 6, 0, 0],
};

blasTest(
  "fused() applies each epilogue, and names usable solutions alone",
  2,
  (device, f32) => {
    product({ device, f32 }, 4096, (gemm) => {
      const { fused } = device.blas!;
      for (const [epilogue, expected] of Object.entries(RIGHT)) {
        const asked = { ...gemm, epilogue: epilogue as Epilogue };
        deepStrictEqual(
          fused!(asked, 4).map(({ name }) => name),
          ["solution=7001", "solution=7003", "solution=7001"],
        );
        const [choice] = fused!(asked, 1);
        choice!.step.enqueue();
        deepStrictEqual(values(gemm.c.memory), expected, epilogue);
      }
      const wide = f32(new Array(26).fill(1));
      const none = { ...gemm, k: 13, a: matrix(wide, 13), b: matrix(wide, 2) };
      match(
        failure(() => fused!(none, 4)).message,
        /^hipBLASLt proposes no algorithm for 2x2x13/,
      );
    });
  },
);

blasTest(
  "algorithms() are the supported solutions that fit the workspace, each once",
  3,
  (device, f32) => {
    const texts = (bytes: number) => {
      let found: readonly string[] = [];
      product({ device, f32 }, bytes, (gemm) => {
        found = device.blas!.algorithms!(gemm).map(formatValues);
      });
      return found;
    };
    deepStrictEqual(texts(SPLIT_BYTES), [
      "solution=7001",
      "solution=7003",
      "solution=7005",
    ]);
    deepStrictEqual(texts(SPLIT_BYTES - 1), ["solution=7001", "solution=7005"]);
  },
);

blasTest(
  "fusedBy() computes the product by each solution, with each epilogue",
  2,
  (device, f32) => {
    product({ device, f32 }, SPLIT_BYTES, (gemm) => {
      const { algorithms, fusedBy } = device.blas!;
      for (const [epilogue, expected] of Object.entries(RIGHT)) {
        const asked = { ...gemm, epilogue: epilogue as Epilogue };
        for (const algorithm of algorithms!(asked)) {
          const { name, step, workspaceBytes } = fusedBy!(asked, algorithm);
          strictEqual(name, formatValues(algorithm));
          strictEqual(
            workspaceBytes,
            name === "solution=7003" ? SPLIT_BYTES : 0,
          );
          gemm.c.memory.fill(0xff);
          step.enqueue();
          deepStrictEqual(
            values(gemm.c.memory),
            expected,
            `${name} ${epilogue}`,
          );
        }
      }
    });
  },
);

blasTest(
  "fusedBy() is unsupported for a solution that is not there, or too large",
  2,
  (device, f32) => {
    product({ device, f32 }, SPLIT_BYTES - 1, (gemm) => {
      for (const solution of [7000, 7002, 7003]) {
        throws(() => device.blas!.fusedBy!(gemm, { solution }), {
          failure: "unsupported",
          message:
            `hipBLASLt has no algorithm solution=${solution} for 2x2x3 in f32 with epilogue none: search again`,
        });
      }
    });
  },
);
