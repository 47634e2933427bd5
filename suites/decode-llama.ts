/**
 * Linear layers of Llama 3.1 70B and 405B over eight GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of meta-llama/Llama-3.1-70B (hidden size 8192, 64 heads, FFN
 * 28672) and meta-llama/Llama-3.1-405B (hidden size 16384, 128 heads, FFN 53248); both have 8 heads
 * of K and V, all of 128.
 *
 * @module
 */

import { modelLayers } from "./model_layers.ts";

export default modelLayers("decode-llama", {
  title: "layers of Llama 70B and 405B over 8 GPUs",
  layers: [
    // 70B: QKV; output; gate and up; down.
    { n: (64 + 2 * 8) * 128 / 8, k: 8192 },
    { n: 8192, k: 64 * 128 / 8 },
    { n: 2 * 28672 / 8, k: 8192 },
    { n: 8192, k: 28672 / 8 },
    // 405B: the same.
    { n: (128 + 2 * 8) * 128 / 8, k: 16384 },
    { n: 16384, k: 128 * 128 / 8 },
    { n: 2 * 53248 / 8, k: 16384 },
    { n: 16384, k: 53248 / 8 },
  ],
});
