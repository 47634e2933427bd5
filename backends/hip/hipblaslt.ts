/**
 * AMD's matrix library with epilogues and a list of algorithms to choose from.
 *
 * An algorithm is a solution: a compiled kernel with its tile, its split of K and its way to
 * sum the slices, none of which can be set from outside. The heuristic ranks those that fit a
 * product; a search times them.
 *
 * @module
 */

import { formatValues, type Values } from "../../bench/model/grid.ts";
import { failureOf, HIPBLAS_NUMBERS } from "../shared/blas/gemm.ts";
import { createLt, type LtHandle } from "../shared/blas/lt.ts";
import {
  type Algo,
  LT_CALLS,
  LT_RELEASING,
  type LtNumbers,
} from "../shared/blas/lt_calls.ts";
import {
  type Checked,
  openChecked,
  statusCalls,
} from "../shared/driver/checked.ts";
import { out32 } from "../shared/ffi.ts";

const HIPBLASLT = statusCalls(
  { ...LT_CALLS, GetVersion: ["u64", "buffer"] },
  (call) => `hipblasLt${call}`,
);

/** The opened library. */
export type Hipblaslt = Checked<typeof HIPBLASLT>;

/** Its numbers, of hipblaslt.h. */
const NUMBERS: LtNumbers = {
  blas: HIPBLAS_NUMBERS,
  // hipblasLtMatmulDescAttributes_t
  desc: { transA: 0, transB: 1, epilogue: 2, biasPointer: 3, biasType: 4 },
  // hipblasLtMatrixLayoutAttribute_t
  layout: { batchCount: 0, batchStride: 1 },
  // hipblasLtMatmulPreferenceAttributes_t
  preference: { workspace: 1 },
  // hipblasLtMatmulHeuristicResult_t: an algorithm of 16 opaque bytes and the workspace that
  // it may take, the workspace that it takes, a status, waves and four reserved numbers.
  result: { bytes: 56, algoBytes: 24, workspace: 24, status: 32 },
};

/** As many as a search of cuBLASLt has with its splits of K, which are solutions here. */
const PROPOSALS = 96;

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openHipblaslt(path: string): Hipblaslt {
  return openChecked(path, HIPBLASLT, {
    releasing: LT_RELEASING,
    failure: (status) => failureOf(HIPBLAS_NUMBERS, status),
  });
}

/** A library's handle, and its version. */
export interface HipblasltHandle extends LtHandle {
  /** e.g. `0.12.0`. */
  readonly version: string;
}

/** Creates a handle whose work goes to `stream`. */
export function createHipblaslt(
  library: Hipblaslt,
  stream: bigint,
): HipblasltHandle {
  const lt = createLt({
    library,
    numbers: NUMBERS,
    proposals: PROPOSALS,
    describe,
    algorithms: (_, proposals) => distinct(proposals.map(describe)),
    find: (_, proposals, values) =>
      proposals.find((algo) =>
        formatValues(describe(algo)) === formatValues(values)
      ),
  }, stream);
  const version = out32((to) => library.GetVersion(lt.handle, to));
  return { ...lt, version: formatVersion(version) };
}

/** The index of the solution is the first of the opaque bytes. */
function describe({ bytes }: Algo): Values {
  return { solution: new DataView(bytes.buffer).getInt32(0, true) };
}

/** Each once, the first first: the heuristic may rank a solution in two of its lists. */
function distinct(all: readonly Values[]): readonly Values[] {
  return [...new Map(all.map((one) => [formatValues(one), one])).values()];
}

/** Formats 1200 as `0.12.0`. */
function formatVersion(version: number): string {
  const [major, minor] = [1e5, 100].map((unit) => Math.floor(version / unit));
  return `${major}.${minor! % 1000}.${version % 100}`;
}
