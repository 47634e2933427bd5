import { match, ok, strictEqual } from "node:assert/strict";
import { decode, encode } from "../../bench/model/dtype.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { memoryOf, multiply, rowsOf } from "../testdata/spine.ts";

const build = { source: new URL("./fake.ts", import.meta.url), defines: {} };

/** A kernel that is off by 1/4 everywhere; `allowed` says how much is right at a SPLIT. */
function offSuite(allowed: (SPLIT: number) => number, SPLIT: number) {
  const off = defineKernel<MatmulPoint, { SPLIT: number }>(matmul, {
    name: "off",
    backend: "fake",
    idea: "rounds once a split",
    configs: () => [{ SPLIT }],
    builds: () => [build],
    tolerance: (_, config) => ({ rtol: 0.02, atol: allowed(config.SPLIT) }),
    prepare: ({ point, operands, program }) => ({
      steps: [
        program(build, "off").step(
          matmul.args(point, operands),
          { grid: [1, 1, 1], block: [1, 1, 1] },
        ),
      ],
    }),
  });
  return defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: [off],
    baselines: ["off"],
  });
}

const kernels = {
  off: {
    ns: 5000,
    run(args: readonly unknown[]) {
      multiply(args);
      const c = memoryOf(args[2]);
      c.set(encode(decode(c.slice(), "bf16").map((x) => x + 0.25), "bf16"));
    },
  },
};

Deno.test("run() checks a config at its kernel's own tolerance, and the row says so", async () => {
  const { rows: [row] } = await rowsOf(offSuite((s) => s / 8, 4), { kernels });
  ok(row?.status === "ok");
  strictEqual(row.accuracy.mismatches, 0);
  strictEqual(
    row.note,
    "right to within 0.5 + 0.02·|x|, others 0.01 + 0.02·|x|",
  );
});

Deno.test("run() finds a config wrong beyond its kernel's own tolerance", async () => {
  const { rows: [row] } = await rowsOf(offSuite((s) => s / 8, 1), { kernels });
  ok(row?.status === "wrong");
  match(row.note, /elements mismatch .* \(up to 0\.125 allowed\)/);
});
