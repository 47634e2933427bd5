/**
 * Linear layers of GLM-5 and GLM-4.5 over four GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of zai-org/GLM-5 (hidden size 6144, 64 heads of 192 + 64, values
 * of 256, LoRA ranks 2048 and 512, FFN 12288, 256 experts) and of zai-org/GLM-4.5 (hidden size
 * 5120, 96 heads and 8 of K and V, each of 128; the attention has a bias).
 *
 * @module
 */

import {
  feedForward,
  groupedAttention,
  latentAttention,
  modelLayers,
  router,
} from "./model_layers.ts";

export default modelLayers("decode-glm", {
  title: "layers of GLM-5 and GLM-4.5 over 4 GPUs",
  layers: [
    // GLM-5.
    ...latentAttention({
      ...{ hidden: 6144, heads: 64, nope: 192, rope: 64, value: 256 },
      ...{ qRank: 2048, kvRank: 512 },
    }, 4),
    router(6144, 256),
    ...feedForward({ hidden: 6144, inner: 12288 }, 4),
    // GLM-4.5.
    ...groupedAttention({
      ...{ hidden: 5120, heads: 96, kvHeads: 8, headDim: 128, bias: true },
    }, 4),
  ],
});
