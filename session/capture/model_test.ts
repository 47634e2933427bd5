import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type CapturedGemm,
  capturedSchema,
} from "../../bench/model/captured.ts";
import { UserError } from "../../bench/model/errors.ts";
import { builtInSuites } from "../../suites/mod.ts";
import { safeParse } from "valibot";
import { capturedModel } from "./model.ts";
import { pointOfGemm } from "./points.ts";

/** Fields of public `config.json` files. */
const LLAMA_70B = {
  model_type: "llama",
  hidden_size: 8192,
  num_hidden_layers: 80,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  vocab_size: 128256,
  intermediate_size: 28672,
  attention_bias: false,
  mlp_bias: false,
  torch_dtype: "bfloat16",
};
const QWEN2_32B = {
  model_type: "qwen2",
  hidden_size: 5120,
  num_hidden_layers: 64,
  num_attention_heads: 40,
  num_key_value_heads: 8,
  vocab_size: 152064,
  intermediate_size: 27648,
  torch_dtype: "bfloat16",
};
const QWEN3_32B = {
  model_type: "qwen3",
  hidden_size: 5120,
  num_hidden_layers: 64,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 25600,
  vocab_size: 151936,
  attention_bias: false,
};
const QWEN3_MOE = {
  ...QWEN3_32B,
  model_type: "qwen3_moe",
  hidden_size: 4096,
  num_hidden_layers: 94,
  num_key_value_heads: 4,
  intermediate_size: 12288,
  num_experts: 128,
  num_experts_per_tok: 8,
  moe_intermediate_size: 1536,
  decoder_sparse_step: 1,
  mlp_only_layers: [],
};
const MISTRAL_7B = {
  model_type: "mistral",
  hidden_size: 4096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  vocab_size: 32768,
  intermediate_size: 14336,
  head_dim: null,
};
const MIXTRAL_8X7B = {
  ...MISTRAL_7B,
  model_type: "mixtral",
  vocab_size: 32000,
  num_local_experts: 8,
  num_experts_per_tok: 2,
};
const DEEPSEEK_V3 = {
  model_type: "deepseek_v3",
  hidden_size: 7168,
  num_hidden_layers: 61,
  num_attention_heads: 128,
  num_key_value_heads: 128,
  vocab_size: 129280,
  intermediate_size: 18432,
  moe_intermediate_size: 2048,
  q_lora_rank: 1536,
  kv_lora_rank: 512,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  v_head_dim: 128,
  n_routed_experts: 256,
  num_experts_per_tok: 8,
  n_shared_experts: 1,
  moe_layer_freq: 1,
  first_k_dense_replace: 3,
  torch_dtype: "bfloat16",
  quantization_config: {
    activation_scheme: "dynamic",
    fmt: "e4m3",
    quant_method: "fp8",
    weight_block_size: [128, 128],
  },
};
const { quantization_config: _, ...DEEPSEEK_BF16 } = DEEPSEEK_V3;
const KIMI_K2 = {
  ...DEEPSEEK_BF16,
  model_type: "kimi_k2",
  num_attention_heads: 64,
  n_routed_experts: 384,
  vocab_size: 163840,
  first_k_dense_replace: 1,
};
const GPT_OSS_120B = {
  model_type: "gpt_oss",
  hidden_size: 2880,
  num_hidden_layers: 36,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  head_dim: 64,
  intermediate_size: 2880,
  vocab_size: 201088,
  attention_bias: true,
  num_local_experts: 128,
  num_experts_per_tok: 4,
  quantization_config: {
    quant_method: "mxfp4",
    modules_to_not_convert: [
      "model.layers.*.self_attn",
      ...["model.layers.*.mlp.router", "model.embed_tokens", "lm_head"],
    ],
  },
};

function shapeOf({ name, n, k, epilogue, calls }: CapturedGemm): string {
  return `${name} ${n}x${k}${epilogue === "bias" ? " bias" : ""} ${calls}`;
}

const SHAPES: readonly (readonly [object, number, readonly string[]])[] = [
  [LLAMA_70B, 8, [
    ...["qkv 1280x8192 80", "o 8192x1024 80", "gate_up 7168x8192 80"],
    ...["down 8192x3584 80", "lm_head 16032x8192 1"],
  ]],
  // K and V of fewer heads than GPUs are on several.
  [LLAMA_70B, 16, [
    ...["qkv 768x8192 80", "o 8192x512 80", "gate_up 3584x8192 80"],
    ...["down 8192x1792 80", "lm_head 8016x8192 1"],
  ]],
  [QWEN2_32B, 4, [
    ...["qkv 1792x5120 bias 64", "o 5120x1280 64", "gate_up 13824x5120 64"],
    ...["down 5120x6912 64", "lm_head 38016x5120 1"],
  ]],
  [QWEN3_32B, 4, [
    ...["qkv 2560x5120 64", "o 5120x2048 64", "gate_up 12800x5120 64"],
    ...["down 5120x6400 64", "lm_head 37984x5120 1"],
  ]],
  [QWEN3_MOE, 4, [
    ...["qkv 2304x4096 94", "o 4096x2048 94", "router 128x4096 94"],
    ...["experts gate_up 768x4096 94", "experts down 4096x384 94"],
    "lm_head 37984x4096 1",
  ]],
  [MISTRAL_7B, 1, [
    ...["qkv 6144x4096 32", "o 4096x4096 32", "gate_up 28672x4096 32"],
    ...["down 4096x14336 32", "lm_head 32768x4096 1"],
  ]],
  [MIXTRAL_8X7B, 2, [
    ...["qkv 3072x4096 32", "o 4096x2048 32", "router 8x4096 32"],
    ...["experts gate_up 14336x4096 32", "experts down 4096x7168 32"],
    "lm_head 16000x4096 1",
  ]],
  [DEEPSEEK_V3, 8, [
    ...["q_a+kv_a 2112x7168 61", "q_b 3072x1536 61", "o 7168x2048 61"],
    ...["kv_b of Q 512x128 61", "kv_b of V 128x512 61"],
    ...["gate_up 4608x7168 3", "down 7168x2304 3"],
    ...["shared gate_up 512x7168 58", "shared down 7168x256 58"],
    ...["router 256x7168 58", "experts gate_up 512x7168 58"],
    ...["experts down 7168x256 58", "lm_head 16160x7168 1"],
  ]],
  [KIMI_K2, 4, [
    ...["q_a+kv_a 2112x7168 61", "q_b 3072x1536 61", "o 7168x2048 61"],
    ...["kv_b of Q 512x128 61", "kv_b of V 128x512 61"],
    ...["gate_up 9216x7168 1", "down 7168x4608 1"],
    ...["shared gate_up 1024x7168 60", "shared down 7168x512 60"],
    ...["router 384x7168 60", "experts gate_up 1024x7168 60"],
    ...["experts down 7168x512 60", "lm_head 40960x7168 1"],
  ]],
  [GPT_OSS_120B, 8, [
    ...["qkv 640x2880 bias 36", "o 2880x512 bias 36"],
    ...["router 128x2880 bias 36", "experts gate_up 720x2880 bias 36"],
    ...["experts down 2880x360 bias 36", "lm_head 25136x2880 1"],
  ]],
];

for (const [config, tp, shapes] of SHAPES) {
  const { model_type } = config as { model_type: string };
  Deno.test(`capturedModel() has the layers of ${model_type} over ${tp} GPUs`, () => {
    const captured = capturedModel(config, { tp, batch: 16 });
    assertEquals(captured.gemms.map(shapeOf), shapes);
    assertEquals(safeParse(capturedSchema, captured).issues, undefined);
    assert(captured.gemms.every(({ time_us }) => time_us === null));
  });
}

Deno.test("capturedModel() has the points of the decode suites of the same models", async () => {
  const suites = await builtInSuites([
    ...["decode-llama", "decode-qwen32b", "decode-kimi-k2"],
  ]);
  const known = new Set(
    suites.flatMap((suite) =>
      [...suite.cases("all", {}, { m: ["16"] })].map(({ problem: { key } }) =>
        JSON.stringify(key)
      )
    ),
  );
  const wanted: readonly (readonly [object, number])[] = [
    [LLAMA_70B, 8],
    [QWEN2_32B, 4],
    [QWEN3_32B, 4],
    [KIMI_K2, 4],
  ];
  for (const [config, tp] of wanted) {
    for (const gemm of capturedModel(config, { tp, batch: 16 }).gemms) {
      // The suites have neither the output's words nor Kimi's one layer without experts.
      if (gemm.op === "" || gemm.calls === 1) continue;
      const point = pointOfGemm(gemm);
      assert(typeof point !== "string");
      assert(known.has(JSON.stringify(point.key)), shapeOf(gemm));
    }
  }
});

Deno.test("capturedModel() has the ops of quantised layers", () => {
  const of = (config: object) =>
    Object.fromEntries(
      capturedModel(config, { tp: 8, batch: 32 }).gemms
        .map((gemm) => [gemm.name, gemm]),
    );
  const deepseek = of(DEEPSEEK_V3);
  assertEquals(
    [deepseek["o"]!.op, deepseek["o"]!.scale, deepseek["o"]!.c],
    ["scaled-matmul", "block128", "bf16"],
  );
  assertEquals([deepseek["router"]!.op, deepseek["router"]!.a], [
    ...["matmul", "bf16"],
  ]);
  assertEquals(deepseek["kv_b of Q"]!.why_no_op, "a batch of 16 products");
  const oss = of(GPT_OSS_120B);
  assertEquals([oss["qkv"]!.op, oss["qkv"]!.b], ["matmul", "bf16"]);
  assertEquals(oss["experts down"]!.b, "mxfp4");
});

Deno.test("capturedModel() expects tokens for experts as chance gives them", () => {
  const expertOf = (batch: number) =>
    capturedModel(MIXTRAL_8X7B, { tp: 1, batch }).gemms
      .find(({ name }) => name === "experts down")!;
  // One token has two experts; of many each of eight has a quarter of the tokens.
  assertEquals(
    expertOf(1).why_no_op,
    "experts, grouped: 2.0 of 8 with 1.00 tokens each expected",
  );
  assertEquals([expertOf(1).batch, expertOf(1).m], [2, 1]);
  assertEquals([expertOf(256).batch, expertOf(256).m], [8, 64]);
});

Deno.test("capturedModel() reads the text model of one that sees", () => {
  const config = { model_type: "mistral3", text_config: MISTRAL_7B };
  assertEquals(
    capturedModel(config, { tp: 1, batch: 1 }).gemms.map(shapeOf),
    capturedModel(MISTRAL_7B, { tp: 1, batch: 1 }).gemms.map(shapeOf),
  );
});

const REFUSED: readonly (readonly [unknown, number, RegExp])[] = [
  [
    { ...LLAMA_70B, model_type: "bert" },
    1,
    /of model_type bert: there are llama, /,
  ],
  [{ ...LLAMA_70B, model_type: "toString" }, 1, /model_type toString/],
  [
    { ...LLAMA_70B, hidden_size: 0 },
    1,
    /field hidden_size: .*; give the config/,
  ],
  [{ ...LLAMA_70B, vocab_size: 1e300 }, 1, /field vocab_size: /],
  [{ ...LLAMA_70B, num_hidden_layers: "80" }, 1, /field num_hidden_layers is /],
  [{ ...DEEPSEEK_V3, kv_lora_rank: undefined }, 1, /kv_lora_rank is missing/],
  [LLAMA_70B, 3, /split 64 attention heads into 3 parts: give a --tp that/],
  [{ ...LLAMA_70B, num_key_value_heads: 6 }, 4, /6 heads of K and V into 4/],
  [[], 1, /model_type is missing/],
  [null, 1, /it is null: it must be an object/],
];

for (const [config, tp, why] of REFUSED) {
  Deno.test(`capturedModel() refuses with one line: ${why.source}`, () => {
    const { message } = assertThrows(
      () => capturedModel(config, { tp, batch: 1 }),
      UserError,
    );
    assert(why.test(message), message);
    assert(!message.includes("\n"));
  });
}
