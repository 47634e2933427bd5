/**
 * The points of the autotuning study: three layers at many batch sizes.
 *
 * @module
 */

/** Layers of 4096 to 4096, 4096 to 11008 and 8192 to 1024, for 1 to 512 rows and the odd 17. */
export const COMPETITION = {
  axes: {
    weights: [
      { n: 4096, k: 4096 },
      { n: 11008, k: 4096 },
      { n: 1024, k: 8192 },
    ],
    m: [1, 2, 4, 8, 16, 17, 32, 64, 128, 256, 512],
  },
  quick: { weights: [{ n: 1024, k: 8192 }], m: [1, 17] },
} as const;
