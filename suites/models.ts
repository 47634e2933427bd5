/**
 * Linear layers of language models for 1 to 256 tokens, in bf16 and in fp16, as each of several
 * GPUs has them.
 *
 * Sizes are those of `config.json` of:
 *
 * - zai-org/GLM-5: hidden size 6144, 64 heads of 192 + 64, values of 256, LoRA ranks 2048 and 512,
 *   FFN 12288, 256 experts; and zai-org/GLM-4.5: hidden size 5120, 96 heads, the attention has a bias;
 * - moonshotai/Kimi-K2-Instruct: hidden size 7168, 64 heads of 128 + 64, values of 128, LoRA ranks
 *   1536 and 512, 384 experts and a shared one of 2048;
 * - meta-llama/Llama-3.1-70B: hidden size 8192, 64 heads, FFN 28672; and
 *   meta-llama/Llama-3.1-405B: hidden size 16384, 128 heads, FFN 53248;
 * - Qwen/Qwen3-32B: hidden size 5120, 64 heads, FFN 25600; and Qwen/Qwen2.5-32B: hidden size 5120,
 *   40 heads, FFN 27648, QKV has a bias.
 *
 * GLM-4.5, Llama and Qwen have 8 heads of K and V, all of 128.
 *
 * @module
 */

import { defineSuite, type Suite } from "../bench/model/suite.ts";
import { decodeKernels, libraries, matmul } from "../kernels/matmul/mod.ts";
import {
  feedForward,
  groupedAttention,
  latentAttention,
  type Layer,
  router,
} from "./model_layers.ts";

const GROUPED = { kvHeads: 8, headDim: 128 };

/** Defines the suite `name` of `layers`; its `quick` has the first layer. `models` names them. */
function suiteOf(
  name: string,
  models: string,
  layers: readonly Layer[],
): Suite {
  const weights = layers.map(({ n, k, bias }) => ({
    n,
    k,
    epilogue: bias ? "bias" : "none",
  }));
  return defineSuite({
    name,
    title:
      `Decode [M, K] · [N, K]ᵀ + bias in bf16 and fp16, layers of ${models} GPUs`,
    op: matmul,
    axes: {
      type: ["bf16", "f16"],
      weights,
      m: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    },
    fixed: { layout: "nt" },
    quick: { weights: weights.slice(0, 1), m: [1, 16, 128] },
    kernels: decodeKernels,
    baselines: libraries,
  });
}

const suites: readonly Suite[] = [
  suiteOf("decode-glm", "GLM-5 and GLM-4.5 over 4", [
    // GLM-5.
    ...latentAttention({
      hidden: 6144,
      heads: 64,
      nope: 192,
      rope: 64,
      value: 256,
      qRank: 2048,
      kvRank: 512,
    }, 4),
    router(6144, 256),
    ...feedForward({ hidden: 6144, inner: 12288 }, 4),
    // GLM-4.5.
    ...groupedAttention(
      { ...GROUPED, hidden: 5120, heads: 96, bias: true },
      4,
    ),
  ]),
  suiteOf("decode-kimi-k2", "Kimi K2 over 4", [
    ...latentAttention({
      hidden: 7168,
      heads: 64,
      nope: 128,
      rope: 64,
      value: 128,
      qRank: 1536,
      kvRank: 512,
    }, 4),
    router(7168, 384),
    ...feedForward({ hidden: 7168, inner: 2048 }, 4),
  ]),
  suiteOf(
    "decode-llama",
    "Llama 70B and 405B over 8",
    [
      { hidden: 8192, heads: 64, inner: 28672 },
      { hidden: 16384, heads: 128, inner: 53248 },
    ].flatMap((model) => [
      ...groupedAttention({ ...GROUPED, ...model }, 8),
      ...feedForward(model, 8),
    ]),
  ),
  suiteOf(
    "decode-qwen32b",
    "Qwen3-32B and Qwen2.5-32B over 4",
    [
      { hidden: 5120, heads: 64, inner: 25600 },
      { hidden: 5120, heads: 40, inner: 27648, isQwen2: true },
    ].flatMap(({ isQwen2 = false, ...model }) => [
      ...groupedAttention({ ...GROUPED, ...model, bias: isQwen2 }, 4),
      ...feedForward(model, 4),
    ]),
  ),
];

export default suites;
