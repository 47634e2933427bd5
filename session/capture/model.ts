/**
 * Lists the GEMMs of a decode step of a language model from its `config.json`, without running it.
 *
 * Fields are those of Hugging Face's transformers (`src/transformers/models`), of the families that
 * {@linkcode FAMILIES} names.
 *
 * @module
 */

import {
  array,
  boolean,
  check,
  type InferOutput,
  nullish,
  number,
  object,
  optional,
  pipe,
  safeParse,
  string,
} from "valibot";
import { formatIssue } from "../../bench/files/json_file.ts";
import type { Captured, CapturedGemm } from "../../bench/model/captured.ts";
import { UserError } from "../../bench/model/errors.ts";
import {
  feedForward,
  groupedAttention,
  latentAttention,
  type Layer,
  router,
} from "../../suites/model_layers.ts";
import { pointOfGemm } from "./points.ts";

/** Returns the schema of a size or count from `least` to 2^24, which is far above that of any model. */
function whole(least: 0 | 1) {
  const most = 2 ** 24;
  return pipe(
    number(),
    check(
      (value) => Number.isInteger(value) && value >= least && value <= most,
      `it must be a whole number from ${least} to ${most}`,
    ),
  );
}

const size = whole(1);
const count = whole(0);

/** The fields of all families. */
const COMMON = {
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  vocab_size: size,
  intermediate_size: size,
  dtype: nullish(string()),
  torch_dtype: nullish(string()),
  quantization_config: nullish(object({
    quant_method: string(),
    weight_block_size: nullish(array(size)),
    modules_to_not_convert: nullish(array(string())),
  })),
};
const commonSchema = object(COMMON);
const GROUPED = {
  num_key_value_heads: nullish(size),
  head_dim: nullish(size),
  attention_bias: optional(boolean()),
};
const dense = object({ ...COMMON, ...GROUPED, mlp_bias: optional(boolean()) });
const mixtral = object({
  ...COMMON,
  ...GROUPED,
  num_local_experts: size,
  num_experts_per_tok: size,
});
const qwen3Moe = object({
  ...COMMON,
  ...GROUPED,
  num_experts: size,
  num_experts_per_tok: size,
  moe_intermediate_size: size,
  decoder_sparse_step: optional(size),
  mlp_only_layers: nullish(array(count)),
});
const deepseek = object({
  ...COMMON,
  q_lora_rank: nullish(size),
  kv_lora_rank: size,
  qk_nope_head_dim: size,
  qk_rope_head_dim: size,
  v_head_dim: size,
  n_routed_experts: size,
  num_experts_per_tok: size,
  n_shared_experts: nullish(count),
  moe_intermediate_size: size,
  first_k_dense_replace: count,
  moe_layer_freq: optional(size),
});

/** A layer and how often a step calls it. */
interface Calls extends Layer {
  readonly calls: number;
  /** Whether its weights keep the model's type when those of other layers are quantised. */
  readonly isPlain?: boolean;
  /** GEMMs of one call. @default {1} */
  readonly batch?: number;
  /** Rows of each GEMM. @default {one for each sequence} */
  readonly tokens?: number;
  /** Why no operation of mnkbench computes it. */
  readonly why?: string;
}

/** How a model is run. */
interface Running {
  /** The number of GPUs that share each layer (tensor parallelism). */
  readonly tp: number;
  /** The number of sequences. A step decodes one token of each. */
  readonly batch: number;
}

/** The layers of a step of each family, by `model_type`. */
const FAMILIES: Readonly<
  Record<string, (config: unknown, running: Running) => readonly Calls[]>
> = {
  llama: (config, { tp }) => denseLayers(read(dense, config), tp),
  mistral: (config, { tp }) =>
    denseLayers({ ...read(dense, config), attention_bias: false }, tp),
  // In transformers Q, K and V always have a bias; the file does not say so.
  qwen2: (config, { tp }) =>
    denseLayers(read(dense, config), tp, { bias: true, outputBias: false }),
  qwen3: (config, { tp }) => denseLayers(read(dense, config), tp),
  mixtral(config, running) {
    const model = read(mixtral, config);
    const { num_hidden_layers: layers, num_local_experts: experts } = model;
    return [
      ...each(layers, grouped(model, running.tp)),
      ...expertLayers({
        ...running,
        model,
        layers,
        experts,
        inner: model.intermediate_size,
      }),
    ];
  },
  qwen3_moe(config, running) {
    const model = read(qwen3Moe, config);
    const { decoder_sparse_step: every = 1, mlp_only_layers } = model;
    const sparse = Array.from({ length: model.num_hidden_layers }, (_, i) => i)
      .filter((i) => !mlp_only_layers?.includes(i) && (i + 1) % every === 0);
    return [
      ...each(model.num_hidden_layers, grouped(model, running.tp)),
      ...each(model.num_hidden_layers - sparse.length, ffn(model, running.tp)),
      ...expertLayers({
        ...running,
        model,
        layers: sparse.length,
        experts: model.num_experts,
        inner: model.moe_intermediate_size,
      }),
    ];
  },
  gpt_oss(config, running) {
    const model = read(mixtral, config);
    const { num_hidden_layers: layers, num_local_experts: experts } = model;
    const bias = { bias: true, outputBias: true };
    return [
      ...each(layers, grouped(model, running.tp, bias)),
      ...expertLayers({
        ...running,
        model,
        layers,
        experts,
        bias: true,
        inner: model.intermediate_size,
      }),
    ];
  },
  deepseek_v3: deepseekLayers,
  // moonshotai/Kimi-K2-Instruct has the same fields.
  kimi_k2: deepseekLayers,
};

/**
 * Returns the GEMMs of a step that decodes a token of each of `batch` sequences, on one of `tp` GPUs.
 * Times are unknown. Experts are listed as grouped GEMMs, with the number of experts and tokens that is
 * expected if each token chooses its experts at random.
 *
 * @param config The content of `config.json`.
 * @throws {UserError} For a family or field that is not known, and sizes that `tp` does not divide.
 */
export function capturedModel(config: unknown, running: Running): Captured {
  const { tp, batch } = running;
  const model = textModel(config);
  const { model_type } = model;
  const layersOf = Object.hasOwn(FAMILIES, model_type)
    ? FAMILIES[model_type]!
    : undefined;
  if (layersOf === undefined) {
    throw new UserError(
      `Cannot list the layers of model_type ${model_type}: there are ${
        Object.keys(FAMILIES).join(", ")
      }`,
    );
  }
  const common = read(commonSchema, model);
  // vLLM pads the vocabulary to multiples of 64.
  const words = Math.ceil(Math.ceil(common.vocab_size / 64) * 64 / tp);
  const layers: readonly Calls[] = [
    ...layersOf(model, running),
    {
      name: "lm_head",
      n: words,
      k: common.hidden_size,
      calls: 1,
      isPlain: true,
    },
  ];
  return {
    schema: 1,
    program: [`${model_type} decode`, `tp=${tp}`, `batch=${batch}`],
    window_s: 0,
    wall_s: 0,
    steps: 1,
    clock: "none",
    gemms: layers.filter(({ calls }) => calls > 0)
      .map((layer) => gemmOf(layer, common, batch)),
    other: [],
    notes: [
      tp === 1
        ? `GEMMs alone, of a GPU that decodes a token of each of ${batch} sequences: no attention`
        : `GEMMs alone, of one of ${tp} GPUs that decodes a token of each of ${batch} sequences: no attention, no communication`,
    ],
  };
}

type Common = InferOutput<typeof commonSchema>;

/**
 * Returns the object with the fields of the language model: `text_config` if there is one, as in
 * multimodal models.
 */
function textModel(config: unknown): { readonly model_type: string } {
  const of = safeParse(
    object({
      model_type: string(),
      text_config: optional(object({ model_type: string() })),
    }),
    config,
  );
  if (of.issues) throw wrong(formatIssue(of.issues[0]));
  const { model_type, text_config } = config as typeof of.output;
  return text_config !== undefined && !Object.hasOwn(FAMILIES, model_type)
    ? text_config
    : config as typeof of.output;
}

function read<S extends Parameters<typeof safeParse>[0]>(
  schema: S,
  config: unknown,
): InferOutput<S> {
  const { issues, output } = safeParse(schema, config);
  if (issues) throw wrong(formatIssue(issues[0]));
  return output as InferOutput<S>;
}

function wrong(why: string): UserError {
  return new UserError(
    `Cannot list the layers of this model: ${why}; give the config.json of its repository`,
  );
}

function each(calls: number, layers: readonly Layer[]): readonly Calls[] {
  return layers.map((layer) => ({ ...layer, calls }));
}

type Grouped = InferOutput<typeof dense>;

function grouped(
  model: Grouped,
  tp: number,
  biases?: { readonly bias: boolean; readonly outputBias: boolean },
): readonly Layer[] {
  const { hidden_size: hidden, num_attention_heads: heads } = model;
  const { attention_bias: bias = false } = model;
  return groupedAttention({
    hidden,
    heads,
    kvHeads: model.num_key_value_heads ?? heads,
    headDim: model.head_dim ?? Math.floor(hidden / heads),
    ...(biases ?? { bias, outputBias: bias }),
  }, tp);
}

function ffn(
  { hidden_size: hidden, intermediate_size: inner, mlp_bias: bias = false }:
    & Pick<Grouped, "hidden_size" | "intermediate_size">
    & { readonly mlp_bias?: boolean | undefined },
  tp: number,
): readonly Layer[] {
  return feedForward({ hidden, inner, bias }, tp);
}

function denseLayers(
  model: Grouped,
  tp: number,
  biases?: Parameters<typeof grouped>[2],
): readonly Calls[] {
  return each(model.num_hidden_layers, [
    ...grouped(model, tp, biases),
    ...ffn(model, tp),
  ]);
}

/** Returns the router, and the GEMMs of the experts that `batch` tokens are expected to choose. */
function expertLayers(
  { model, layers, experts, inner, tp, batch, bias = false }: Running & {
    readonly model: {
      readonly hidden_size: number;
      readonly num_experts_per_tok: number;
    };
    readonly layers: number;
    readonly experts: number;
    readonly inner: number;
    readonly bias?: boolean;
  },
): readonly Calls[] {
  const { hidden_size: hidden, num_experts_per_tok: chosen } = model;
  // A token does not choose a given expert with the probability 1 - chosen / experts.
  const active = experts * (1 - (1 - chosen / experts) ** batch);
  const tokens = batch * chosen / active;
  const why = `experts, grouped: ${active.toFixed(1)} of ${experts} with ${
    tokens.toFixed(2)
  } tokens each expected`;
  return [
    { ...router(hidden, experts, bias), calls: layers, isPlain: true },
    ...feedForward({ hidden, inner, bias }, tp, "experts ").map((own) => ({
      ...own,
      calls: layers,
      why,
      batch: Math.max(1, Math.round(active)),
      tokens: Math.max(1, Math.round(tokens)),
    })),
  ];
}

function deepseekLayers(config: unknown, running: Running): readonly Calls[] {
  const model = read(deepseek, config);
  const { tp } = running;
  const { hidden_size: hidden, num_attention_heads: heads } = model;
  const { qk_nope_head_dim: nope, qk_rope_head_dim: rope } = model;
  const { kv_lora_rank: kvRank, v_head_dim: value } = model;
  const { num_hidden_layers: layers, moe_layer_freq: every = 1 } = model;
  const attention = latentAttention({
    hidden,
    heads,
    nope,
    rope,
    value,
    kvRank,
    qRank: model.q_lora_rank ?? null,
  }, tp);
  const sparse = Array.from({ length: layers }, (_, i) => i)
    .filter((i) => i >= model.first_k_dense_replace && i % every === 0).length;
  const shared = model.n_shared_experts ?? 0;
  // In decoding, kv_b is multiplied head by head: its part for K with Q, that for V with the
  // attention's result.
  const absorbed = { calls: layers, isPlain: true, batch: heads / tp };
  return [
    ...each(layers, attention),
    { name: "kv_b of Q", n: kvRank, k: nope, ...absorbed },
    { name: "kv_b of V", n: value, k: kvRank, ...absorbed },
    ...each(layers - sparse, ffn(model, tp)),
    ...(shared === 0 ? [] : each(
      sparse,
      feedForward(
        { hidden, inner: shared * model.moe_intermediate_size },
        tp,
        "shared ",
      ),
    )),
    ...expertLayers({
      ...running,
      model,
      layers: sparse,

      experts: model.n_routed_experts,
      inner: model.moe_intermediate_size,
    }),
  ];
}

/** The types by PyTorch's names. */
const TYPES: Readonly<Record<string, string>> = {
  bfloat16: "bf16",
  float16: "f16",
  float32: "f32",
};

function gemmOf(
  { name, n, k, bias, calls, batch = 1, tokens, why, isPlain }: Calls,
  { dtype, torch_dtype, quantization_config: quantised }: Common,
  sequences: number,
): CapturedGemm {
  const named = dtype ?? torch_dtype ?? "bfloat16";
  const type = TYPES[named] ?? named;
  const method = isPlain || isKept(name, quantised)
    ? undefined
    : quantised ?? undefined;
  const isFp8 = method?.quant_method === "fp8";
  const gemm = {
    source: "model",
    name,
    m: tokens ?? sequences,
    n,
    k,
    batch,
    a: isFp8 ? "e4m3" : type,
    b: isFp8 ? "e4m3" : type,
    c: type,
    ...(method === undefined || isFp8 ? {} : { b: method.quant_method }),
    ...(isFp8 ? { scale: scaleOf(method.weight_block_size) } : {}),
    compute: "f32",
    layout: "nt" as const,
    lda: k,
    ldb: k,
    ldc: n,
    epilogue: bias ? "bias" : "none",
    beta_nonzero: false,
    phase: "decode",
    calls,
    time_us: null,
  };
  const point = pointOfGemm(gemm);
  return {
    ...gemm,
    op: why === undefined && typeof point !== "string" ? point.op : "",
    why_no_op: why ?? (typeof point === "string" ? point : ""),
  };
}

function scaleOf(block: readonly number[] | null | undefined): string {
  if (!block) return "tensor";
  return block.every((side) => side === 128)
    ? "block128"
    : `block ${block.join("×")}`;
}

/**
 * Returns whether layer `name` keeps its type because the file says that only experts are
 * quantised.
 */
function isKept(
  name: string,
  quantised: Common["quantization_config"],
): boolean {
  const kept = quantised?.modules_to_not_convert ?? [];
  return !name.includes("experts") &&
    kept.some((module) => module.includes("self_attn"));
}
