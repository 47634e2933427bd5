/**
 * The functions that cuBLASLt and hipBLASLt have alike: AMD took over NVIDIA's interface
 * with a prefix and numbers of its own.
 *
 * @module
 */

import type { GemmScales } from "../../../bench/device/blas.ts";
import type { BlasNumbers } from "./gemm.ts";
import type { Checked } from "../driver/checked.ts";
import { addressOf, type Bytes } from "../ffi.ts";

const CALLS = {
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
} as const satisfies Record<string, readonly Deno.NativeType[]>;

type Call = keyof typeof CALLS;

/** Those that only give something back. */
export const LT_RELEASING = [
  "Destroy",
  "MatmulDescDestroy",
  "MatrixLayoutDestroy",
  "MatmulPreferenceDestroy",
] as const satisfies Call[];

/** The definitions for `Deno.dlopen`. */
export type LtSymbols = {
  readonly [C in Call]: {
    readonly name: string;
    readonly parameters: (typeof CALLS)[C];
    readonly result: "i32";
  };
};

/** The functions, each throwing on a bad status. */
export type LtCalls = Checked<LtSymbols>;

/** Returns the functions under a library's prefix, e.g. `cublasLt`. */
export function ltSymbols(prefix: string): LtSymbols {
  return Object.fromEntries(
    Object.entries(CALLS).map(([call, parameters]) => [
      call,
      { name: `${prefix}${call}`, parameters, result: "i32" },
    ]),
  ) as unknown as LtSymbols;
}

/** Numbers that differ between the two libraries. */
export interface LtNumbers {
  /** The library's name, for people. */
  readonly name: string;
  /** The prefix of its functions' names, e.g. `cublasLt`. */
  readonly prefix: string;
  /** Numbers that it shares with its plain library. */
  readonly blas: BlasNumbers;
  /** Attributes of a product. */
  readonly desc: {
    readonly transA: number;
    readonly transB: number;
    readonly epilogue: number;
    readonly biasPointer: number;
    /** Of the scales of FP8 operands; missing where the library is not called for them. */
    readonly scales?: {
      readonly pointerA: number;
      readonly pointerB: number;
      readonly modeA: number;
      readonly modeB: number;
      /** The modes of our A and B, which are the library's B and A. */
      readonly modes: Readonly<
        Record<GemmScales["kind"], readonly [a: number, b: number]>
      >;
    };
    /** Missing where a bias has the type of C without being told. */
    readonly biasType?: number;
  };
  /** Attributes of a matrix. */
  readonly layout: {
    readonly batchCount: number;
    readonly batchStride: number;
  };
  /** Attributes of what limits the choice. */
  readonly preference: {
    readonly workspace: number;
    /** Of A, B, C and D; missing where the library does not ask. */
    readonly alignments?: readonly number[];
  };
  /** Bytes of a proposal, and where its parts are; the algorithm is the first. */
  readonly result: {
    readonly bytes: number;
    readonly algoBytes: number;
    readonly workspace: number;
    readonly status: number;
  };
}

/** An algorithm, as the library gave it. */
export interface Algo {
  readonly bytes: Bytes;
  /** The address of `bytes`, valid while this object is reachable. */
  readonly address: bigint;
  readonly workspaceBytes: number;
}

/** The memory layout of results. */
export type ResultLayout = LtNumbers["result"];

/** Room for the library to write `limit` results to. */
export function resultRoom({ bytes }: ResultLayout, limit: number): Bytes {
  return new Uint8Array(bytes * limit);
}

/**
 * Returns the usable ones of the first `count` results, in the library's order: those that
 * it supports and that need no more than `most` bytes of workspace.
 */
export function readResults(
  layout: ResultLayout,
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
