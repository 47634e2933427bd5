import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import type { FusedGemm } from "../../bench/device/blas.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineLaunch } from "../../bench/model/kernel.ts";
import { problemOf } from "../../bench/model/suite.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { hipKernels } from "./hip/hip.ts";
import { matmul } from "./op.ts";
import { h200 } from "../testdata/devices.ts";
import { kernel, plan, seed } from "./testdata/listener.ts";
import { memoryOf, numbers, scratch, whats } from "../testdata/listener.ts";

const VENDORS = [
  { fused: "cublaslt", title: "cuBLASLt", mib: 32, kernels: cudaKernels },
  { fused: "hipblaslt", title: "hipBLASLt", mib: 76, kernels: hipKernels },
];

Deno.test("cublas is a product into scratch, then the epilogue into C", () => {
  const p = plan("cublas", { m: 16, n: 24, k: 64, ldc: 32, epilogue: "bias" });
  assertEquals(whats(p), ["gemm", "epilogue_kernel"]);
  assertEquals(p.allocated, [16 * 24 * 2]);
  const [gemm, epilogue] = p.queue;
  assertStrictEquals(gemm!.gemm!.c.ld, 24);
  const [from, bias, to] = epilogue!.args.map(memoryOf);
  assertStrictEquals(from, gemm!.gemm!.c.memory);
  assertStrictEquals(bias, p.operands.bias);
  assertStrictEquals(to, p.operands.C);
  assertEquals(numbers(epilogue!.args), [16, 24, 24, 32, 0]);
});

Deno.test("cublas without an epilogue is one product into C", () => {
  const p = plan("cublas", { m: 16, n: 24, k: 64, ldc: 32 });
  assertEquals(whats(p), ["gemm"]);
  assertStrictEquals(p.queue[0]!.gemm!.c.memory, p.operands.C);
  assertStrictEquals(p.queue[0]!.gemm!.c.ld, 32);
});

Deno.test("cublas has products of one type, also in fp32", () => {
  const shape = { m: 16, n: 24, k: 64, type: "f16" };
  const { queue: [product] } = plan("cublas", { ...shape, type_c: "f32" });
  const { a, b, c } = product!.gemm!;
  assertEquals([a, b, c].map(({ type }) => type), ["f16", "f16", "f32"]);
  const why = (values: Values) =>
    kernel("cublas").unsupported(matmul.point({ ...shape, ...values }), h200);
  assertStrictEquals(why({ type_c: "f32" }), undefined);
  assertStrictEquals(why({ type_b: "f16", type_c: "f16" }), undefined);
  for (
    const values of [
      { type_b: "bf16" },
      { type_c: "bf16" },
      { type_c: "f32", epilogue: "relu" },
    ]
  ) assertMatch(`${why(values)}`, /^the library is asked for no product of A/);
});

Deno.test("matmul of several types is for kernels that take them", () => {
  const point = matmul.point({ m: 1, n: 2, k: 3, type_c: "f32" });
  const why = "A is bf16, B is bf16 and C is f32: it takes one type";
  const spec = { name: "own", backend: "cpu", entry: "own" };
  const source = new URL("file:///own.c");
  const own = defineLaunch(matmul, { ...spec, source });
  const wide = defineLaunch(matmul, { ...spec, source, takes: ["types"] });
  assertStrictEquals(own.unsupported(point, h200), why);
  assertStrictEquals(wide.unsupported(point, h200), undefined);
  for (const { name, unsupported } of cudaKernels) {
    if (name !== "cublas") assertStrictEquals(unsupported(point, h200), why);
  }
  assertEquals(matmul.work(point), { flops: 12, bytes: 2 * (3 + 6) + 4 * 2 });
  const { a_type, b_type, c_type, params } = matmul.key(point);
  assertEquals([a_type, b_type, c_type], ["bf16", "bf16", "f32"]);
  assertStrictEquals(params, "epilogue=none type_c=f32");
  // Reference kernels read operands of one type: the host computes these.
  const problem = problemOf(matmul, point);
  assertStrictEquals(problem.referenceKernel("cuda"), undefined);
  assert(problemOf(matmul, seed).referenceKernel("cuda"));
});

Deno.test("cublas without a library is unsupported for the device's reason", () => {
  assertThrows(
    () => plan("cublas", { m: 1, n: 1, k: 1 }, {}, { withBlas: false }),
    CaseError,
    "no libcublas.so.13",
  );
});

for (const { fused, title, mib, kernels } of VENDORS) {
  const tuned = `${fused}-tuned`;
  const shape = { m: 16, n: 24, k: 64, epilogue: "bias+relu" };

  Deno.test(`${fused} is the first heuristic with ${mib} MiB and the epilogue`, () => {
    const p = plan(fused, shape, {}, { kernels });
    assertEquals(whats(p), ["fused"]);
    assertEquals(p.allocated, [mib << 20]);
    const gemm = p.queue[0]!.gemm as FusedGemm;
    assertStrictEquals(gemm.epilogue, "bias+relu");
    assertStrictEquals(gemm.bias, p.operands.bias);
  });

  Deno.test(`${tuned} offers what the library names, and runs what it is given`, () => {
    const config = { algo: 66, splitk: 4 };
    const { queue, allocated, device, operands } = plan(tuned, shape, config, {
      kernels,
    });
    assertEquals(whats({ queue }), ["algo=66 splitk=4"]);
    assertEquals(allocated, [mib << 20]);
    assertStrictEquals((queue[0]!.gemm as FusedGemm).bias, operands.bias);
    const { offers, candidates } = kernel(tuned, kernels);
    const point = matmul.point(shape);
    let asked: number | undefined;
    const open = {
      ...device,
      alloc: (bytes: number) => scratch(asked = bytes),
    };
    assertEquals([...offers!(point, open)], [
      { config: { algo: 66, splitk: 1 } },
      { config: { algo: 66, splitk: 4 } },
    ]);
    assertStrictEquals(asked, mib << 20);
    // Without a device there is only the default, by its first heuristic.
    assertEquals([...candidates(point, h200)], [{ config: {} }]);
    assertEquals(whats(plan(tuned, shape, {}, { kernels })), ["fused"]);
  });

  Deno.test(`${tuned} is unsupported without a library, or without ${title}`, () => {
    const product = { m: 1, n: 1, k: 1 };
    assertThrows(
      () => plan(tuned, product, {}, { kernels, withBlas: false }),
      CaseError,
      "no libcublas.so.13",
    );
    assertThrows(
      () => plan(tuned, product, {}, { kernels, withFused: false }),
      CaseError,
      `cublas 13 has no GEMM with epilogue: ${title} was not found`,
    );
  });
}

Deno.test("bmm-sum is a batch of slices in fp32, then one sum", () => {
  const shape = { m: 16, n: 24, k: 1024, epilogue: "relu" };
  for (const [layout, strideB] of [["nn", 256 * 24], ["nt", 256]] as const) {
    const p = plan("bmm-sum", { ...shape, layout }, { SPLIT: 4 });
    assertEquals(whats(p), ["gemm", "sum_split_32"]);
    assertEquals(p.allocated, [4 * 16 * 24 * 4]);
    const gemm = p.queue[0]!.gemm!;
    assertEquals([gemm.batch, gemm.k], [4, 256]);
    assertEquals(
      [gemm.a.stride, gemm.b.stride, gemm.c.stride],
      [256, strideB, 384],
    );
    assertStrictEquals(gemm.c.type, "f32");
    assertStrictEquals(gemm.b.transposed, layout === "nt");
  }
});
