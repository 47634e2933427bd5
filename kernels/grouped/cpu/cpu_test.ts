import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { BYTES, decode } from "../../../bench/model/dtype.ts";
import { cpuGrouped, cpuKernels } from "./cpu.ts";
import { groupedMatmul } from "../op.ts";
import { cpuReference } from "../device_reference.ts";
import {
  assertRight,
  hasCompiler,
  info,
  run,
  skip,
} from "../testdata/bench.ts";

/** The edge-case shapes that take no time, and one of two chunks of rows and two of K. */
const POINTS = [
  ...groupedMatmul.edgeCases.filter((point) =>
    groupedMatmul.work(point).flops < 3e7
  ),
  groupedMatmul.point({ m: "131+2", n: 70, k: "1072+2064" }),
];
const NORMAL = { seed: 3, fill: "normal" } as const;
const UNIFORM = { seed: 3, fill: "uniform" } as const;

for (const kernel of cpuKernels) {
  Deno.test(`cpuKernels ${kernel.name} is right at edge-case shapes${skip}`, {
    ignore: !hasCompiler && kernel.name !== "naive",
  }, async () => {
    for (const point of POINTS) {
      for (const { config } of kernel.candidates(point, info)) {
        const wish = { point, config, options: UNIFORM };
        assertRight(await run(kernel, wish), wish);
      }
    }
  });
}

Deno.test(
  `cpuGrouped has the reference's bits for the competition's inputs${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    const point = groupedMatmul.point({ m: "17+33", n: 40, k: 1600 });
    const config = { ROWS: 16 };
    const [fast, plain] = await Promise.all(
      [cpuGrouped, cpuKernels[0]!].map((k) =>
        run(k, { point, config, options: NORMAL })
      ),
    );
    // Partial sums are multiples of 1/4 below 2^22: fp32 rounds none.
    deepStrictEqual(fast, plain);
  },
);

Deno.test(`cpuReference agrees with the host to double precision${skip}`, {
  ignore: !hasCompiler,
}, async () => {
  const reference = cpuReference(groupedMatmul);
  for (const point of POINTS) {
    const outputs = await run(reference, {
      point,
      options: UNIFORM,
      size: BYTES.f64,
    });
    const right = groupedMatmul.reference(
      point,
      groupedMatmul.inputs(point, UNIFORM),
    );
    outputs.forEach((bytes, output) => {
      const want = right.all(output);
      decode(bytes, "f64").forEach((x, i) =>
        ok(Math.abs(x - want[i]!) <= 1e-12 * (1 + Math.abs(want[i]!)))
      );
    });
  }
});

Deno.test(
  `cpuGrouped gives NaN where a scale is NaN, 0 where all are 0${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    const point = groupedMatmul.point({ m: 4, n: 8, k: 64 });
    for (const kernel of cpuKernels) {
      const [c] = await run(kernel, {
        point,
        config: { ROWS: 4 },
        options: UNIFORM,
        change(name, bytes) {
          // Rows of a tile are 16 bytes apart: row 0 has a NaN of either sign, row 1 zeros.
          if (name === "SFA0") bytes.set([0x7f, 0xff]);
          if (name === "SFA0") bytes.fill(0, 16, 20);
        },
      });
      const values = decode(c!, "f16");
      ok(values.subarray(0, 8).every(Number.isNaN), kernel.name);
      ok(values.subarray(8, 16).every((x) => x === 0), kernel.name);
      ok(values.subarray(16).every(Number.isFinite), kernel.name);
    }
  },
);

Deno.test("cpuKernels are in the order of listings", () => {
  strictEqual(cpuKernels.map(({ name }) => name).join(" "), "naive grouped");
});
