/**
 * Mistakes planted into the CUDA kernels' sources, each with a place where it must show.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { type Change, Workshop } from "../../testdata/emulated.ts";
import { groupedMatmul } from "../op.ts";

/** Edges of M, N and K, and several tiles for each block. */
const SHORT = { m: "9+65", n: "136+72", k: "320+64" };
/** More slabs than there are places for weights. */
const DEEP = { m: "9+17", n: "136+264", k: "576+128" };
/** One tile that pays to be cut along K. */
const LONG = { m: 9, n: 72, k: 1536 };
/** The last blocks of a cluster of four have no rows of B, in a place without scales. */
const NARROW = { m: "9+3", n: "200+72", k: 64 };

const RING = { BM: 64, BN: 64, STAGES: 3 };
const BEST = { MAXN: 32, STEP: 32, KGROUPS: 1, WEIGHTS: 8, SPAN: 4, PIECES: 1 };

/** A kernel at a point and a config where it is right as it is: few units, few stages. */
const where = (
  kernel: string,
  list: Values,
  { units, config = {}, stages = 3 }: {
    units: number;
    config?: Values;
    stages?: number;
  },
) => ({ kernel, point: groupedMatmul.point(list), config, units, stages });

/** Where mistakes are planted. */
export const wheres = {
  perGroup: where("per-group", SHORT, { units: 2 }),
  perGroupMmajor: where("per-group", { ...SHORT, layout: "nt-mmajor" }, {
    units: 2,
  }),
  persistent: where("persistent", SHORT, { units: 1 }),
  ring: where("cluster", SHORT, { units: 2, config: { ...RING, CLUSTER: 1 } }),
  ringPair: where("cluster", SHORT, {
    units: 2,
    config: { ...RING, CLUSTER: 2 },
  }),
  ringFour: where("cluster", NARROW, {
    units: 4,
    config: { ...RING, CLUSTER: 4 },
  }),
  best: where("best", DEEP, { units: 1, config: { ...BEST, CLUSTER: 1 } }),
  bestPair: where("best", DEEP, { units: 2, config: { ...BEST, CLUSTER: 2 } }),
  bestPieces: where("best", LONG, {
    units: 3,
    config: { ...BEST, CLUSTER: 1 },
  }),
  bestHalves: where("best", DEEP, {
    units: 2,
    config: { ...BEST, KGROUPS: 2, CLUSTER: 1 },
    stages: 4,
  }),
};

/** A planted mistake: what is missing, the place where it shows, and the change. */
export type Mutant = readonly [
  name: string,
  where: keyof typeof wheres,
  file: Change["file"],
  from: Change["from"],
  to: Change["to"],
];

/** Binaries of changed sources; those of `original` for what the change does not reach. */
export class MutantWorkshop extends Workshop {
  readonly #file: string;
  readonly #original: Workshop;

  /** @throws {Error} Where the changed text is not there once. */
  constructor(change: Change, original: Workshop) {
    super(change, "cuda");
    this.#file = change.file;
    this.#original = original;
  }

  /** The binary of `build`, made once. */
  override binary(build: Build): Promise<string> {
    const own = (name: string) => name.endsWith("tokens.cu");
    return own(build.source.pathname) === own(this.#file)
      ? super.binary(build)
      : this.#original.binary(build);
  }
}
