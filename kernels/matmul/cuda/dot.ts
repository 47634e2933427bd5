/**
 * The kernel for a handful of rows: dot products by fused multiply-adds.
 *
 * With M of a few, B is all there is to read, and a tensor core's 16 rows are mostly padding.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, i64, mem } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import {
  cutOf,
  type DotConfig,
  dotConfigs,
  dotRules,
  MOST_ROWS,
  predictDot,
  rowsOf,
} from "./dot_configs.ts";
import { tooOld } from "../../common/arch.ts";
import { matmul } from "../op.ts";
import { hasRelu, type MatmulPoint } from "../point.ts";
import type { Site } from "../../common/decompose_k.ts";

function build(
  { m, type, layout }: MatmulPoint,
  { THREADS, COLS, UNROLL, CLUSTER }: DotConfig,
): Build {
  return {
    source: new URL("./dot.cu", import.meta.url),
    defines: {
      ...{ TYPE: type, LAYOUT: layout, ROWS: rowsOf(m) },
      ...{ THREADS, COLS, UNROLL, CLUSTER },
    },
  };
}

/** Whether B, and A where it is read by chunks, are whole 16-byte chunks at such addresses. */
function isWhole({ point, operands }: Site): boolean {
  const { n, k, lda, ldb, layout, type } = point;
  const per = 16 / BYTES[type];
  const [read, lengths] = layout === "nt"
    ? [[operands.A!, operands.B!], [lda, ldb, k]]
    : [[operands.B!], [ldb, n]];
  return read.every(({ address }) => address % 16n === 0n) &&
    lengths.every((length) => length % per === 0);
}

/** The kernel. */
export const dot: Kernel<MatmulPoint> = defineKernel<MatmulPoint, DotConfig>(
  matmul,
  {
    name: "dot",
    backend: "cuda",
    idea: "multiply-adds for a few rows, all of B in flight, K over a cluster",
    unsupported: ({ m }, info) =>
      tooOld(info) ??
        (m <= MOST_ROWS
          ? undefined
          : `M=${m}: a thread has registers for ${MOST_ROWS} rows of sums`),
    configs: dotConfigs,
    rules: dotRules,
    predict: predictDot,
    builds: (point, config) => [build(point, config)],
    prepare(site) {
      const { point, config, operands, program } = site;
      const { m, n, k, lda, ldb, ldc } = point;
      const { THREADS, CLUSTER } = config;
      const { groups } = cutOf(point, config);
      const step = program(build(point, config), "dot").step([
        mem(operands.A!),
        mem(operands.B!),
        operands.bias ? mem(operands.bias) : i64(0),
        mem(operands.C!),
        ...[m, n, k, lda, ldb, ldc].map(i32),
        i32(isWhole(site) ? 1 : 0),
        i32(hasRelu(point) ? 1 : 0),
      ], {
        grid: [groups * CLUSTER, 1, 1],
        block: [THREADS, 1, 1],
        ...(CLUSTER > 1 ? { cluster: CLUSTER } : {}),
      });
      return { steps: [step] };
    },
  },
);
