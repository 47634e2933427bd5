import { assert, assertStrictEquals } from "@std/assert";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import type { Values } from "../../bench/model/grid.ts";
import { emulate, extremes } from "../testdata/emulated.ts";
import { fused } from "./cuda/cuda.ts";
import { fusedDot } from "./cuda/fused_dot.ts";
import { swiglu, type SwigluPoint } from "./op.ts";

function pointsOf(shapes: readonly Values[]): readonly SwigluPoint[] {
  return ["bf16", "f16"].flatMap((type) =>
    shapes.map((shape) => swiglu.point({ ...shape, type }))
  );
}
/** Tiles that are whole and that are not, and rows of X in one tile and in several. */
const tiles = pointsOf([
  { m: 1, n: 72, k: 1032 },
  { m: 61, n: 150, k: 520 },
  { m: 64, n: 128, k: 1024 },
  { m: 120, n: 64, k: 264 },
  { m: 140, n: 40, k: 136 },
]);
/** Rows that are compiled in and fewer, chunks that are whole and that are not, and long rows. */
const dots = pointsOf([
  { m: 1, n: 17, k: 8192 },
  { m: 2, n: 20, k: 7168 },
  { m: 3, n: 33, k: 1001 },
  { m: 4, n: 16, k: 2056 },
  { m: 7, n: 5, k: 16384 },
]);
const traits = ({ m, type }: SwigluPoint) => [type, `M ${m}`];

for (const [kernel, points] of [[fused, tiles], [fusedDot, dots]] as const) {
  cudaTest(
    `${kernel.name} is right at configs with every value of each tunable`,
    async (device) => {
      const { info } = device;
      const chosen = extremes(kernel, { points, info, traits });
      assert(chosen.length >= 4, `${chosen.length}`);
      for (const { point, config } of chosen) {
        const found = await emulate(device, {
          op: swiglu,
          kernel,
          point,
          config,
          seeds: [3],
        });
        assertStrictEquals(found, "", JSON.stringify([point, config]));
      }
    },
  );
}
