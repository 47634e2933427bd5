/**
 * Linear layers of GLM-5 and GLM-4.5 over four GPUs, for 1 to 256 tokens.
 *
 * Sizes are those of `config.json` of zai-org/GLM-5 (hidden size 6144, 64 heads of 192 + 64, values
 * of 256, LoRA ranks 2048 and 512, FFN 12288, 256 experts) and of zai-org/GLM-4.5 (hidden size
 * 5120, 96 heads and 8 of K and V, each of 128; the attention has a bias).
 *
 * @module
 */

import { modelLayers } from "./model_layers.ts";

export default modelLayers("decode-glm", {
  title: "layers of GLM-5 and GLM-4.5 over 4 GPUs",
  layers: [
    // GLM-5: Q and KV down, which every GPU has; Q up; output.
    { n: 2048 + 512 + 64, k: 6144 },
    { n: 64 * (192 + 64) / 4, k: 2048 },
    { n: 6144, k: 64 * 256 / 4 },
    // GLM-5: router; gate and up; down.
    { n: 256, k: 6144 },
    { n: 2 * 12288 / 4, k: 6144 },
    { n: 6144, k: 12288 / 4 },
    // GLM-4.5: QKV; output.
    { n: (96 + 2 * 8) * 128 / 4, k: 5120, bias: true },
    { n: 5120, k: 96 * 128 / 4 },
  ],
});
