/**
 * The suites of a model family's linear layers.
 *
 * @module
 */

import { defineSuite, type Suite } from "../bench/model/suite.ts";
import { decodeKernels, libraries, matmul } from "../kernels/matmul/mod.ts";

/** The weights [N, K] of a linear layer, as one GPU has them. */
export interface Layer {
  readonly n: number;
  readonly k: number;
  /** @default {false} */
  readonly bias?: boolean;
}

/**
 * Defines the suite `name` of `layers` for 1 to 256 tokens, in bf16 and in fp16; its `quick` has
 * the first layer. `title` names the models.
 */
export function modelLayers(
  name: string,
  { title, layers }: {
    readonly title: string;
    readonly layers: readonly Layer[];
  },
): Suite {
  const weights = layers.map(({ n, k, bias }) => ({
    n,
    k,
    epilogue: bias ? "bias" : "none",
  }));
  return defineSuite({
    name,
    title: `Decode [M, K] · [N, K]ᵀ + bias in bf16 and fp16, ${title}`,
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
