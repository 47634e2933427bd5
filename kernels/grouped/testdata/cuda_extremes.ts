/**
 * Configs of the CUDA kernels that differ most, for the lane emulator.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";

/** Configs that differ most, each at a list where it is legal. */
export const EXTREMES: readonly {
  kernel: string;
  list: Values;
  config: Values;
  stages?: number;
}[] = [
  {
    kernel: "cluster",
    list: { m: "65+130", n: "264+72", k: "320+64" },
    config: { BM: 128, BN: 128, STAGES: 3, CLUSTER: 1 },
  },
  {
    kernel: "cluster",
    list: { m: "9+65", n: "72+200", k: "64+576" },
    config: { BM: 64, BN: 64, STAGES: 6, CLUSTER: 4 },
  },
  {
    kernel: "cluster",
    list: { m: "63+1+70", n: "264+8+136", k: "64+192+1088" },
    config: { BM: 64, BN: 128, STAGES: 3, CLUSTER: 2 },
  },
  {
    kernel: "cluster",
    list: { m: "100+7", n: "264+72", k: "64+320" },
    config: { BM: 128, BN: 64, STAGES: 4, CLUSTER: 4 },
  },
  {
    kernel: "best",
    list: { m: "9+65+1", n: "264+72+392", k: "576+64+192" },
    config: {
      MAXN: 64,
      STEP: 16,
      KGROUPS: 1,
      CLUSTER: 1,
      WEIGHTS: 8,
      SPAN: 4,
      PIECES: 1,
    },
  },
  {
    kernel: "best",
    list: { m: "64+7+33", n: "392+72+136", k: "64+576+128" },
    config: {
      MAXN: 64,
      STEP: 8,
      KGROUPS: 2,
      CLUSTER: 4,
      WEIGHTS: 8,
      SPAN: 2,
      PIECES: 1,
    },
    stages: 4,
  },
  {
    kernel: "best",
    list: { m: "129+63", n: "264+136", k: "192+320" },
    config: {
      MAXN: 128,
      STEP: 16,
      KGROUPS: 2,
      CLUSTER: 2,
      WEIGHTS: 8,
      SPAN: 4,
      PIECES: 1,
    },
    stages: 4,
  },
  {
    kernel: "best",
    list: { m: "257+225", n: "520+72", k: "64+384" },
    config: {
      MAXN: 128,
      STEP: 8,
      KGROUPS: 1,
      CLUSTER: 2,
      WEIGHTS: 8,
      SPAN: 2,
      PIECES: 0,
    },
    stages: 2,
  },
  {
    // One tile, of which three blocks have a piece each.
    kernel: "best",
    list: { m: "33", n: "136", k: "2048" },
    config: {
      MAXN: 64,
      STEP: 16,
      KGROUPS: 1,
      CLUSTER: 1,
      WEIGHTS: 8,
      SPAN: 2,
      PIECES: 1,
    },
  },
  {
    kernel: "best",
    list: { m: "33+40", n: "136+8", k: "2048+64" },
    config: {
      MAXN: 64,
      STEP: 16,
      KGROUPS: 2,
      CLUSTER: 2,
      WEIGHTS: 8,
      SPAN: 2,
      PIECES: 1,
    },
  },
];
