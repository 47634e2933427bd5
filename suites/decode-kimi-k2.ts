/**
 * Linear layers of Kimi K2 over four GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of moonshotai/Kimi-K2-Instruct: hidden size 7168, 64 heads of
 * 128 + 64, values of 128, LoRA ranks 1536 and 512, 384 experts and a shared one of 2048.
 *
 * @module
 */

import {
  feedForward,
  latentAttention,
  modelLayers,
  router,
} from "./model_layers.ts";

export default modelLayers("decode-kimi-k2", {
  title: "layers of Kimi K2 over 4 GPUs",
  layers: [
    ...latentAttention({
      ...{ hidden: 7168, heads: 64, nope: 128, rope: 64, value: 128 },
      ...{ qRank: 1536, kvRank: 512 },
    }, 4),
    router(7168, 384),
    ...feedForward({ hidden: 7168, inner: 2048 }, 4),
  ],
});
