import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { capturedGemm, capturedOf } from "../testdata/captured.ts";
import { boundMs, stepOf } from "./lines.ts";

const SMALL = capturedGemm({ n: 32, time_us: 20, calls: 4 });

Deno.test("stepOf() has the most expensive first, and shares that add up to 1", () => {
  const step = stepOf(capturedOf([SMALL, capturedGemm(), capturedGemm()]));
  assertEquals(
    [...step.gemms, ...step.rest].map(({ label, calls, ms }) => ({
      label,
      calls,
      ms,
    })),
    [
      { label: "16×64×128 bf16 nt", calls: 10, ms: 0.1 },
      { label: "16×32×128 bf16 nt", calls: 2, ms: 0.01 },
      { label: "softmax", calls: 2, ms: 0.025 },
      { label: "no kernel", calls: undefined, ms: 0.365 },
    ],
  );
  const shares = [...step.gemms, ...step.rest].map(({ share = 0 }) => share);
  assertAlmostEquals(shares.reduce((a, b) => a + b), 1);
  assertEquals([step.ms, step.of, step.unit], [0.5, "kernels", "step"]);
});

Deno.test("stepOf() merges what is one point: strides of one row, and transposed columns", () => {
  const row = capturedGemm({ m: 1, n: 8, k: 16 });
  const column = capturedGemm({
    m: 8,
    n: 1,
    k: 16,
    layout: "tn",
    lda: 8,
    ldb: 1,
    ldc: 1,
  });
  const { gemms } = stepOf(capturedOf([
    { ...row, name: "a" },
    { ...row, lda: 999, name: "b" },
    { ...row, layout: "nn", ldb: 8, name: "c" },
    { ...column, name: "d" },
  ]));
  assertEquals(gemms.map(({ names }) => names), [["a", "b"], ["c", "d"]]);
});

Deno.test("stepOf() names phases where there are several", () => {
  const { gemms } = stepOf(capturedOf([
    capturedGemm({ phase: "prefill" }),
    capturedGemm({ phase: "decode" }),
  ]));
  assertEquals(gemms.map(({ names }) => names), [
    ["prefill cublasGemmEx", "decode cublasGemmEx"],
  ]);
});

Deno.test("stepOf() keeps the reason of what captured it", () => {
  const { gemms } = stepOf(capturedOf([
    capturedGemm({ why_no_op: "alpha is in device memory" }),
    capturedGemm({ compute: "tf32" }),
  ]));
  assertEquals(gemms.map(({ why }) => why), [
    "alpha is in device memory",
    "it sums in tf32",
  ]);
});

Deno.test("stepOf() takes the time in which any kernel ran where kernels overlap", () => {
  const { rest, ms } = stepOf(
    capturedOf([capturedGemm({ time_us: 1500 })], { gpu_busy_us: 900 }),
  );
  assertAlmostEquals(rest.at(-1)!.ms!, 0.05);
  assertAlmostEquals(ms!, 0.825);
});

Deno.test("stepOf() of no time has shares of the bound, of unknown steps the window", () => {
  const gemms = [SMALL, capturedGemm()].map((one) => ({
    ...one,
    time_us: null,
  }));
  const { steps: _, ...captured } = capturedOf(gemms, {
    clock: "none",
    other: [],
    window_s: 0,
  });
  const step = stepOf(captured);
  assertEquals([step.ms, step.of, step.unit], [undefined, "bound", "window"]);
  const [large, small] = step.gemms;
  assertEquals(large!.ms, undefined);
  assertAlmostEquals(
    large!.share! / small!.share!,
    10 * boundMs(gemms[1]!) / (4 * boundMs(gemms[0]!)),
  );
  assertEquals(step.rest, []);
});

Deno.test("stepOf() takes counts of 0, and times of 0", () => {
  const step = stepOf(
    capturedOf([capturedGemm({ calls: 0, time_us: 0 })], {
      window_s: 0,
      other: [],
    }),
  );
  assertEquals(step.gemms[0]!.share, undefined);
  assert(step.rest.length === 0);
});

Deno.test("boundMs() is that of the H200's memory, or of its tensor cores", () => {
  // 2 · 7168 · 8192 bytes and little more.
  const few = capturedGemm({ m: 1, n: 7168, k: 8192 });
  assertAlmostEquals(boundMs(few), 2 * 7168 * 8192 / 4.8e12 * 1e3, 1e-4);
  const many = capturedGemm({ m: 8192, n: 8192, k: 8192, batch: 2 });
  assertAlmostEquals(boundMs(many), 2 * 2 * 8192 ** 3 / 989e12 * 1e3, 1e-9);
});
