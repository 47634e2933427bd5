/**
 * The linear layers of language models as each of several GPUs has them.
 *
 * Weights are split as vLLM and Megatron-LM split them: projections to heads and of FFNs by
 * columns, those back to the hidden size by rows; Q, K and V are one projection, and so are gate
 * and up.
 *
 * @module
 */

import { UserError } from "../bench/model/errors.ts";

/** The weights [N, K] of a linear layer, as one GPU has them. */
export interface Layer {
  readonly name: string;
  readonly n: number;
  readonly k: number;
  readonly bias?: boolean;
}

/** Attention with K and V for groups of heads (GQA), of any group size. */
export interface GroupedAttention {
  readonly hidden: number;
  readonly heads: number;
  /** Heads of K and of V. */
  readonly kvHeads: number;
  readonly headDim: number;
  /** Whether QKV has a bias. @default {false} */
  readonly bias?: boolean;
  /** Whether the output has one. @default {false} */
  readonly outputBias?: boolean;
}

/** Attention by way of a latent vector (MLA), as of DeepSeek-V3. */
export interface LatentAttention {
  readonly hidden: number;
  readonly heads: number;
  /** Dimensions of a head of Q and K: without and with positions. */
  readonly nope: number;
  readonly rope: number;
  /** Dimensions of a head of V. */
  readonly value: number;
  /** Rank of Q; null where Q has no latent vector. */
  readonly qRank: number | null;
  readonly kvRank: number;
}

/** Returns QKV and the output projection over `tp` GPUs; K and V that are fewer are on several. */
export function groupedAttention(
  { hidden, heads, kvHeads, headDim, bias, outputBias }: GroupedAttention,
  tp: number,
): readonly Layer[] {
  const own = part("attention heads", heads, tp);
  // Where GPUs are a multiple of them, each is on several.
  const copied = tp % kvHeads === 0 ? Math.max(kvHeads, tp) : kvHeads;
  const kv = part("heads of K and V", copied, tp);
  return [
    layer("qkv", { n: (own + 2 * kv) * headDim, k: hidden }, bias),
    layer("o", { n: hidden, k: own * headDim }, outputBias),
  ];
}

/**
 * Returns the projections of Q and KV down, which every GPU has, of Q up, and of the output. Where
 * Q has no latent vector, its projection is one.
 */
export function latentAttention(
  { hidden, heads, nope, rope, value, qRank, kvRank }: LatentAttention,
  tp: number,
): readonly Layer[] {
  const own = part("attention heads", heads, tp);
  const q = own * (nope + rope);
  return [
    ...(qRank === null
      ? [
        layer("q", { n: q, k: hidden }),
        layer("kv_a", { n: kvRank + rope, k: hidden }),
      ]
      : [
        layer("q_a+kv_a", { n: qRank + kvRank + rope, k: hidden }),
        layer("q_b", { n: q, k: qRank }),
      ]),
    layer("o", { n: hidden, k: own * value }),
  ];
}

/** Returns gate and up, and down, over `tp` GPUs. `prefix` is that of their names. */
export function feedForward(
  { hidden, inner, bias }: {
    readonly hidden: number;
    readonly inner: number;
    /** @default {false} */
    readonly bias?: boolean;
  },
  tp: number,
  prefix = "",
): readonly Layer[] {
  const own = part("FFN columns", inner, tp);
  return [
    layer(`${prefix}gate_up`, { n: 2 * own, k: hidden }, bias),
    layer(`${prefix}down`, { n: hidden, k: own }, bias),
  ];
}

/** Returns the layer that chooses experts, which every GPU has. */
export function router(hidden: number, experts: number, bias = false): Layer {
  return layer("router", { n: experts, k: hidden }, bias);
}

function layer(
  name: string,
  { n, k }: { readonly n: number; readonly k: number },
  bias = false,
): Layer {
  return { name, n, k, ...(bias ? { bias } : {}) };
}

/** Returns the share of each of `tp` GPUs. @throws {UserError} Where it is not whole. */
function part(what: string, all: number, tp: number): number {
  if (all % tp === 0) return all / tp;
  throw new UserError(
    `Cannot split ${all} ${what} into ${tp} parts: give a --tp that divides them`,
  );
}
