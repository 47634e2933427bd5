import { ok, strictEqual } from "node:assert/strict";
import { hipTest } from "../../../backends/testdata/hip_mocks.ts";
import { hipKernels } from "./hip.ts";
import { hipRules, type HipTile, hipTiles, ldsBytes } from "./tiles.ts";
import { matmul } from "../op.ts";
import { emulate } from "../../testdata/emulated.ts";

const kernel = hipKernels.find(({ name }) => name === "decompose-k")!;
const RAGGED = { m: 30, n: 44, k: 600, epilogue: "bias+relu" };
const WHOLE = { m: 32, n: 48, k: 768, epilogue: "relu" };

/** Tiles that differ most: one wave, waves that split K, the most waves, the widest. */
const EXTREMES: readonly HipTile[] = [0, 3, 5, 8, 16, 21].map((i) =>
  hipTiles[i]!
);

for (const type of ["bf16", "f16", "f32"]) {
  for (const layout of ["nn", "nt"]) {
    hipTest(
      `decompose-k is right with the extreme tiles, ${type} ${layout}`,
      async (device) => {
        let ran = 0;
        for (const tile of EXTREMES) {
          for (const shape of [RAGGED, WHOLE]) {
            const point = matmul.point({ ...shape, type, layout });
            const config = { ...tile, SPLIT: 3 };
            if (ldsBytes(tile, point.type) > 65536) continue;
            if (hipRules.waves(point, config)) continue;
            const found = await emulate(device, {
              op: matmul,
              kernel,
              point,
              config,
            });
            strictEqual(found, "", JSON.stringify([shape, config]));
            ran++;
          }
        }
        ok(ran >= 6, `${ran}`);
      },
    );
  }
}
