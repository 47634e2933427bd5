/**
 * Names cuBLASLt's algorithms by their attributes.
 *
 * @module
 */

import type { Scalar, Values } from "../../bench/model/grid.ts";
import type { Algo } from "../shared/blaslt/algo.ts";
import type { Cublaslt } from "./cublaslt_library.ts";
import type { Bytes } from "../shared/ffi.ts";

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
