/**
 * The CPU kernels of {@linkcode qmm}: naive loops, loops that decode weights in the cache, and
 * the same on 16-bit weights.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import type { Memory } from "../../../bench/device/queue.ts";
import { MODES } from "../../../bench/formats/quant_format.ts";
import { BYTES, encode } from "../../../bench/model/dtype.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../../bench/model/kernel_spec.ts";
import { launch, launched } from "../../common/launch.ts";
import { conversionBuild, denseBytes, dequantiseStep } from "../dequantise.ts";
import { qmm } from "../op.ts";
import { formatArgs, type QmmPoint, weightMemory } from "../point.ts";
import { productOf } from "../reference.ts";
import { Weights } from "../weights.ts";

/** Multiplications that take some seconds. */
const MOST = 2 ** 32;

/** Needs no compiler, so it runs wherever Deno does. */
const naive: Kernel<QmmPoint> = defineKernel(qmm, {
  name: "naive",
  backend: "cpu",
  idea: "rows decoded one by one, loops in TypeScript, to be read",
  teaching: true,
  unsupported: ({ m, n, k }) =>
    m * n * k <= MOST
      ? undefined
      : `${
        m * n * k
      } multiplications would take minutes: it does ${MOST} at most`,
  prepare({ point, operands }) {
    const { w, scales, biases } = operands;
    const enqueue = () => {
      const stored = [w, scales, biases].filter((part) => part !== undefined);
      const weights = new Weights(point, stored.map(({ host }) => host!));
      const y = productOf(point, operands.x!.host!, (i) => weights.row(i));
      operands.y!.host!.set(encode(y, point.type));
    };
    return { steps: [{ label: "naive", capturable: false, enqueue }] };
  },
});

const QMM: Build = { source: new URL("./qmm.c", import.meta.url), defines: {} };

/** Instruction sets of qmm.c that a test may force; 0 is the CPU's best. */
export const SETS = {
  best: 0,
  generic: 1,
  avx2: 2,
  avx512: 3,
  neon: 4,
} as const;

/** The name of an instruction set. */
export type InstructionSet = keyof typeof SETS;

/** The tunables. */
type Blocks = {
  /** Rows of W that a thread takes at a time; a multiple of 4, at most MAX_ROWS. */
  readonly ROWS: number;
};

/** Few rows stay in the first-level cache, many reuse what of x is there. */
const ROWS = [16, 4, 64];

/** A mode of qmm.c: 16-bit weights. */
const DENSE = MODES.length;

/** The product, of stored weights or of `dense` ones. */
function launchOf(
  { point, config, operands, device, alloc }: Context<QmmPoint, Blocks>,
  { set, dense }: { set: InstructionSet; dense?: Memory },
) {
  const { m, n, k, transposed } = point;
  const [w, ...scales] = weightMemory(operands);
  const [mode, ...format] = formatArgs(point);
  return {
    args: [
      ...[operands.x, dense ?? w, ...scales, operands.y],
      ...[alloc(m * k * BYTES.f32), m, n, k, dense ? DENSE : mode, ...format],
      ...[transposed, config.ROWS, device.info.units, SETS[set]],
    ],
  };
}

/** One row of blocks is as good as another where W is read by columns. */
function rowsCount({ transposed }: QmmPoint, { ROWS: rows }: Blocks) {
  return transposed || rows === ROWS[0]
    ? undefined
    : "x · W takes columns of W, so ROWS has no meaning";
}

/** The kernel for one instruction set. */
export function cpuQmm(set: InstructionSet): Kernel<QmmPoint> {
  return launched<QmmPoint, Blocks>(qmm, {
    name: "qmm",
    backend: "cpu",
    idea: "weights decoded in the cache, once for all rows of x",
    configs: () => grid({ ROWS }),
    rules: [rowsCount],
    build: () => QMM,
    launch: (site) => launchOf(site, { set }),
  });
}

/** The baseline of quantisation: the same loops on 16-bit weights. */
const dense: Kernel<QmmPoint> = defineKernel<QmmPoint, Blocks>(qmm, {
  name: "dense",
  backend: "cpu",
  idea: "the loops of qmm on 16-bit weights, decoded before the clock starts",
  configs: () => grid({ ROWS }),
  rules: [rowsCount],
  builds: (point) => [QMM, conversionBuild("cpu", point)],
  prepare(site) {
    const dense = site.alloc(denseBytes(site.point));
    return {
      setup: [dequantiseStep("cpu", { ...site, dense })],
      steps: [launch(site, QMM, launchOf(site, { set: "best", dense }))],
    };
  },
});

/** In the order of listings and tables. */
export const cpuKernels: readonly Kernel<QmmPoint>[] = [
  dense,
  naive,
  cpuQmm("best"),
];
