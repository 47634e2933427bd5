/**
 * Peers at products of 16- and 32-bit operands.
 *
 * @module
 */

import { parseValues } from "../bench/model/grid.ts";
import type { OpKey } from "../bench/model/problem.ts";
import { CALLED, MADE, type PeerOp } from "./peer.ts";

const TYPES = ["bf16", "f16", "f32"];
const EPILOGUES = ["none", "relu", "bias", "bias+relu"];

/** The epilogue in a key's parameters. */
function epilogueOf({ params }: OpKey): string {
  return `${parseValues(params)["epilogue"] ?? "none"}`;
}

/** The operation `matmul`. */
export const matmulPeers: PeerOp = {
  peers: [
    {
      name: "torch-eager",
      idea: "PyTorch: mm and the epilogue, one call after another",
      ...CALLED,
    },
    {
      name: "torch-compiled",
      idea: "torch.compile, max-autotune, compiled afresh for each shape",
      ...MADE,
    },
    {
      name: "torch-custom-op-mm",
      idea:
        "a custom op for the product, tuned over split counts; epilogue outside",
      ...MADE,
    },
    {
      name: "torch-custom-op-mm-relu",
      idea: "the same with the epilogue inside of the op",
      fused: true,
      ...MADE,
    },
    {
      name: "torch-dynamic",
      idea: "one graph for every M, a choice for each range of it",
      dynamic: true,
      ...MADE,
    },
    {
      name: "triton-decompose-k-tile",
      idea: "decompose-K in Triton, slices summed one by one for a tile",
      ...MADE,
    },
    {
      name: "triton-decompose-k",
      idea: "decompose-K in Triton, slices summed as a vector",
      ...MADE,
    },
  ],
  unsupported(peer, { problem: { key }, sizes }) {
    const { a_type, b_type, c_type } = key;
    const types = [a_type, b_type, c_type];
    if (!TYPES.includes(a_type) || types.some((type) => type !== a_type)) {
      return `Peers take operands of one type of ${TYPES.join(", ")}`;
    }
    const epilogue = epilogueOf(key);
    if (!EPILOGUES.includes(epilogue)) {
      return `Peers have no epilogue ${epilogue}`;
    }
    if (peer.fused && epilogue === "none") {
      return "There is no epilogue to fuse: see torch-custom-op-mm";
    }
    if (peer.dynamic && sizes.length < 2) {
      return "A dynamic graph serves several M at one N and K; here there is one";
    }
    return undefined;
  },
  fields({ key }) {
    const { m, n, k, a_type, layout } = key;
    const { lda = k, ldb = layout === "nn" ? n : k } = parseValues(key.params);
    const epilogue = epilogueOf(key);
    return { m, n, k, type: a_type, layout, epilogue, lda, ldb };
  },
};
