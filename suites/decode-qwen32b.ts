/**
 * Linear layers of Qwen3-32B and Qwen2.5-32B over four GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of Qwen/Qwen3-32B (hidden size 5120, 64 heads, FFN 25600) and
 * Qwen/Qwen2.5-32B (hidden size 5120, 40 heads, FFN 27648; QKV has a bias); both have 8 heads of K
 * and V, all of 128.
 *
 * @module
 */

import { feedForward, groupedAttention, modelLayers } from "./model_layers.ts";

export default modelLayers("decode-qwen32b", {
  title: "layers of Qwen3-32B and Qwen2.5-32B over 4 GPUs",
  layers: [
    { hidden: 5120, heads: 64, inner: 25600 },
    { hidden: 5120, heads: 40, inner: 27648, isQwen2: true },
  ].flatMap(({ isQwen2 = false, ...model }) => [
    ...groupedAttention(
      { ...model, kvHeads: 8, headDim: 128, bias: isQwen2 },
      4,
    ),
    ...feedForward(model, 4),
  ]),
});
