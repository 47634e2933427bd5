/**
 * The cases of `qmm` for the tests of all operations.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { Build } from "../../../bench/device/device.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import type { OpCases } from "../../testdata/cases.ts";
import { textOf } from "../../testdata/cuda_builds.ts";
import { h200 } from "../../testdata/devices.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, TYPES } from "../point.ts";

/** Units without tunables: widths that divide a word and that do not, each mode without one. */
const FIXED: readonly string[] = [
  "reference.cu TYPE=bf16",
  "reference.cu TYPE=f16",
  "dequantise.cu TYPE=f16 MODE=AFFINE BITS=3",
  "dequantise.cu TYPE=bf16 MODE=AFFINE BITS=8",
  "dequantise.cu TYPE=bf16 MODE=MXFP8 BITS=8",
  "dequantise.cu TYPE=f16 MODE=NVFP4 BITS=4",
];

/** Of each way to decode a weight, and the configs with the most registers. */
const DECODING: readonly (readonly [string, Values, Values])[] = [
  ["qmm", { m: 64, type: "bf16", bits: 4, group: 64 }, {
    BM: 64,
    RT: 2,
    WN: 4,
    WK: 2,
    KS: 128,
    STAGES: 2,
    CLUSTER: 1,
  }],
  ["qmm", { m: 64, type: "bf16", bits: 8, group: 64 }, {
    BM: 64,
    RT: 1,
    WN: 4,
    WK: 2,
    KS: 128,
    STAGES: 2,
    CLUSTER: 1,
  }],
  ["qmm-splitk", { m: 16, type: "f16", bits: 5, group: 32 }, {
    BM: 16,
    RT: 4,
    WN: 1,
    WK: 8,
    KS: 256,
    STAGES: 1,
    CLUSTER: 2,
  }],
  ["qmm-splitk", { m: 1, type: "bf16", mode: "nvfp4" }, {
    BM: 1,
    RT: 4,
    WN: 1,
    WK: 8,
    KS: 256,
    STAGES: 1,
    CLUSTER: 2,
  }],
  ["qmm-splitk", { m: 32, type: "f16", mode: "mxfp8" }, {
    BM: 32,
    RT: 2,
    WN: 2,
    WK: 4,
    KS: 128,
    STAGES: 2,
    CLUSTER: 4,
  }],
  ["qmm-splitk", { m: 32, type: "bf16", bits: 4, group: 64 }, {
    BM: 32,
    RT: 4,
    WN: 2,
    WK: 4,
    KS: 128,
    STAGES: 2,
    CLUSTER: 3,
  }],
  ["qmm", { m: 16, type: "bf16", bits: 4, group: 64 }, {
    BM: 16,
    RT: 2,
    WN: 1,
    WK: 10,
    KS: 128,
    STAGES: 2,
    CLUSTER: 1,
  }],
  ["qmm", { m: 8, type: "bf16", bits: 6, group: 128 }, {
    BM: 8,
    RT: 2,
    WN: 1,
    WK: 16,
    KS: 128,
    STAGES: 2,
    CLUSTER: 1,
  }],
  ["qmm-wgmma", { m: 64, type: "bf16", bits: 4, group: 32 }, {
    BM: 64,
    ROWS: 64,
    SETS: 4,
    PLACES: 2,
    CLUSTER: 2,
  }],
  ["qmm-wgmma", { m: 512, type: "bf16", bits: 6, group: 64 }, {
    BM: 256,
    ROWS: 64,
    SETS: 2,
    PLACES: 2,
    CLUSTER: 1,
  }],
  ["qmm-wgmma", { m: 512, type: "f16", mode: "mxfp8" }, {
    BM: 176,
    ROWS: 128,
    SETS: 1,
    PLACES: 2,
    CLUSTER: 1,
  }],
  ["qmm-wgmma", { m: 96, type: "f16", bits: 5, group: 128 }, {
    BM: 96,
    ROWS: 64,
    SETS: 3,
    PLACES: 2,
    CLUSTER: 2,
  }],
  ["qmm-wgmma", { m: 128, type: "bf16", bits: 4, group: "channel" }, {
    BM: 128,
    ROWS: 64,
    SETS: 2,
    PLACES: 2,
    CLUSTER: 2,
  }],
  ["qmm", { m: 16, type: "bf16", bits: 4, group: "channel" }, {
    BM: 16,
    RT: 4,
    WN: 1,
    WK: 8,
    KS: 128,
    STAGES: 2,
    CLUSTER: 1,
  }],
  ["qmm-wgmma", { m: 2048, type: "bf16", mode: "nvfp4" }, {
    BM: 256,
    ROWS: 128,
    SETS: 1,
    PLACES: 3,
    CLUSTER: 1,
  }],
  ["qmm-wgmma", { m: 512, type: "bf16", mode: "mxfp8", layout: "nn" }, {
    BM: 256,
    ROWS: 128,
    SETS: 1,
    PLACES: 2,
    CLUSTER: 1,
  }],
  ["qmm-wgmma", { m: 64, type: "f16", bits: 8, group: 32, layout: "nn" }, {
    BM: 64,
    ROWS: 256,
    SETS: 1,
    PLACES: 2,
    CLUSTER: 2,
  }],
  ["qmv", { m: 8, type: "bf16", bits: 6, group: 128 }, {
    ROWS: 8,
    COLS: 4,
    THREADS: 128,
    UNROLL: 1,
    CLUSTER: 1,
  }],
  ["qmv", { m: 1, type: "f16", mode: "mxfp4" }, {
    ROWS: 1,
    COLS: 8,
    THREADS: 128,
    UNROLL: 1,
    CLUSTER: 1,
  }],
  ["qmv", { m: 8, type: "bf16", bits: 3, layout: "nn" }, {
    ROWS: 8,
    COLS: 64,
    THREADS: 256,
    UNROLL: 4,
    CLUSTER: 2,
  }],
];

/** The units of the configs that decode, which must be legal. */
function decoding(): Build[] {
  return DECODING.map(([name, values, config]) => {
    const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
    const point = qmm.point({ n: 4096, k: 4096, ...values });
    const wanted = formatValues(config);
    const found = [...kernel.candidates(point, h200)]
      .find((c) => formatValues(c.config) === wanted);
    assert(found, `${name} has no config ${wanted}`);
    assertEquals(found.illegal, undefined, `${name} ${wanted}`);
    return kernel.builds(point, config)[0]!;
  });
}

/** K of eight slices, of which the last is shorter, in the modes that differ most. */
const cut = TYPES.flatMap((type) => {
  const shape = { m: 2, n: 32, k: 1033, layout: "nn", type };
  return [
    qmm.point({ ...shape, bits: 5, group: 32 }),
    qmm.point({ ...shape, mode: "nvfp4" }),
  ];
});

/** Points at which CUDA's kernels run in a moment on the emulator. */
const SHORT: readonly Values[] = [
  { m: 3, n: 5, k: 192, type: "f16" },
  { m: 4, n: 35, k: 224, mode: "mxfp4", type: "bf16" },
  { m: 1, n: 64, k: 37, layout: "nn", type: "f16" },
];

/** The cases. */
export const cases: OpCases<QmmPoint> = {
  // As long as those of the suites, and narrow: mutants decode all weights again.
  long: ["affine", "mxfp4", "mxfp8", "nvfp4"].map((mode) =>
    qmm.point({ m: 4, n: 64, k: 8192, mode })
  ),
  larger: [
    qmm.point({ m: 135, n: 70, k: 1536, mode: "affine", bits: 4, group: 64 }),
    qmm.point({ m: 6, n: 129, k: 2112, mode: "mxfp8", type: "f16" }),
    qmm.point({ m: 131, n: 320, k: 50, mode: "mxfp4", layout: "nn" }),
  ],
  // Modes with and without biases, along N and along K, in both types.
  references: [
    ...[3, 11, 13, 16, 18, 46].map((place) => qmm.edgeCases[place]!),
    qmm.point({ m: 5, n: 7, k: 96, bits: 3, group: 32, type: "f16" }),
    qmm.point({ m: 2, n: 64, k: 37, layout: "nn", bits: 6 }),
  ],
  checked: {
    cuda: SHORT.map((values) => qmm.point(values)),
    metal: [...qmm.edgeCases, ...cut],
  },
  unsupported:
    /it multiplies by W|does not cut K|groups of weights run along N|tensor maps need|its copies need|MLX has groups of|^MPSMatrixMultiplication multiplies/,
  chosen: (all) => {
    const fixed = all.filter((build) => FIXED.includes(textOf(build)));
    assertEquals(fixed.length, FIXED.length);
    return [...fixed, ...decoding()];
  },
  // What quantises is never timed.
  stack: /dequantise\.cu$/,
};
