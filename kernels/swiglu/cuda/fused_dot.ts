/**
 * The kernel for a handful of rows of X: dot products by fused multiply-adds.
 *
 * @module
 */

import type { Rule } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import {
  areChunks,
  type DotConfig,
  dotConfigs,
  dotDefines,
  type DotPoint,
  dotRules,
  dotShape,
  predictDot,
  tooManyRows,
} from "../../common/dot_products.ts";
import { launched } from "../../common/launch.ts";
import { tooOld } from "../../common/rules.ts";
import { swiglu, type SwigluPoint } from "../op.ts";

/** W1 and W2 as one matrix, whose columns are rows of one and of the other in turns. */
function inTurns({ m, n, k, type }: SwigluPoint): DotPoint {
  return { m, n: 2 * n, k, type, layout: "nt" };
}

const rules: Readonly<Record<string, Rule<SwigluPoint, DotConfig>>> = Object
  .fromEntries(
    Object.entries<Rule<DotPoint, DotConfig>>(dotRules).map(([name, rule]) => [
      name,
      (point, config, info) => rule(inTurns(point), config, info),
    ]),
  );

/** The kernel. `COLS` is rows of both weights: a gate and its up are two of them. */
export const fusedDot: Kernel<SwigluPoint> = launched<SwigluPoint, DotConfig>(
  swiglu,
  {
    name: "fused-dot",
    backend: "cuda",
    idea:
      "multiply-adds of both weights for a few rows, all in flight, K over a cluster",
    unsupported: (point, info) => tooOld(info) ?? tooManyRows(point),
    *configs(point) {
      for (const config of dotConfigs(inTurns(point))) {
        if (config.COLS % 2 === 0) yield config;
      }
    },
    rules,
    predict: (point, config, info) => predictDot(inTurns(point), config, info),
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./swiglu_dot.cu", import.meta.url),
      defines: dotDefines(point, config),
    }),
    launch({ point, config, operands: { X, W1, W2, C } }) {
      const { m, n, k, type } = point;
      const whole = areChunks([X!, W1!, W2!], [k], type);
      return {
        entry: whole ? "swiglu_dot" : "swiglu_dot_ragged",
        args: [X, W1, W2, C, m, n, k],
        shape: dotShape(inTurns(point), config),
      };
    },
  },
);
