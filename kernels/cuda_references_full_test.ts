import { strictEqual } from "node:assert/strict";
import { cudaTest } from "../backends/testdata/cuda_mocks.ts";
import type { Op } from "../bench/model/op.ts";
import { groupedMatmul } from "./grouped/op.ts";
import { matmul } from "./matmul/op.ts";
import { emulate } from "./testdata/emulated.ts";
import { qmm } from "./qmm/op.ts";

/** An operation whose outputs are as a reference writes them: f64, and no rows padded. */
function unrounded<P>(op: Op<P>): Op<P> {
  return {
    ...op,
    operands: (point) =>
      op.operands(point).map((operand) =>
        operand.role === "in"
          ? operand
          : { ...operand, type: "f64", ld: operand.cols }
      ),
    tolerance: () => ({ rtol: 1e-9, atol: 1e-9 }),
  };
}

function test<P>(op: Op<P>, places: readonly number[]): void {
  cudaTest(
    `the CUDA reference of ${op.name} agrees with the host`,
    async (device) => {
      const kernel = op.referenceKernels!.find(({ backend }) =>
        backend === "cuda"
      )!;
      for (const place of places) {
        const point = op.edgeCases[place]!;
        const found = await emulate(device, {
          ...{ op: unrounded(op), kernel, point, config: {}, seeds: [1] },
        });
        strictEqual(found, "", JSON.stringify(point));
      }
    },
  );
}

// Each type and layout; modes with and without biases, along N and along K; lists.
test(matmul, [6, 16, 31]);
test(qmm, [3, 11, 13, 16, 18, 43]);
test(groupedMatmul, [11, 12]);
