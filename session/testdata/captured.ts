/** Captured programs to test with. */

import type { Captured, CapturedGemm } from "../../bench/model/captured.ts";

/** A GEMM of 16 tokens with weights [N, K] in bf16, of 10 calls in the window. */
export function capturedGemm(
  own: Partial<CapturedGemm> = {},
): CapturedGemm {
  const { m = 16, n = 64, k = 128, layout = "nt" } = own;
  return {
    op: "",
    why_no_op: "",
    source: "cublas",
    name: "cublasGemmEx",
    m,
    n,
    k,
    batch: 1,
    a: "bf16",
    b: "bf16",
    c: "bf16",
    compute: "f32",
    layout,
    lda: k,
    ldb: layout === "nt" ? k : n,
    ldc: n,
    epilogue: "none",
    beta_nonzero: false,
    phase: "all",
    calls: 10,
    time_us: 100,
    ...own,
  };
}

/** A program of two steps in a window of 1 ms. */
export function capturedOf(
  gemms: readonly CapturedGemm[],
  own: Partial<Captured> = {},
): Captured {
  return {
    schema: 1,
    program: ["python", "serve.py"],
    steps: 2,
    window_s: 1e-3,
    wall_s: 1,
    clock: "cupti",
    notes: [],
    gemms: [...gemms],
    other: [{ name: "softmax", calls: 4, time_us: 50 }],
    ...own,
  };
}
