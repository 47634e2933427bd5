/**
 * The points of the decompose-k measurements: skinny square outputs of a long K.
 *
 * @module
 */

/** M = N from 16 to 64, K from 8192 to 32768, row-major operands. */
export const skinny = {
  axes: {
    layout: ["nn"],
    m: [16, 32, 48, 64],
    k: [8192, 12288, 16384, 20480, 24576, 28672, 32768],
  },
  tie: { n: "m" },
  quick: { m: [16, 64], k: [8192, 16384] },
} as const;
