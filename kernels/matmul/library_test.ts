import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import type { FusedGemm } from "../../bench/blas.ts";
import type { Memory } from "../../bench/device.ts";
import { matmul } from "./op.ts";
import {
  h200,
  kernel,
  memoryOf,
  numbers,
  plan,
  whats,
} from "./testdata/listener.ts";

/** Memory that is given back, and of which only the size is asked. */
function scratch(bytes: number): Memory {
  const never = (): never => {
    throw new Error("offers() touches no bytes");
  };
  return {
    ...{ bytes, address: 1n << 20n },
    ...{ upload: never, download: never, fill: never, slice: never },
    [Symbol.dispose]() {},
  };
}

Deno.test("cublas is a product into scratch, then the epilogue into C", () => {
  const p = plan("cublas", { m: 16, n: 24, k: 64, ldc: 32, epilogue: "bias" });
  deepStrictEqual(whats(p), ["gemm", "epilogue_kernel"]);
  deepStrictEqual(p.allocated, [16 * 24 * 2]);
  const [gemm, epilogue] = p.queue;
  strictEqual(gemm!.gemm!.c.ld, 24);
  const [from, bias, to] = epilogue!.args.map(memoryOf);
  strictEqual(from, gemm!.gemm!.c.memory);
  strictEqual(bias, p.operands.bias);
  strictEqual(to, p.operands.C);
  deepStrictEqual(numbers(epilogue!.args), [16, 24, 24, 32, 0]);
});

Deno.test("cublas without an epilogue is one product into C", () => {
  const p = plan("cublas", { m: 16, n: 24, k: 64, ldc: 32 });
  deepStrictEqual(whats(p), ["gemm"]);
  strictEqual(p.queue[0]!.gemm!.c.memory, p.operands.C);
  strictEqual(p.queue[0]!.gemm!.c.ld, 32);
});

Deno.test("cublas without a library is unsupported for the device's reason", () => {
  throws(
    () => plan("cublas", { m: 1, n: 1, k: 1 }, {}, { withBlas: false }),
    { failure: "unsupported", message: "no libcublas.so.13" },
  );
});

Deno.test("cublaslt is the first heuristic with 32 MiB and the epilogue", () => {
  const p = plan("cublaslt", { m: 16, n: 24, k: 64, epilogue: "bias+relu" });
  deepStrictEqual(whats(p), ["fused"]);
  deepStrictEqual(p.allocated, [33554432]);
  const gemm = p.queue[0]!.gemm as FusedGemm;
  strictEqual(gemm.epilogue, "bias+relu");
  strictEqual(gemm.bias, p.operands.bias);
});

Deno.test("cublaslt-tuned offers what the library names, and runs what it is given", () => {
  const shape = { m: 16, n: 24, k: 64, epilogue: "bias+relu" };
  const { queue, allocated, device, operands } = plan("cublaslt-tuned", shape, {
    algo: 66,
    splitk: 4,
  });
  deepStrictEqual(whats({ queue }), ["algo=66 splitk=4"]);
  deepStrictEqual(allocated, [33554432]);
  strictEqual((queue[0]!.gemm as FusedGemm).bias, operands.bias);
  const { offers, candidates } = kernel("cublaslt-tuned");
  const point = matmul.point(shape);
  let asked: number | undefined;
  const open = { ...device, alloc: (bytes: number) => scratch(asked = bytes) };
  deepStrictEqual([...offers!(point, open)], [
    { config: { algo: 66, splitk: 1 } },
    { config: { algo: 66, splitk: 4 } },
  ]);
  strictEqual(asked, 33554432);
  // Without a device there is only the default, by its first heuristic.
  deepStrictEqual([...candidates(point, h200)], [{ config: {} }]);
  deepStrictEqual(whats(plan("cublaslt-tuned", shape)), ["fused"]);
});

Deno.test("cublaslt-tuned without cuBLASLt is unsupported", () => {
  throws(
    () => plan("cublaslt-tuned", { m: 1, n: 1, k: 1 }, {}, { withBlas: false }),
    { failure: "unsupported", message: "no libcublas.so.13" },
  );
});

Deno.test("bmm-sum is a batch of slices in fp32, then one sum", () => {
  const shape = { m: 16, n: 24, k: 1024, epilogue: "relu" };
  for (const [layout, strideB] of [["nn", 256 * 24], ["nt", 256]] as const) {
    const p = plan("bmm-sum", { ...shape, layout }, { SPLIT: 4 });
    deepStrictEqual(whats(p), ["gemm", "sum_split_32"]);
    deepStrictEqual(p.allocated, [4 * 16 * 24 * 4]);
    const gemm = p.queue[0]!.gemm!;
    deepStrictEqual([gemm.batch, gemm.k], [4, 256]);
    deepStrictEqual(
      [gemm.a.stride, gemm.b.stride, gemm.c.stride],
      [256, strideB, 384],
    );
    strictEqual(gemm.c.type, "f32");
    strictEqual(gemm.b.transposed, layout === "nt");
  }
});
