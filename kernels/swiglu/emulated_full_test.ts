import { assert, assertStrictEquals } from "@std/assert";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import { emulate, extremes } from "../testdata/emulated.ts";
import { fused } from "./cuda/cuda.ts";
import { swiglu, type SwigluPoint } from "./op.ts";

/** Tiles that are whole and that are not, and rows of X in one tile and in several. */
const points = ["bf16", "f16"].flatMap((type) =>
  [
    { m: 1, n: 72, k: 1032 },
    { m: 61, n: 150, k: 520 },
    { m: 64, n: 128, k: 1024 },
    { m: 120, n: 64, k: 264 },
    { m: 140, n: 40, k: 136 },
  ].map((shape) => swiglu.point({ ...shape, type }))
);
const traits = ({ m, type }: SwigluPoint) => [type, `M ${m}`];

cudaTest(
  "fused is right at configs with every value of each tunable",
  async (device) => {
    const { info } = device;
    const chosen = extremes(fused, { points, info, traits });
    assert(chosen.length >= 4, `${chosen.length}`);
    for (const { point, config } of chosen) {
      const found = await emulate(device, {
        ...{ op: swiglu, kernel: fused, point, config, seeds: [3] },
      });
      assertStrictEquals(found, "", JSON.stringify([point, config]));
    }
  },
);
