/**
 * The functions, numbers and results that cuBLASLt and hipBLASLt have alike.
 *
 * @module
 */

import type { GemmScales } from "../../../bench/device/blas.ts";
import type { Checked, StatusCalls } from "../driver/checked.ts";
import { addressOf, type Bytes } from "../ffi.ts";
import type { BlasNumbers } from "./gemm.ts";

/** The functions that both have. */
export const LT_CALLS = {
  Create: ["buffer"],
  Destroy: ["u64"],
  MatmulDescCreate: ["buffer", "i32", "i32"],
  MatmulDescDestroy: ["u64"],
  MatmulDescSetAttribute: ["u64", "i32", "buffer", "u64"],
  MatrixLayoutCreate: ["buffer", "i32", "u64", "u64", "i64"],
  MatrixLayoutDestroy: ["u64"],
  MatrixLayoutSetAttribute: ["u64", "i32", "buffer", "u64"],
  MatmulPreferenceCreate: ["buffer"],
  MatmulPreferenceDestroy: ["u64"],
  MatmulPreferenceSetAttribute: ["u64", "i32", "buffer", "u64"],
  MatmulAlgoGetHeuristic: [
    ...["u64", "u64"] as const, // handle, product
    ...["u64", "u64", "u64", "u64"] as const, // layouts of A, B, C, D
    ...["u64", "i32"] as const, // preference, algorithms asked for
    ...["buffer", "buffer"] as const, // results, how many came
  ],
  Matmul: [
    ...["u64", "u64", "u64"] as const, // handle, product, alpha
    ...["u64", "u64"] as const, // A and its layout
    ...["u64", "u64"] as const, // B
    "u64", // beta
    ...["u64", "u64"] as const, // C
    ...["u64", "u64"] as const, // D
    "u64", // algorithm
    ...["u64", "u64"] as const, // workspace, its bytes
    "u64", // stream
  ],
} as const;

/** Those that only release something. */
export const LT_RELEASING = [
  "Destroy",
  "MatmulDescDestroy",
  "MatrixLayoutDestroy",
  "MatmulPreferenceDestroy",
] as const;

/** The functions, each throwing on a bad status. */
export type LtCalls = Checked<StatusCalls<typeof LT_CALLS>>;

type Numbers<K extends string> = Readonly<Record<K, number>>;

/** Numbers that differ between the two libraries. */
export interface LtNumbers {
  /** Numbers that it shares with its plain library. */
  readonly blas: BlasNumbers;
  /** Attributes of a product; without `biasType` a bias has the type of C. */
  readonly desc:
    & Numbers<"transA" | "transB" | "epilogue" | "biasPointer">
    & Partial<Numbers<"biasType">>
    & {
      /** Of the scales of FP8 operands; missing where the library is not called for them. */
      readonly scales?: Numbers<"pointerA" | "pointerB" | "modeA" | "modeB"> & {
        /** The modes of our A and B, which are the library's B and A. */
        readonly modes: Readonly<
          Record<GemmScales["kind"], readonly [a: number, b: number]>
        >;
      };
    };
  /** Attributes of a matrix. */
  readonly layout: Numbers<"batchCount" | "batchStride">;
  /** Attributes of what limits the choice; `alignments` are of A, B, C and D. */
  readonly preference: Numbers<"workspace"> & {
    readonly alignments?: readonly number[];
  };
  /** Bytes of a proposal, and where its parts are; the algorithm is the first. */
  readonly result: Numbers<"bytes" | "algoBytes" | "workspace" | "status">;
}

/** An algorithm, as the library gave it. */
export interface Algo {
  readonly bytes: Bytes;
  /** The address of `bytes`, valid while this object is reachable. */
  readonly address: bigint;
  readonly workspaceBytes: number;
}

/**
 * Returns the usable ones of the first `count` results, in the library's order: those that
 * it supports and that need no more than `most` bytes of workspace.
 */
export function readResults(
  layout: LtNumbers["result"],
  results: Bytes,
  { count, most }: { readonly count: number; readonly most: number },
): readonly Algo[] {
  const view = new DataView(results.buffer);
  return Array.from({ length: count }, (_, i) => i * layout.bytes)
    .filter((start) => view.getInt32(start + layout.status, true) === 0)
    .map((start): Algo => {
      const bytes = results.slice(start, start + layout.algoBytes);
      const workspace = view.getBigUint64(start + layout.workspace, true);
      return {
        bytes,
        address: addressOf(bytes.buffer),
        workspaceBytes: Number(workspace),
      };
    })
    .filter(({ workspaceBytes }) => workspaceBytes <= most);
}
