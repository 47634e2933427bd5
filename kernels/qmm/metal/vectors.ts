/**
 * The launches of the Metal kernels of {@linkcode qmm} that take rows of x one by one.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem, type Step } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { formatDefines, type Site, sumBuild, sumStep } from "./steps.ts";
import { isFast, mlxName } from "./mlx_names.ts";
import type { QmmPoint } from "../point.ts";
import { weightMemory } from "../weight_args.ts";

/** Both kernels have two simdgroups. */
const THREADS = 64;
/** Rows of W of a threadgroup, in x · Wᵀ. */
const ROWS = 8;

/** Columns of W of a threadgroup, in x · W: those of a group, or 32, for each simdgroup. */
const colsOf = ({ group }: QmmPoint) => 2 * Math.min(group, 32);

interface Unit {
  readonly build: Build;
  readonly entry: string;
}

function qmvUnit(point: QmmPoint): Unit {
  const fast = isFast(point);
  const entry = mlxName(fast ? "qmv_fast" : "qmv", point);
  const source = new URL("./qmv.metal", import.meta.url);
  const defines = {
    ...formatDefines(point),
    FAST: Number(fast),
    ENTRY: entry,
  };
  return { entry, build: { source, defines } };
}

/** What `qmv` needs. */
export function qmvBuilds(point: QmmPoint): readonly Build[] {
  return [qmvUnit(point).build];
}

/** y = x · Wᵀ by dot products. */
export function qmvSteps({ point, operands, program }: Site): readonly Step[] {
  const { m, n, k } = point;
  const { build, entry } = qmvUnit(point);
  return [
    program(build, entry).step([
      mem(operands.x!),
      ...weightMemory(operands),
      mem(operands.y!),
      ...[n, k].map(i32),
    ], { grid: [Math.ceil(n / ROWS), m, 1], block: [THREADS, 1, 1] }),
  ];
}

function qvmUnit(point: QmmPoint, split: number): Unit {
  const entry = split > 1
    ? mlxName("qvm_split_k", point, split)
    : mlxName("qvm", point);
  const source = new URL("./qvm.metal", import.meta.url);
  const defines = { ...formatDefines(point), ENTRY: entry };
  return { entry, build: { source, defines } };
}

/** What `qvm` with K in `split` slices needs. */
export function qvmBuilds(point: QmmPoint, split: number): readonly Build[] {
  return [
    qvmUnit(point, split).build,
    ...(split > 1 ? [sumBuild(point, point.type)] : []),
  ];
}

/** y = x · W by scaled rows of W, the slices' sums in the type of x. */
export function qvmSteps(site: Site, split: number): readonly Step[] {
  const { point, operands, program, alloc } = site;
  const { m, n, k, type } = point;
  const { build, entry } = qvmUnit(point, split);
  const out = split > 1 ? alloc(split * m * n * BYTES[type]) : operands.y!;
  const product = program(build, entry).step([
    mem(operands.x!),
    ...weightMemory(operands),
    mem(out),
    ...[n, k, Math.ceil(k / split)].map(i32),
  ], {
    grid: [Math.ceil(n / colsOf(point)), m, split],
    block: [THREADS, 1, 1],
  });
  return split === 1
    ? [product]
    : [product, sumStep(site, out, { part: type, split })];
}
