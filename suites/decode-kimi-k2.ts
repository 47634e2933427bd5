/**
 * Linear layers of Kimi K2 over four GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of moonshotai/Kimi-K2-Instruct: hidden size 7168, 64 heads of
 * 128 + 64, values of 128, LoRA ranks 1536 and 512, 384 experts and a shared one of 2048.
 *
 * @module
 */

import { modelLayers } from "./model_layers.ts";

export default modelLayers("decode-kimi-k2", {
  title: "layers of Kimi K2 over 4 GPUs",
  layers: [
    // Q and KV down, which every GPU has; Q up; output.
    { n: 1536 + 512 + 64, k: 7168 },
    { n: 64 * (128 + 64) / 4, k: 1536 },
    { n: 7168, k: 64 * 128 / 4 },
    // Router; gate and up, and down, of the shared expert.
    { n: 384, k: 7168 },
    { n: 2 * 2048 / 4, k: 7168 },
    { n: 7168, k: 2048 / 4 },
  ],
});
