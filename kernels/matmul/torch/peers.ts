/**
 * The peers of `matmul`: products of 16- and 32-bit operands in PyTorch and Triton.
 *
 * @module
 */

import { parseValues } from "../../../bench/model/grid.ts";
import type { PeerOp } from "../../../bench/model/peer.ts";
import type { OpKey } from "../../../bench/model/problem.ts";

const TYPES = ["bf16", "f16", "f32"];
const EPILOGUES = ["none", "relu", "bias", "bias+relu"];
/** The one peer that is about an epilogue. */
const FUSED = "torch-custom-op-mm-relu";

/** The epilogue in a key's parameters. */
function epilogueOf({ params }: OpKey): string {
  return `${parseValues(params)["epilogue"] ?? "none"}`;
}

/** Operands have one type, and the epilogue is one of `EPILOGUES`. */
export const peers: PeerOp = {
  module: new URL("./matmul.py", import.meta.url),
  plan: new URL("./configs.py", import.meta.url),
  search: new URL("./decompose.py", import.meta.url),
  peers: [
    {
      name: "torch-eager",
      idea: "PyTorch: mm and the epilogue, one call after another",
      kind: "call",
    },
    {
      name: "torch-compiled",
      idea: "torch.compile, max-autotune, compiled afresh for each shape",
      kind: "compile",
    },
    {
      name: "torch-custom-op-mm",
      idea:
        "a custom op for the product, tuned over split counts; epilogue outside",
      kind: "compile",
    },
    {
      name: FUSED,
      idea: "the same with the epilogue inside of the op",
      kind: "compile",
    },
    {
      name: "torch-dynamic",
      idea: "one graph for every M, a choice for each range of it",
      kind: "dynamic",
    },
    {
      name: "triton-decompose-k-tile",
      idea: "decompose-K in Triton, slices summed one by one for a tile",
      kind: "search",
    },
    {
      name: "triton-decompose-k",
      idea: "decompose-K in Triton, slices summed as a vector",
      kind: "search",
    },
  ],
  unsupported({ name }, { key }) {
    const { a_type, b_type, c_type } = key;
    const types = [a_type, b_type, c_type];
    const { stepc } = parseValues(key.params);
    if (stepc !== undefined) {
      return `C has a column stride of ${stepc}: peers write rows without gaps`;
    }
    if (!TYPES.includes(a_type) || types.some((type) => type !== a_type)) {
      return `Peers take operands of one type of ${TYPES.join(", ")}`;
    }
    const epilogue = epilogueOf(key);
    if (!EPILOGUES.includes(epilogue)) {
      return `Peers have no epilogue ${epilogue}`;
    }
    return name === FUSED && epilogue === "none"
      ? "There is no epilogue to fuse: see torch-custom-op-mm"
      : undefined;
  },
  fields({ key }) {
    const { m, n, k, a_type, layout } = key;
    const { lda = k, ldb = layout === "nn" ? n : k } = parseValues(key.params);
    const epilogue = epilogueOf(key);
    return {
      m,
      n,
      k,
      type: a_type,
      layout,
      lda,
      ldb,
      epilogue,
      bias: epilogue.startsWith("bias"),
      relu: epilogue.endsWith("relu"),
    };
  },
};
