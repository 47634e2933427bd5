/**
 * The kernel of {@linkcode qmm} for a handful of tokens: dot products by multiply-adds.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { noClusters } from "../../common/arch.ts";
import {
  blocksOf,
  dotsBytes,
  type DotsConfig,
  dotsConfigs,
  dotsRules,
  predictDots,
} from "./dots.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import { weightMemory } from "../weight_args.ts";

/** Tokens from which on weights, read again for every eight, take longer than all else. */
const MOST_TOKENS = 64;

const entryOf = ({ transposed }: QmmPoint) => transposed ? "qmv" : "qvm";

function build(point: QmmPoint, { UNROLL, ...config }: DotsConfig): Build {
  const { type, mode, bits, group, transposed } = point;
  return {
    source: new URL(`./${entryOf(point)}.cu`, import.meta.url),
    defines: {
      ...{ TYPE: type, MODE: mode.toUpperCase(), BITS: bits, GROUP: group },
      ...config,
      ...(transposed ? {} : { UNROLL }),
    },
  };
}

/** The kernel, of either orientation. */
export const qmv: Kernel<QmmPoint> = defineKernel<QmmPoint, DotsConfig>(qmm, {
  name: "qmv",
  backend: "cuda",
  idea: "dot products, all codes in flight, a scale for the sum of its group",
  unsupported: ({ m }, info) =>
    noClusters(info) ??
      (m <= MOST_TOKENS
        ? undefined
        : `M=${m}: it reads the weights again for every 8 tokens, 64 at most`),
  configs: dotsConfigs,
  rules: dotsRules,
  predict: predictDots,
  builds: (point, config) => [build(point, config)],
  prepare({ point, config, operands, program }) {
    const { m, n, k, bits, transposed } = point;
    if (transposed && operands.x!.address % 16n !== 0n) {
      throw new CaseError(
        "unsupported",
        "x starts at no multiple of 16 bytes, which its loads need",
      );
    }
    const wide = k * bits / 8 % 16 === 0 && operands.w!.address % 16n === 0n;
    const step = program(build(point, config), entryOf(point)).step([
      mem(operands.x!),
      ...weightMemory(operands),
      mem(operands.y!),
      ...[m, n, k, ...(transposed ? [wide ? 1 : 0] : [])].map(i32),
    ], {
      grid: [config.CLUSTER, ...blocksOf(point, config)],
      block: [config.THREADS, 1, 1],
      cluster: config.CLUSTER,
      sharedBytes: dotsBytes(config),
    });
    return { steps: [step] };
  },
});
