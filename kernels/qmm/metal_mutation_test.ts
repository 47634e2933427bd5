import { match, strictEqual } from "node:assert/strict";
import { metalTest } from "../../backends/testdata/metal_mocks.ts";
import type { Values } from "../../bench/grid.ts";
import { type Change, emulate, Workshop } from "../matmul/testdata/emulated.ts";
import { metalKernels } from "./metal.ts";
import { qmm } from "./op.ts";
import { readPoint } from "./point.ts";

const kernel = (name: string) => metalKernels.find((k) => k.name === name)!;
const OWN = { BM: 8, BN: 32, BK: 32, SM: 1, SN: 4, SPLIT: 3 };

interface Place {
  readonly kernel: string;
  readonly config: Values;
  readonly point: Values;
}

/** Where mutants are planted: K of seven groups, in slices of three, three and one. */
const TILED: Place = {
  kernel: "qmm-splitk",
  config: OWN,
  point: { m: 6, n: 37, k: 224, bits: 4, group: 32, type: "f16" },
};
const VECTOR: Place = {
  kernel: "qmv",
  config: {},
  point: { m: 2, n: 13, k: 1056, bits: 5, group: 32, type: "bf16" },
};
const NVFP4: Place = {
  ...TILED,
  point: { m: 6, n: 37, k: 208, mode: "nvfp4", type: "bf16" },
};
const MXFP8: Place = {
  ...VECTOR,
  point: { m: 1, n: 9, k: 288, mode: "mxfp8", type: "f16" },
};
const PLACES = [TILED, VECTOR, NVFP4, MXFP8];

const MUTANTS: readonly (Change & { name: string; at: Place })[] = [
  {
    name: "the barrier before a product",
    at: TILED,
    file: "qmm_t.metal",
    from: "    barrier();\n    multiply<",
    to: "    multiply<",
  },
  {
    name: "the barrier after a product",
    at: TILED,
    file: "qmm_t.metal",
    from: "(sums, a, b);\n    barrier();",
    to: "(sums, a, b);",
  },
  {
    name: "the short last slice",
    at: TILED,
    file: "qmm_t.metal",
    from: "min(int(K), from + slice)",
    to: "from + slice <= K ? from + slice : from",
  },
  {
    name: "the end of the last slice",
    at: TILED,
    file: "qmm_t.metal",
    from: "min(int(K), from + slice)",
    to: "from + slice",
  },
  {
    name: "a scale",
    at: TILED,
    file: "qmm_t.metal",
    from: "TYPE(scale * value_of",
    to: "TYPE(value_of",
  },
  {
    name: "the scales of a row's other groups",
    at: TILED,
    file: "qmm_t.metal",
    from: "scale_of(scales[i / GROUP])",
    to: "scale_of(scales[first / GROUP])",
  },
  {
    name: "a bias",
    at: TILED,
    file: "qmm_t.metal",
    from: "if (MODE == AFFINE) bias",
    to: "if (false) bias",
  },
  {
    name: "the guard of W's rows",
    at: TILED,
    file: "qmm_t.metal",
    from: "if (row < rows && k < depth)",
    to: "if (k < depth)",
  },
  {
    name: "a step of the last groups",
    at: NVFP4,
    file: "qmm_t.metal",
    from: "if (row < rows && k < depth)",
    to: "if (row < rows)",
  },
  {
    name: "the sign of a code",
    at: NVFP4,
    file: "weight.metal.h",
    from: "return code & 8 ? -x : x;",
    to: "return x;",
  },
  {
    name: "a slice of the sum",
    at: TILED,
    file: "sum_slices.metal",
    from: "int s = 0; s < S;",
    to: "int s = 1; s < S;",
  },
  {
    name: "the bits of a code in the next word",
    at: VECTOR,
    file: "weight.metal.h",
    from:
      "  if (shift + BITS > 16) code |= uint(words[word + 1]) << (16 - shift);\n",
    to: "",
  },
  {
    name: "the bias of a group",
    at: VECTOR,
    file: "qmv.metal",
    from: "* total;",
    to: "* 0;",
  },
  {
    name: "the guard of W's rows in qmv",
    at: VECTOR,
    file: "qmv.metal",
    from: "if (!FAST && first + r >= N) break;",
    to: "",
  },
  {
    name: "the last step of qmv",
    at: VECTOR,
    file: "qmv.metal",
    from: "k < K; k += STEP",
    to: "k + STEP <= K + lane * VALUES; k += STEP",
  },
  {
    name: "the exponent of a scale",
    at: MXFP8,
    file: "weight.metal.h",
    from: "code ? code << 23",
    to: "code ? (code ^ 1) << 23",
  },
];
const SEEDS = [1, 2, 3];

const run = (
  device: Parameters<Parameters<typeof metalTest>[1]>[0],
  at: Place,
  workshop: Workshop,
) =>
  emulate(device, workshop, {
    op: qmm,
    kernel: kernel(at.kernel),
    point: readPoint(at.point),
    config: at.config,
    seeds: SEEDS,
  });

for (const at of PLACES) {
  metalTest(
    `${at.kernel} on Metal as it is passes where its mutants are caught, ${
      at.point.mode ?? "affine"
    }`,
    async (device) => {
      using workshop = new Workshop(undefined, "metal");
      strictEqual(await run(device, at, workshop), "");
    },
  );
}

for (const { name, at, ...change } of MUTANTS) {
  metalTest(
    `${at.kernel} on Metal without ${name} is caught`,
    async (device) => {
      using workshop = new Workshop(change, "metal");
      match(
        await run(device, at, workshop),
        /race|wrong|nobody wrote|no memory|nothing orders/,
      );
    },
  );
}

metalTest(
  "qmm-splitk on Metal is right with every tile and slices of any length",
  async (device) => {
    using workshop = new Workshop(undefined, "metal");
    const tiles = [
      { BM: 8, BN: 64, BK: 32, SM: 1, SN: 4, SPLIT: 2 },
      { BM: 16, BN: 32, BK: 64, SM: 1, SN: 4, SPLIT: 3 },
      { BM: 16, BN: 32, BK: 32, SM: 2, SN: 2, SPLIT: 5 },
      { BM: 32, BN: 64, BK: 32, SM: 2, SN: 2, SPLIT: 2 },
      { BM: 64, BN: 64, BK: 32, SM: 2, SN: 2, SPLIT: 1 },
    ];
    for (const config of tiles) {
      const point = { m: 19, n: 45, k: 352, bits: 4, group: 32, type: "bf16" };
      const at = { kernel: "qmm-splitk", config, point };
      strictEqual(await run(device, at, workshop), "", JSON.stringify(config));
    }
  },
);
