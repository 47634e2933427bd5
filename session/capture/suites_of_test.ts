import { assert, assertEquals } from "@std/assert";
import { capturedGemm, capturedOf } from "../testdata/captured.ts";
import { capturedSuites } from "./suites_of.ts";

Deno.test("capturedSuites() lists shapes by cost, and what no op computes", () => {
  const files = capturedSuites(capturedOf([
    capturedGemm({ n: 32, time_us: 20, name: "*/ q\nproj" }),
    capturedGemm({ time_us: 200, lda: 136 }),
    capturedGemm({ batch: 4, name: "bmm" }),
    capturedGemm({ a: "e4m3", b: "e4m3", scale: "row", time_us: 10 }),
  ]));
  assertEquals(files.map(({ file }) => file), [
    "captured.ts",
    "captured-scaled-matmul.ts",
  ]);
  assertEquals(
    files[0]!.text,
    `/**
 * GEMMs of python serve.py.
 *
 * The most expensive come first. Shares are of the time of all kernels.
 * Those of another operation are in captured-scaled-matmul.ts.
 *
 * No operation of mnkbench computes:
 * - 26.3 % 4 of 16×64×128 bf16 nt: a batch of 4 products
 */

import { defineSuite, kernels, matmul } from "mnkbench";

const gemms = [
  // 52.6 %, 5 calls a step: cublasGemmEx
  { m: 16, n: 64, k: 128, type: "bf16", epilogue: "none", layout: "nt", lda: 136 },
  // 5.3 %, 5 calls a step: * / q proj
  { m: 16, n: 32, k: 128, type: "bf16", epilogue: "none", layout: "nt" },
] as const;

export default defineSuite({
  name: "captured",
  title: "GEMMs of python serve.py",
  op: matmul,
  axes: { gemm: gemms },
  quick: { gemm: gemms.slice(0, 3) },
  kernels,
  baselines: ["cublas", "cublaslt", "hipblas", "mps", "openblas", "naive"],
});
`,
  );
  assert(
    files[1]!.text.includes(`  { m: 16, n: 64, k: 128, scale: "row" },`),
  );
  assert(files[1]!.text.includes("  kernels: scaledKernels,"));
});

Deno.test("capturedSuites() writes no file where no op computes anything", () => {
  assertEquals(capturedSuites(capturedOf([capturedGemm({ batch: 2 })])), []);
});
