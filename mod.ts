/**
 * The interface for suite files and programs outside this repository.
 *
 * `bench`, `check`, `diff`, `readRows` and `table` do in a program what the commands of these names
 * do.
 *
 * A suite file defines kernels by `defineLaunch` (one launch), `defineKernel` (any steps) or
 * `definePython` (a function of a Python file), and exports a suite by `defineSuite`. `matmul` and
 * `qmm` are operations to define kernels for, as are `groupedMatmul`, `scaledMatmul` and `swiglu`;
 * `kernels`, `qmmKernels`, `groupedKernels`, `scaledKernels` and `swigluKernels` are the built-in
 * ones. To define an operation, implement `Op`. Matrices are row-major; errors of the user are
 * `UserError`, failures of a kernel `CaseError`.
 *
 * @example Compare a CUDA kernel with the built-in ones
 * ```ts ignore
 * import { defineLaunch, defineSuite, kernels, matmul } from "mnkbench";
 *
 * const mine = defineLaunch(matmul, {
 *   name: "mine",
 *   backend: "cuda",
 *   source: new URL("./mine.cu", import.meta.url),
 *   entry: "mine",
 *   shape: ({ m, n }) => ({
 *     grid: [Math.ceil(n / 16), Math.ceil(m / 16), 1],
 *     block: [16, 16, 1],
 *   }),
 * });
 *
 * export default defineSuite({
 *   name: "my-suite",
 *   title: "mine compared with cuBLAS",
 *   op: matmul,
 *   axes: { m: [16, 64], k: [8192, 32768] },
 *   tie: { n: "m" },
 *   fixed: { type: "bf16", epilogue: "relu" },
 *   kernels: [...kernels, mine],
 *   baselines: ["cublas"],
 * });
 * ```
 *
 * @module
 */

export type * from "./bench/device/blas.ts";
export type * from "./bench/model/axes.ts";
export {
  bool,
  bytes,
  f32,
  f64,
  i32,
  i64,
  mem,
  u32,
} from "./bench/device/queue.ts";
export type * from "./bench/device/queue.ts";
export type * from "./bench/device/device.ts";
export { BYTES, decode, type DType, encode } from "./bench/model/dtype.ts";
export { CaseError, EXIT, UserError } from "./bench/model/errors.ts";
export type * from "./bench/model/errors.ts";
export type * from "./bench/formats/quant_format.ts";
export { formatValues, grid } from "./bench/model/grid.ts";
export type * from "./bench/model/grid.ts";
export { FILLS, stored } from "./bench/model/inputs.ts";
export type * from "./bench/model/inputs.ts";
export {
  defineKernel,
  defineLaunch,
  definePython,
} from "./bench/model/kernel.ts";
export type * from "./bench/model/kernel.ts";
export type * from "./bench/model/kernel_spec.ts";
export { elementsOf } from "./bench/model/problem.ts";
export type * from "./bench/model/op.ts";
export { readAxes } from "./bench/model/axes.ts";
export type * from "./bench/model/peer.ts";
export type * from "./bench/model/problem.ts";
export { defineSuite } from "./bench/model/suite.ts";
export type * from "./bench/model/suite.ts";
export type * from "./bench/model/spec_schema.ts";
export { tensorMapOn } from "./bench/device/device.ts";
export type {
  TensorBox,
  TensorShape,
  TensorType,
} from "./bench/device/device.ts";
export {
  bench,
  type BenchResult,
  check,
  type CheckResult,
  diff,
  type DiffOptions,
  readRows,
  table,
  type TableOptions,
} from "./session/library/library.ts";
export type {
  BenchOptions,
  CheckOptions,
  RunEvent,
  RunOptions,
} from "./session/library/run_options.ts";
export type {
  Choice,
  PeerChoice,
  Running,
  Timing,
  Tuning,
} from "./session/options.ts";
export type { Judging } from "./session/library/compare_rows.ts";
export type {
  DiffData,
  DiffMean,
  DiffRow,
  DiffSide,
} from "./report/diff/machine.ts";
export type { Verdict, VERDICTS } from "./report/diff/verdict.ts";
export type * from "./bench/model/settings.ts";
export type * from "./bench/row/columns.ts";
export type {
  FigureColumn,
  FlatRow,
  RowFields,
  TextColumn,
  TimedFlatRow,
  UntimedFlatRow,
} from "./bench/row/flat_row.ts";
export { blocksPerUnit, wavesOf } from "./bench/model/occupancy.ts";
export type * from "./bench/model/occupancy.ts";
export { ops, type RegisteredOp } from "./kernels/mod.ts";
export {
  decodeKernels,
  kernels,
  linearKernels,
  matmul,
  type MatmulPoint,
  plainKernels,
  skinnyKernels,
} from "./kernels/matmul/mod.ts";
export { EPILOGUES, TYPES } from "./kernels/matmul/point.ts";
export {
  groupedMatmul,
  type GroupedPoint,
  kernels as groupedKernels,
} from "./kernels/grouped/mod.ts";
export {
  kernels as scaledKernels,
  scaledMatmul,
  type ScaledPoint,
} from "./kernels/scaled/mod.ts";
export {
  kernels as qmmKernels,
  qmm,
  type QmmPoint,
} from "./kernels/qmm/mod.ts";
export {
  kernels as swigluKernels,
  swiglu,
  type SwigluPoint,
} from "./kernels/swiglu/mod.ts";
