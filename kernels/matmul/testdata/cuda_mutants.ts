/**
 * Mistakes planted into the CUDA kernels' sources, each with a place where it must show.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { Change } from "../../testdata/emulated.ts";

/** A kernel at a point and a config where it is right as it is. */
export interface Where {
  readonly kernel: string;
  readonly shape: Values;
  readonly config: Values;
}

const TILE = { BM: 32, BN: 32, BK: 64, GROUP_M: 8, WARPS: 2, STAGES: 3 };
const CLUSTER = { BM: 32, BN: 32, BK: 64, WARPS: 4, KWARPS: 1, STAGES: 2 };
const WGMMA = {
  ...{ BK: 128, WARPS: 8, KWARPS: 1, STAGES: 2, CLUSTER: 2, PARTS: 1 },
};
const TENSOR = {
  LOAD: "tensor",
  ...{ BM: 64, BN: 48, BK: 128, KWARPS: 1, CLUSTER: 2, PARTS: 1 },
};
/** K slices whose rows start on 16 bytes, and others. */
const WHOLE = { m: 30, n: 48, k: 768, epilogue: "bias+relu" };
const RAGGED = { m: 30, n: 44, k: 604, epilogue: "bias+relu" };

/** Where mistakes are planted. */
export const wheres = {
  ring: {
    kernel: "decompose-k",
    shape: WHOLE,
    config: { ...TILE, SPLIT: 2 },
  },
  ragged: {
    kernel: "decompose-k",
    shape: { ...RAGGED, layout: "nt" },
    config: { ...TILE, SPLIT: 2 },
  },
  single: {
    kernel: "decompose-k",
    shape: WHOLE,
    config: { ...TILE, STAGES: 1, SPLIT: 2 },
  },
  /** Warps share K steps. */
  meeting: {
    kernel: "decompose-k",
    shape: WHOLE,
    config: { ...TILE, BM: 16, BN: 16, BK: 128, WARPS: 4, SPLIT: 2 },
  },
  ffma: {
    kernel: "decompose-k",
    shape: { ...WHOLE, type: "f32" },
    config: { ...TILE, SPLIT: 2 },
  },
  pdl: {
    kernel: "decompose-k-pdl",
    shape: WHOLE,
    config: { ...TILE, SPLIT: 2 },
  },
  tile: {
    kernel: "decompose-k-tile-unfused",
    shape: WHOLE,
    config: { ...TILE, SPLIT: 2 },
  },
  cluster: {
    kernel: "cluster-k",
    shape: WHOLE,
    config: { LOAD: "ring", ...CLUSTER, CLUSTER: 4, PARTS: 1 },
  },
  /** Each warp has a ring of its own. */
  rings: {
    kernel: "cluster-k",
    shape: { ...WHOLE, m: 14, n: 16, k: 3072 },
    config: {
      LOAD: "warps",
      ...CLUSTER,
      ...{ BM: 16, BN: 16, BK: 512, KWARPS: 4, CLUSTER: 2, PARTS: 1 },
    },
  },
  swapped: {
    kernel: "cluster-k-swapped",
    shape: { ...WHOLE, layout: "nt" },
    config: { LOAD: "ring", ...CLUSTER, CLUSTER: 4, PARTS: 1 },
  },
  direct: {
    kernel: "cluster-k",
    shape: WHOLE,
    config: {
      LOAD: "direct",
      ...CLUSTER,
      ...{ BK: 32, KWARPS: 4, CLUSTER: 2, PARTS: 1 },
    },
  },
  grid: {
    kernel: "grid-k",
    shape: WHOLE,
    config: { LOAD: "ring", ...CLUSTER, CLUSTER: 1, PARTS: 4 },
  },
  exchange: {
    kernel: "exchange-k",
    shape: WHOLE,
    config: { LOAD: "ring", ...CLUSTER, CLUSTER: 1, PARTS: 4 },
  },
  /** Few units: threads in groups read the parts in turns. */
  groups: {
    kernel: "exchange-k",
    shape: { ...WHOLE, m: 14, n: 16 },
    config: {
      LOAD: "ring",
      ...CLUSTER,
      ...{ BM: 16, BN: 16, STAGES: 1, CLUSTER: 1, PARTS: 12 },
    },
  },
  warpgroups: {
    kernel: "wgmma-k",
    shape: { ...WHOLE, m: 100, n: 88, layout: "nt" },
    config: { LOAD: "wgmma", ...WGMMA, BM: 128, BN: 48 },
  },
  /** Two warpgroups have the same rows. */
  columnwise: {
    kernel: "wgmma-k",
    shape: { ...WHOLE, n: 88, layout: "nt" },
    config: { LOAD: "wgmma", ...WGMMA, BM: 64, BN: 96 },
  },
  /** Steps that tensor maps copy; a cluster has two tiles, of which one is none. */
  tensor: {
    kernel: "wgmma-k",
    shape: { ...WHOLE, m: 130, n: 88, k: 1200, layout: "nt" },
    config: { ...TENSOR, WARPS: 4, STAGES: 2, TILES_M: 2, TILES_N: 1 },
  },
  /** The same of two warpgroups. */
  warpgroupsByMaps: {
    kernel: "wgmma-k",
    shape: { ...WHOLE, m: 70, n: 90, k: 2400, layout: "nt" },
    config: { ...TENSOR, WARPS: 8, STAGES: 3, TILES_M: 1, TILES_N: 2 },
  },
  /** Parts so many and so long that the grid counts tiles before them. */
  many: {
    kernel: "grid-k",
    shape: { ...WHOLE, m: 14, n: 17, k: 12 * 1536 },
    config: {
      LOAD: "ring",
      ...CLUSTER,
      ...{ BM: 16, BN: 16, BK: 256, CLUSTER: 1, PARTS: 12 },
    },
  },
  dot: {
    kernel: "dot",
    shape: { ...WHOLE, m: 5, layout: "nt" },
    config: { THREADS: 128, COLS: 4, UNROLL: 1, CLUSTER: 4 },
  },
  columns: {
    kernel: "dot",
    shape: { ...WHOLE, m: 3 },
    config: { THREADS: 128, COLS: 32, UNROLL: 2, CLUSTER: 2 },
  },
} satisfies Record<string, Where>;

/** A planted mistake: what is missing, the places where it shows, and the change. */
export type Mutant = readonly [
  name: string,
  where: keyof typeof wheres,
  file: Change["file"],
  from: Change["from"],
  to: Change["to"],
];
