import type { Values } from "../../../bench/model/grid.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/cuda_builds.ts";
import { qmm } from "../op.ts";
import { qmmWgmma } from "./wgmma.ts";

/** Formats with codes of other widths than 4 bits, and the largest tiles of several warpgroups. */
const FORMATS: readonly Values[] = [
  { bits: 3, group: 64, type: "bf16" },
  { bits: 5, group: 32, type: "bf16" },
  { bits: 5, group: 128, type: "f16" },
  { bits: 6, group: 64, type: "f16" },
  { bits: 8, group: 32, type: "bf16" },
  { mode: "mxfp8", type: "bf16" },
];
const TILES: readonly Values[] = [
  { BM: 256, ROWS: 64, SETS: 2 },
  { BM: 128, ROWS: 64, SETS: 3 },
  { BM: 64, ROWS: 64, SETS: 4 },
];

Deno.test({
  name:
    `the largest tiles of qmm-wgmma spill at most 20 bytes for ${ARCH}${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    // Without bounds checks, and with them.
    const builds = [4096, 4104].flatMap((n) =>
      FORMATS.flatMap((format) =>
        TILES.flatMap((tile) =>
          qmmWgmma.builds(
            qmm.point({ m: 2048, n, k: 4096, ...format }),
            { ...tile, PLACES: 2, CLUSTER: 2 },
          )
        )
      )
    );
    await compileWithoutSpills(builds, undefined, 20);
  },
});
