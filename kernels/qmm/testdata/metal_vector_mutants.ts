/**
 * Mistakes planted in the Metal kernels of `qmm` that take rows of x one by one, and where they show.
 *
 * @module
 */

import type { Mutant, Place } from "./metal_tiled_mutants.ts";

const VECTOR: Place = {
  kernel: "qmv",
  config: {},
  point: { m: 2, n: 13, k: 1056, bits: 5, group: 32, type: "bf16" },
};
const MXFP8: Place = {
  ...VECTOR,
  point: { m: 1, n: 9, k: 288, mode: "mxfp8", type: "f16" },
};
/** x · W: three simdgroups' columns in two threadgroups, K of no whole step. */
const FLAT: Place = {
  kernel: "qvm",
  config: {},
  point: {
    m: 2,
    n: 96,
    k: 70,
    transposed: 0,
    bits: 5,
    group: 32,
    type: "bf16",
  },
};
/** A group of 16 columns for a simdgroup of 32 lanes. */
const FLAT_NVFP4: Place = {
  ...FLAT,
  point: { m: 1, n: 48, k: 45, transposed: 0, mode: "nvfp4", type: "f16" },
};
/** The last of eight slices is shorter. */
const FLAT_CUT: Place = {
  kernel: "qvm_split_k",
  config: { SPLIT: 8 },
  point: { ...FLAT.point, n: 32, k: 1033 },
};

/** Where they are planted. */
export const vectorPlaces: readonly Place[] = [
  ...[VECTOR, MXFP8, FLAT, FLAT_NVFP4, FLAT_CUT],
];

/** The mistakes. */
export const vectorMutants: readonly Mutant[] = [
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
  {
    name: "the guard of W's columns",
    at: FLAT,
    file: "qvm.metal",
    from: "  if (n0 >= N) return;\n",
    to: "",
  },
  {
    name: "the columns of its second simdgroup",
    at: FLAT,
    file: "qvm.metal",
    from: "(block.x * 2 + tid / 32) * COLS",
    to: "block.x * 2 * COLS",
  },
  {
    name: "the scales of K's other rows",
    at: FLAT,
    file: "qvm.metal",
    from: "group = at / GROUP",
    to: "group = n0 / GROUP",
  },
  {
    name: "the bias of a weight",
    at: FLAT,
    file: "qvm.metal",
    from: "if (MODE == AFFINE) bias",
    to: "if (false) bias",
  },
  {
    name: "the other lanes' sums",
    at: FLAT,
    file: "qvm.metal",
    from: "lane_sum(sums[c])",
    to: "sums[c]",
  },
  {
    name: "the guard of lanes beyond a group",
    at: FLAT_NVFP4,
    file: "qvm.metal",
    from: "if (lane < COLS) out",
    to: "out",
  },
  {
    name: "the end of K",
    at: FLAT_CUT,
    file: "qvm.metal",
    from: "min(int(K), from + slice)",
    to: "from + slice",
  },
  {
    name: "the places of other slices",
    at: FLAT_CUT,
    file: "qvm.metal",
    from: "long(block.z) * blocks.y + block.y",
    to: "block.y",
  },
];
