/**
 * The functions and numbers of cuBLASLt, and its algorithms by their attributes.
 *
 * @module
 */

import {
  type Algo,
  LT_RELEASING,
  type LtNumbers,
  ltSymbols,
} from "../shared/blas/calls.ts";
import { blasError } from "../shared/blas/gemm.ts";
import { CUBLAS_NUMBERS } from "./cublas.ts";
import { type Checked, openChecked } from "../shared/driver/checked.ts";
import { type Bytes, textAt } from "../shared/ffi.ts";
import type { Scalar, Values } from "../../bench/model/grid.ts";

const PREFIX = "cublasLt";

const CUBLASLT = {
  ...ltSymbols(PREFIX),
  // The statuses of these are answers, whether an algorithm can: not checked.
  cublasLtMatmulAlgoInit: {
    parameters: [
      ...["u64", "i32", "i32"] as const, // handle, types of sums and scalars
      ...["i32", "i32", "i32", "i32"] as const, // types of A, B, C, D
      ...["i32", "buffer"] as const, // id, algorithm
    ],
    result: "u32",
  },
  cublasLtMatmulAlgoCheck: {
    parameters: [
      ...["u64", "u64"] as const, // handle, product
      ...["u64", "u64", "u64", "u64"] as const, // layouts of A, B, C, D
      ...["buffer", "buffer"] as const, // algorithm, result
    ],
    result: "u32",
  },
  cublasLtMatmulAlgoConfigSetAttribute: {
    parameters: ["buffer", "i32", "buffer", "u64"],
    result: "u32",
  },
  cublasLtMatmulAlgoConfigGetAttribute: {
    parameters: ["buffer", "i32", "buffer", "u64", "buffer"],
    result: "u32",
  },
  cublasLtGetStatusName: { parameters: ["i32"], result: "u64" },
  cublasLtGetStatusString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The opened library. */
export type Cublaslt = Checked<typeof CUBLASLT>;

/** Its numbers, of cublasLt.h. */
export const CUBLASLT_NUMBERS: LtNumbers = {
  name: "cuBLASLt",
  prefix: PREFIX,
  blas: CUBLAS_NUMBERS,
  // cublasLtMatmulDescAttributes_t
  desc: {
    ...{ transA: 3, transB: 4, epilogue: 7, biasPointer: 8 },
    scales: {
      ...{ pointerA: 17, pointerB: 18, modeA: 31, modeB: 32 },
      // cublasLtMatmulMatrixScale_t: SCALAR, OUTER_VEC; VEC128 of A, BLK128x128 of B
      modes: { tensor: [0, 0], row: [3, 3], block128: [4, 5] },
    },
  },
  // cublasLtMatrixLayoutAttribute_t
  layout: { batchCount: 5, batchStride: 6 },
  // cublasLtMatmulPreferenceAttributes_t
  preference: { workspace: 1, alignments: [5, 6, 7, 8] },
  // cublasLtMatmulHeuristicResult_t, which begins with a cublasLtMatmulAlgo_t
  result: { bytes: 96, algoBytes: 64, workspace: 64, status: 72 },
};

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openCublaslt(path: string): Cublaslt {
  return openChecked(path, CUBLASLT, {
    releasing: LT_RELEASING,
    error: ({ cublasLtGetStatusName, cublasLtGetStatusString }, call, status) =>
      blasError(CUBLAS_NUMBERS, call, status, {
        name: textAt(cublasLtGetStatusName(status)),
        text: textAt(cublasLtGetStatusString(status)),
      }),
  });
}

/** `cublasLtMatmulAlgoConfigAttributes_t`: name, number, bytes. */
const ATTRIBUTES = [
  ["algo", 0, 4],
  ["tile", 1, 4],
  ["splitk", 2, 4],
  ["reduction", 3, 4],
  ["swizzle", 4, 4],
  ["custom", 5, 4],
  ["stages", 6, 4],
  ["inner", 7, 2],
  ["cluster", 8, 2],
] as const;

/** Attributes that are named even when they are 0. */
const ALWAYS: readonly string[] = ["algo", "tile", "splitk"];

/** `cublasLtMatmulTile_t`, from its first value on; newer tiles are shown as numbers. */
const TILES = [
  ..."0 8x8 8x16 16x8 8x32 16x16 32x8 8x64 16x32 32x16 64x8 32x32".split(" "),
  ..."32x64 64x32 32x128 64x64 128x32 64x128 128x64 64x256 128x128".split(" "),
  ..."256x64 64x512 128x256 256x128 512x64 64x96 96x64 96x128".split(" "),
  ..."128x160 160x128".split(" "),
];

/** Returns what distinguishes `algo`, e.g. `{ algo: 66, tile: "64x64", splitk: 8 }`. */
export function describeAlgo(library: Cublaslt, algo: Algo): Values {
  const pairs = ATTRIBUTES.flatMap(([name, number, bytes]) => {
    const value = new Uint8Array(4);
    const written = new BigUint64Array(1);
    const status = library.cublasLtMatmulAlgoConfigGetAttribute(
      algo.bytes,
      number,
      value,
      BigInt(bytes),
      written,
    );
    const id = new DataView(value.buffer).getUint32(0, true);
    if (status !== 0 || (id === 0 && !ALWAYS.includes(name))) return [];
    return [[name, name === "tile" ? TILES[id] ?? `#${id}` : id] as const];
  });
  return Object.fromEntries(pairs);
}

/**
 * Returns a copy of `bytes`, a `cublasLtMatmulAlgo_t`, with the attributes `values`, or
 * nothing where it takes one of them not.
 */
export function withAttributes(
  library: Cublaslt,
  bytes: Bytes,
  values: Values,
): Bytes | undefined {
  const copy = bytes.slice();
  for (const [name, number, size] of ATTRIBUTES) {
    const value = values[name];
    if (value === undefined || name === "algo") continue;
    const status = library.cublasLtMatmulAlgoConfigSetAttribute(
      copy,
      number,
      new Uint32Array([idOf(value)]),
      BigInt(size),
    );
    if (status !== 0) return undefined;
  }
  return copy;
}

/** Returns the number behind a value of {@linkcode describeAlgo}. */
function idOf(value: Scalar): number {
  const known = TILES.indexOf(`${value}`);
  return typeof value === "number"
    ? value
    : known >= 0
    ? known
    : Number(value.slice(1));
}
