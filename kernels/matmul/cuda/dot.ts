/**
 * The kernel for a handful of rows: dot products by fused multiply-adds.
 *
 * @module
 */

import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import type { LaunchContext } from "../../common/decompose_k.ts";
import {
  areChunks,
  type DotConfig,
  dotConfigs,
  dotDefines,
  dotRules,
  dotShape,
  predictDot,
  tooManyRows,
} from "../../common/dot_products.ts";
import { launched } from "../../common/launch.ts";
import { tooOld } from "../../common/rules.ts";
import { matmul } from "../op.ts";
import { hasRelu, type MatmulPoint } from "../point.ts";

/** Returns whether B, and A where it is read by chunks, are whole 16-byte chunks. */
function isWhole({ point, operands: { A, B } }: LaunchContext): boolean {
  const { n, k, lda, ldb, layout, type } = point;
  return layout === "nt"
    ? areChunks([A!, B!], [lda, ldb, k], type)
    : areChunks([B!], [ldb, n], type);
}

/** The kernel. */
export const dot: Kernel<MatmulPoint> = launched<MatmulPoint, DotConfig>(
  matmul,
  {
    name: "dot",
    backend: "cuda",
    idea: "multiply-adds for a few rows, all of B in flight, K over a cluster",
    unsupported: (point, info) => tooOld(info) ?? tooManyRows(point),
    configs: (point) => dotConfigs(point),
    rules: dotRules,
    predict: predictDot,
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./dot.cu", import.meta.url),
      defines: { LAYOUT: point.layout, ...dotDefines(point, config) },
    }),
    launch(site) {
      const { point, config, operands: { A, B, bias, C } } = site;
      const { m, n, k, lda, ldb, ldc } = point;
      return {
        entry: isWhole(site) ? "dot" : "dot_ragged",
        args: [A, B, bias, C, m, n, k, lda, ldb, ldc, hasRelu(point)],
        shape: dotShape(point, config),
      };
    },
  },
);
