import { ok, strictEqual } from "node:assert/strict";
import { metalTest } from "../../../backends/testdata/metal_mocks.ts";
import { metalKernels } from "./metal.ts";
import { type MetalTile, metalTiles } from "./tiles.ts";
import { matmul } from "../op.ts";
import { emulate } from "../../testdata/emulated.ts";

const kernel = metalKernels.find(({ name }) => name === "decompose-k")!;
const RAGGED = { m: 30, n: 44, k: 600, epilogue: "bias+relu" };
const WHOLE = { m: 32, n: 48, epilogue: "relu" };

/** Slices of 52 and of 96: no multiple of any step but the least, and of most. */
const SHORT = [{ ...RAGGED, k: 156 }, { ...WHOLE, k: 288 }] as const;

/** Tiles that differ most: the fewest lanes, eight rows, one simdgroup along M, the widest. */
const EXTREMES: readonly MetalTile[] = [1, 3, 6, 10, 14].map((i) =>
  metalTiles[i]!
);

for (const type of ["bf16", "f16", "f32"]) {
  for (const layout of ["nn", "nt"]) {
    metalTest(
      `decompose-k on Metal is right with the extreme tiles, ${type} ${layout}`,
      async (device) => {
        let ran = 0;
        for (const [i, tile] of EXTREMES.entries()) {
          const point = matmul.point({
            ...SHORT[i % 2],
            ...{ type, layout },
          });
          const config = { ...tile, SPLIT: 3 };
          const found = await emulate(device, {
            op: matmul,
            kernel,
            point,
            config,
          });
          strictEqual(found, "", JSON.stringify(config));
          ran++;
        }
        ok(ran === EXTREMES.length);
      },
    );
  }
}
