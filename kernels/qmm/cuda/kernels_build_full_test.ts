import { ok, strictEqual } from "node:assert/strict";
import type { Build } from "../../../bench/device/device.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { qmmSplitK, qmmTile } from "./qmm.ts";
import { qmv } from "./qmv.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import { h200 } from "../../testdata/h200.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

/** Of each way to decode one, and the configs with the most registers. */
const CHOSEN: readonly (readonly [Kernel<QmmPoint>, Values, Values])[] = [
  [qmmTile, { m: 64, type: "bf16", bits: 4, group: 64 }, {
    ...{ BM: 64, RT: 2, WN: 4, WK: 2 },
    ...{ KS: 128, STAGES: 2, CLUSTER: 1 },
  }],
  [qmmTile, { m: 64, type: "bf16", bits: 8, group: 64 }, {
    ...{ BM: 64, RT: 1, WN: 4, WK: 2 },
    ...{ KS: 128, STAGES: 2, CLUSTER: 1 },
  }],
  [qmmSplitK, { m: 16, type: "f16", bits: 5, group: 32 }, {
    ...{ BM: 16, RT: 4, WN: 1, WK: 8 },
    ...{ KS: 256, STAGES: 1, CLUSTER: 2 },
  }],
  [qmmSplitK, { m: 1, type: "bf16", mode: "nvfp4" }, {
    ...{ BM: 1, RT: 4, WN: 1, WK: 8 },
    ...{ KS: 256, STAGES: 1, CLUSTER: 2 },
  }],
  [qmmSplitK, { m: 32, type: "f16", mode: "mxfp8" }, {
    ...{ BM: 32, RT: 2, WN: 2, WK: 4 },
    ...{ KS: 128, STAGES: 2, CLUSTER: 4 },
  }],
  [qmmSplitK, { m: 32, type: "bf16", bits: 4, group: 64 }, {
    ...{ BM: 32, RT: 4, WN: 2, WK: 4 },
    ...{ KS: 128, STAGES: 2, CLUSTER: 3 },
  }],
  [qmmTile, { m: 16, type: "bf16", bits: 4, group: 64 }, {
    ...{ BM: 16, RT: 2, WN: 1, WK: 10 },
    ...{ KS: 128, STAGES: 2, CLUSTER: 1 },
  }],
  [qmmTile, { m: 8, type: "bf16", bits: 6, group: 128 }, {
    ...{ BM: 8, RT: 2, WN: 1, WK: 16 },
    ...{ KS: 128, STAGES: 2, CLUSTER: 1 },
  }],
  [qmv, { m: 8, type: "bf16", bits: 6, group: 128 }, {
    ...{ ROWS: 8, COLS: 4, THREADS: 128, UNROLL: 1, CLUSTER: 1 },
  }],
  [qmv, { m: 1, type: "f16", mode: "mxfp4" }, {
    ...{ ROWS: 1, COLS: 8, THREADS: 128, UNROLL: 1, CLUSTER: 1 },
  }],
  [qmv, { m: 8, type: "bf16", bits: 3, layout: "nn" }, {
    ...{ ROWS: 8, COLS: 64, THREADS: 256, UNROLL: 4, CLUSTER: 2 },
  }],
];

/** The units of the chosen configs, which must be legal. */
function chosen(): Build[] {
  return CHOSEN.map(([kernel, values, config]) => {
    const point = qmm.point({ n: 4096, k: 4096, ...values });
    const wanted = formatValues(config);
    const found = [...kernel.candidates(point, h200)]
      .find((c) => formatValues(c.config) === wanted);
    ok(found, `${kernel.name} has no config ${wanted}`);
    strictEqual(found.illegal, undefined, `${kernel.name} ${wanted}`);
    return kernel.builds(point, config)[0]!;
  });
}

Deno.test({
  name: `builds() that decode compile for ${ARCH} without spilling${skipped}`,
  ignore: withoutNvcc,
  fn: () => compileWithoutSpills(chosen()),
});
