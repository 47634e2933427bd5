import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { decode } from "../../../bench/model/dtype.ts";
import { Bench, hasCompiler, skip } from "../../testdata/cpu.ts";
import { groupedMatmul } from "../op.ts";
import { cpuKernels } from "./cpu.ts";

const [naive, grouped] = cpuKernels as [
  typeof cpuKernels[number],
  typeof cpuKernels[number],
];
const NORMAL = { seed: 3, fill: "normal" } as const;
const UNIFORM = { seed: 3, fill: "uniform" } as const;

Deno.test(
  `grouped has the reference's bits for the competition's inputs${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    const point = groupedMatmul.point({ m: "17+33", n: 40, k: 1600 });
    const config = { ROWS: 16 };
    using bench = new Bench(groupedMatmul);
    const [fast, plain] = await Promise.all(
      [grouped, naive].map((kernel) =>
        bench.run(kernel, { point, config, options: NORMAL })
      ),
    );
    // Partial sums are multiples of 1/4 below 2^22: fp32 rounds none.
    assertEquals(fast, plain);
  },
);

Deno.test(
  `grouped gives NaN where a scale is NaN, 0 where all are 0${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    const point = groupedMatmul.point({ m: 4, n: 8, k: 64 });
    for (const kernel of cpuKernels) {
      using bench = new Bench(groupedMatmul);
      const [c] = await bench.run(kernel, {
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
      assert(values.subarray(0, 8).every(Number.isNaN), kernel.name);
      assert(values.subarray(8, 16).every((x) => x === 0), kernel.name);
      assert(values.subarray(16).every(Number.isFinite), kernel.name);
    }
  },
);

Deno.test("cpuKernels are in the order of listings", () => {
  assertStrictEquals(
    cpuKernels.map(({ name }) => name).join(" "),
    "naive grouped",
  );
});
