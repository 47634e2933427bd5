/**
 * Peers at products with quantised weights.
 *
 * @module
 */

import {
  type QuantFormat,
  quantFormat,
} from "../bench/formats/quant_format.ts";
import { parseValues } from "../bench/model/grid.ts";
import type { OpKey } from "../bench/model/problem.ts";
import { CALLED, MADE, type PeerOp } from "./peer.ts";

/** Outputs of a tile of tinygemm: it would write more columns than there are. */
const TILE_COLS = 8;

/** The format of the weights. */
function formatOf({ params }: OpKey): QuantFormat {
  const { mode = "", bits, group } = parseValues(params);
  return quantFormat({ mode, bits, group });
}

/** Why tinygemm does not take a product. */
function noInt4pack(key: OpKey): string | undefined {
  const { mode, bits } = formatOf(key);
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

/** The operation `qmm`. */
export const qmmPeers: PeerOp = {
  peers: [
    {
      name: "torch-eager",
      idea: "PyTorch: mm on 16-bit weights, decoded before the clock starts",
      note: "weights are of 16 bits, decoded before the clock starts",
      ...CALLED,
    },
    {
      name: "torch-compiled",
      idea:
        "torch.compile, max-autotune, of decoding and mm, both on the clock",
      ...MADE,
    },
    {
      name: "torch-int4pack",
      idea: "_weight_int4pack_mm (tinygemm), repacked before the clock starts",
      note:
        "weights are repacked before the clock starts, and rounded to bf16 where they are decoded",
      ...CALLED,
    },
  ],
  unsupported({ name }, { problem: { key } }) {
    if (name === "torch-int4pack") return noInt4pack(key);
    const { bits } = formatOf(key);
    if (name === "torch-compiled" && 8 % bits !== 0) {
      return `Codes of ${bits} bits lie across bytes, and PyTorch has no type for them: torch-eager has them decoded`;
    }
    return undefined;
  },
  fields({ key }) {
    const { m, n, k, a_type, layout } = key;
    return {
      m,
      n,
      k,
      type: a_type,
      transposed: layout === "nt",
      ...formatOf(key),
    };
  },
};
