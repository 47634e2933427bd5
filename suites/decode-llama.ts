/**
 * Linear layers of Llama 3.1 70B and 405B over eight GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of meta-llama/Llama-3.1-70B (hidden size 8192, 64 heads, FFN
 * 28672) and meta-llama/Llama-3.1-405B (hidden size 16384, 128 heads, FFN 53248); both have 8 heads
 * of K and V, all of 128.
 *
 * @module
 */

import { feedForward, groupedAttention, modelLayers } from "./model_layers.ts";

export default modelLayers("decode-llama", {
  title: "layers of Llama 70B and 405B over 8 GPUs",
  layers: [
    { hidden: 8192, heads: 64, inner: 28672 },
    { hidden: 16384, heads: 128, inner: 53248 },
  ].flatMap((model) => [
    ...groupedAttention({ ...model, kvHeads: 8, headDim: 128 }, 8),
    ...feedForward(model, 8),
  ]),
});
