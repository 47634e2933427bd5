/**
 * The peers of `swiglu`: PyTorch's products, silu and multiplication.
 *
 * @module
 */

import type { PeerOp } from "../../../bench/model/peer.ts";

/** Two products one after another, compiled, and one product of both weights. */
export const peers: PeerOp = {
  module: new URL("./swiglu.py", import.meta.url),
  peers: [
    {
      name: "torch-eager",
      idea:
        "PyTorch: two mm, silu and a multiplication, one call after another",
      kind: "call",
    },
    {
      name: "torch-merged",
      idea:
        "PyTorch: one mm of both weights, which are merged beforehand, then silu and a multiplication",
      kind: "call",
    },
    {
      name: "torch-compiled",
      idea: "torch.compile, max-autotune, compiled afresh for each shape",
      kind: "compile",
    },
  ],
  fields: ({ key: { m, n, k, a_type } }) => ({ m, n, k, type: a_type }),
};
