import { assertEquals, assertThrows } from "@std/assert";
import { type Captured, readCaptured } from "./captured.ts";
import { UserError } from "./errors.ts";

/** A file with one GEMM of a decode step. */
const CAPTURED: Captured = {
  schema: 1,
  program: ["python", "serve.py"],
  device: { name: "NVIDIA H200", arch: "sm_90" },
  window_s: 5,
  wall_s: 12.5,
  gpu_busy_us: 4_100_000,
  clock: "cupti",
  gemms: [{
    op: "matmul",
    why_no_op: "",
    source: "cublas",
    name: "cublasGemmEx",
    m: 16,
    n: 6144,
    k: 4096,
    batch: 1,
    a: "bf16",
    b: "bf16",
    c: "bf16",
    compute: "f32",
    layout: "nt",
    lda: 4096,
    ldb: 4096,
    ldc: 6144,
    epilogue: "none",
    beta_nonzero: false,
    phase: "decode",
    calls: 3200,
    graph_calls: 0,
    time_us: 43_000.5,
    kernels: ["nvjet_tst_64x16_64x16_4x1_v_bz_TNT"],
  }],
  other: [{ name: "softmax", is_gemm: false, calls: 3200, time_us: 9000 }],
  notes: [],
};

Deno.test("readCaptured() reads what is of the schema", () => {
  assertEquals(readCaptured(JSON.stringify(CAPTURED), "x.json"), CAPTURED);
});

Deno.test("readCaptured() says which field of which file is wrong", () => {
  const [gemm] = CAPTURED.gemms;
  for (
    const [value, why] of [
      [{ ...CAPTURED, schema: 2 }, "field schema is 2"],
      [{ ...CAPTURED, gemms: [{ ...gemm, m: 0 }] }, "field gemms.0.m"],
      [{ ...CAPTURED, gemms: [{ ...gemm, layout: "x" }] }, "gemms.0.layout"],
      [{ ...CAPTURED, clock: undefined }, "field clock is missing"],
      ["text", "it is"],
    ] as const
  ) {
    assertThrows(
      () => readCaptured(JSON.stringify(value), "x.json"),
      UserError,
      why,
    );
  }
  assertThrows(
    () => readCaptured("", "x.json"),
    UserError,
    "x.json: it is empty",
  );
});
