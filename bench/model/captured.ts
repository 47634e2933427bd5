/**
 * Defines `captured.json`: the GEMMs that a program ran, with their calls and times.
 *
 * Sizes, layouts and strides are those of the row-major product C[m,n] = A[m,k] · B[k,n], as of
 * PyTorch and of the op `matmul`. cuBLAS is column-major, so its m is n here and its A is B.
 *
 * @module
 */

import {
  array,
  boolean,
  check,
  type InferOutput,
  literal,
  maxLength,
  nonEmpty,
  nullable,
  number,
  object,
  optional,
  picklist,
  pipe,
  string,
} from "valibot";
import { parseJson } from "../files/json_file.ts";
import { UserError } from "./errors.ts";

const text = pipe(string(), maxLength(2000));
/** A whole number from `least` that is exact. */
function whole(least: 0 | 1) {
  return pipe(
    number(),
    check(
      (value) => Number.isSafeInteger(value) && value >= least,
      `it must be a whole number from ${least} to 2^53 - 1`,
    ),
  );
}

const calls = whole(0);
const size = whole(1);
const amount = pipe(
  number(),
  check(
    (value) => Number.isFinite(value) && value >= 0,
    "it must be a finite number of at least 0",
  ),
);
const type = pipe(text, nonEmpty());

const gemmSchema = object({
  /** The op that computes the same, such as `matmul`; empty where there is none. */
  op: text,
  /** The reason why there is none; empty where there is one. */
  why_no_op: text,
  /** What was called: `cublas`, `cublaslt`, `torch`, `triton`; `model` where nothing was. */
  source: text,
  /** The function, such as `cublasGemmEx`, the kernel or the layer. */
  name: text,
  /** `batch` products of one call have this shape. */
  m: size,
  n: size,
  k: size,
  batch: size,
  /** Types as `bench/model/dtype.ts` names them, and others: `i8`, `c64`, ... */
  a: type,
  b: type,
  c: type,
  /** The type of sums: `f32`, `tf32`, `f16`, `f64`, `i32`, ... */
  compute: type,
  /** How A and B are stored: `n` by rows, `t` by columns. `nt` is A[m,k] · B[n,k]ᵀ. */
  layout: picklist(["nn", "nt", "tn", "tt"]),
  /** Elements between the starts of two stored rows. */
  lda: size,
  ldb: size,
  ldc: size,
  /** `none`, `relu`, `bias`, `bias+relu`, `gelu`, `bias+gelu`, ... */
  epilogue: text,
  /** What has a scale, in FP8 and below: `tensor`, `row`, `block128`, or a name of cuBLASLt. */
  scale: optional(text),
  /** Whether C is added to the product; null where beta is in device memory. */
  beta_nonzero: nullable(boolean()),
  /** The phase of the program: `all` unless it has several, such as `prefill` and `decode`. */
  phase: text,
  /** Calls in the window, those that CUDA graphs replayed included. */
  calls,
  /** The part of them that CUDA graphs replayed. */
  graph_calls: optional(calls),
  /** Time of the kernels of all calls; null where it is unknown. */
  time_us: nullable(amount),
  /** Names of kernels of these calls. */
  kernels: optional(array(text)),
});

const otherSchema = object({
  /** The name of a kernel. */
  name: text,
  /** Whether its name is that of a GEMM, whose call was not seen. */
  is_gemm: optional(boolean()),
  calls,
  time_us: amount,
});

/** The content of `captured.json`. */
export const capturedSchema = object({
  schema: literal(1),
  /** The program and its arguments. */
  program: array(text),
  device: optional(object({ name: text, arch: optional(text) })),
  /** Seconds that were recorded. */
  window_s: amount,
  /** Seconds from the start of the program to its end. */
  wall_s: amount,
  /** Time in the window in which a kernel ran. */
  gpu_busy_us: optional(amount),
  /** Steps of the program in the window, where they are known. */
  steps: optional(size),
  /** The clock of kernels: CUPTI, CUDA events around calls, or none. */
  clock: picklist(["cupti", "events", "none"]),
  /** The GEMMs, the longest total time first. */
  gemms: array(gemmSchema),
  /** Kernels of no GEMM that was seen, the longest total time first. */
  other: array(otherSchema),
  /** What was not recorded, and why. */
  notes: array(text),
});

/** The GEMMs of a program. */
export type Captured = InferOutput<typeof capturedSchema>;
/** GEMMs of one shape that a program ran. */
export type CapturedGemm = Captured["gemms"][number];

/** Parses the text of `path`. @throws {UserError} Where it is no captured file. */
export function readCaptured(content: string, path: string): Captured {
  return parseJson(
    capturedSchema,
    content,
    (why) =>
      new UserError(
        `Cannot read ${path}: ${why}; write it again with \`capture\``,
      ),
  );
}
