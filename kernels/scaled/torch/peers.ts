/**
 * The peer of `scaled-matmul`: PyTorch's scaled FP8 product.
 *
 * @module
 */

import type { PeerOp } from "../../../bench/model/peer.ts";
import { parseValues } from "../../../bench/model/grid.ts";

/** `_scaled_mm` with one scale for each operand or each row. */
export const peers: PeerOp = {
  module: new URL("./scaled.py", import.meta.url),
  peers: [
    {
      name: "torch-eager",
      idea: "PyTorch: _scaled_mm without fast accumulation",
      kind: "call",
    },
  ],
  unsupported(_, { key: { n, k, params } }) {
    if (parseValues(params).scale === "block128") {
      return "_scaled_mm is called with a scale for each operand or row only: cublaslt has those of blocks";
    }
    return n % 16 === 0 && k % 16 === 0
      ? undefined
      : `_scaled_mm takes N and K in multiples of 16, not N=${n} and K=${k}`;
  },
  fields: ({ key: { m, n, k, params } }) => ({
    m,
    n,
    k,
    ...parseValues(params),
  }),
};
