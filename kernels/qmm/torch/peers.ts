/**
 * The peers of `qmm`: products with quantised weights in PyTorch.
 *
 * @module
 */

import {
  isChannel,
  type QuantFormat,
  quantFormat,
} from "../../../bench/formats/quant_format.ts";
import { parseValues } from "../../../bench/model/grid.ts";
import type { PeerOp } from "../../../bench/model/peer.ts";
import type { OpKey } from "../../../bench/model/problem.ts";

/** Columns of a tile of tinygemm, which writes whole tiles. */
const TILE_COLS = 8;

/** The format of the weights. */
function formatOf({ params, layout, n, k }: OpKey): QuantFormat {
  const { mode = "", bits, group } = parseValues(params);
  return quantFormat({ mode, bits, group }, layout === "nt" ? k : n);
}

/** The reason why tinygemm does not take a product. */
function noInt4pack(key: OpKey): string | undefined {
  const format = formatOf(key);
  const { mode, bits } = format;
  if (isChannel(format)) {
    return "_weight_int4pack_mm has groups of 32 to 256, not a scale a channel";
  }
  if (mode !== "affine" || bits !== 4) {
    return `_weight_int4pack_mm takes 4-bit integers with a scale and a zero point, not ${mode} of ${bits} bits`;
  }
  if (key.layout !== "nt") {
    return "_weight_int4pack_mm has groups along K: it takes x · Wᵀ only";
  }
  if (key.a_type !== "bf16") {
    return `_weight_int4pack_mm takes bf16 activations on CUDA, not ${key.a_type}`;
  }
  return key.n % TILE_COLS === 0
    ? undefined
    : `_weight_int4pack_mm takes N in multiples of ${TILE_COLS}, not ${key.n}`;
}

/** Weights of every format; tinygemm takes 4-bit integers only. */
export const peers: PeerOp = {
  module: new URL("./qmm.py", import.meta.url),
  peers: [
    {
      name: "torch-eager",
      idea: "PyTorch: mm on 16-bit weights, decoded before the clock starts",
      note: "weights are of 16 bits, decoded before the clock starts",
      kind: "call",
    },
    {
      name: "torch-compiled",
      idea:
        "torch.compile, max-autotune, of decoding and mm, both on the clock",
      kind: "compile",
    },
    {
      name: "torch-int4pack",
      idea: "_weight_int4pack_mm (tinygemm), repacked before the clock starts",
      note:
        "weights are repacked before the clock starts, and rounded to bf16 where they are decoded",
      kind: "call",
    },
  ],
  unsupported({ name }, { key }) {
    if (name === "torch-int4pack") return noInt4pack(key);
    const { bits } = formatOf(key);
    if (name === "torch-compiled" && 8 % bits !== 0) {
      return `Codes of ${bits} bits lie across bytes, and PyTorch has no type for them: torch-eager has them decoded`;
    }
    return undefined;
  },
  fields({ key }) {
    const { m, n, k, a_type, layout } = key;
    const transposed = layout === "nt";
    // Weights are stored with groups along rows.
    const [rows, cols] = transposed ? [n, k] : [k, n];
    return { m, n, k, type: a_type, transposed, rows, cols, ...formatOf(key) };
  },
};
