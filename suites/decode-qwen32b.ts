/**
 * Linear layers of Qwen3-32B and Qwen2.5-32B over four GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of Qwen/Qwen3-32B (hidden size 5120, 64 heads, FFN 25600) and
 * Qwen/Qwen2.5-32B (hidden size 5120, 40 heads, FFN 27648; QKV has a bias); both have 8 heads of K
 * and V, all of 128.
 *
 * @module
 */

import { modelLayers } from "./model_layers.ts";

export default modelLayers("decode-qwen32b", {
  title: "layers of Qwen3-32B and Qwen2.5-32B over 4 GPUs",
  layers: [
    // Qwen3: QKV; output; gate and up; down.
    { n: (64 + 2 * 8) * 128 / 4, k: 5120 },
    { n: 5120, k: 64 * 128 / 4 },
    { n: 2 * 25600 / 4, k: 5120 },
    { n: 5120, k: 25600 / 4 },
    // Qwen2.5: the same.
    { n: (40 + 2 * 8) * 128 / 4, k: 5120, bias: true },
    { n: 5120, k: 40 * 128 / 4 },
    { n: 2 * 27648 / 4, k: 5120 },
    { n: 5120, k: 27648 / 4 },
  ],
});
