/**
 * Mistakes planted in the Metal kernels of `qmm` that tile the output, and where they show.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { Change } from "../../testdata/emulated.ts";

/** A kernel at a config and a point. */
export interface Place {
  readonly kernel: string;
  readonly config: Values;
  readonly point: Values;
}

/** A mistake, and where it is to be caught. */
export interface Mutant extends Change {
  /** What the kernel is then without. */
  readonly name: string;
  readonly at: Place;
}

const OWN = { BM: 8, BN: 32, BK: 32, SM: 1, SN: 4, SPLIT: 3 };

/** K of seven groups, in slices of three, three and one. */
const TILED: Place = {
  kernel: "qmm-splitk",
  config: OWN,
  point: { m: 6, n: 37, k: 224, bits: 4, group: 32, type: "f16" },
};
const NVFP4: Place = {
  ...TILED,
  point: { m: 6, n: 37, k: 208, mode: "nvfp4", type: "bf16" },
};
/** x · W, K of no whole step. */
const FLAT: Place = {
  kernel: "qmm_n",
  config: {},
  point: {
    m: 5,
    n: 96,
    k: 70,
    transposed: 0,
    bits: 5,
    group: 32,
    type: "bf16",
  },
};

/** Where they are planted. */
export const tiledPlaces: readonly Place[] = [TILED, NVFP4, FLAT];

/** The mistakes. */
export const tiledMutants: readonly Mutant[] = [
  {
    name: "the barrier before a product",
    at: TILED,
    file: "qmm.metal",
    from: "    barrier();\n    multiply<",
    to: "    multiply<",
  },
  {
    name: "the barrier after a product",
    at: TILED,
    file: "qmm.metal",
    from: "(sums, a, b);\n    barrier();",
    to: "(sums, a, b);",
  },
  {
    name: "the short last slice",
    at: TILED,
    file: "qmm.metal",
    from: "min(int(K), from + slice)",
    to: "from + slice <= K ? from + slice : from",
  },
  {
    name: "the end of the last slice",
    at: TILED,
    file: "qmm.metal",
    from: "min(int(K), from + slice)",
    to: "from + slice",
  },
  {
    name: "a scale",
    at: TILED,
    file: "qmm.metal",
    from: "TYPE(scale * value_of",
    to: "TYPE(value_of",
  },
  {
    name: "the scales of a row's other groups",
    at: TILED,
    file: "qmm.metal",
    from: "scale_of(scales[i / GROUP])",
    to: "scale_of(scales[first / GROUP])",
  },
  {
    name: "a bias",
    at: TILED,
    file: "qmm.metal",
    from: "if (MODE == AFFINE) bias",
    to: "if (false) bias",
  },
  {
    name: "the guard of W's rows",
    at: TILED,
    file: "qmm.metal",
    from: "if (row < rows && col < cols)",
    to: "if (col < cols)",
  },
  {
    name: "a step of the last groups",
    at: NVFP4,
    file: "qmm.metal",
    from: "if (row < rows && col < cols)",
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
    name: "the guard of W's rows",
    at: FLAT,
    file: "qmm.metal",
    from: "if (row < rows && col < cols)",
    to: "if (col < cols)",
  },
  {
    name: "the distance of W's rows",
    at: FLAT,
    file: "qmm.metal",
    from: "long(k) * N + n0, N,",
    to: "long(k) * N + n0, K,",
  },
];
