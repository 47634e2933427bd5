/**
 * cuBLASLt: its functions, its algorithms by their attributes, and those that a search times.
 *
 * A search times what the heuristic proposes, and the best of these with K split otherwise. The
 * library documents an algorithm's 64 bytes for its own version only; a description outlives
 * them, and says what won.
 *
 * @module
 */

import type { FusedGemm } from "../../bench/device/blas.ts";
import {
  formatValues,
  type Scalar,
  type Values,
} from "../../bench/model/grid.ts";
import {
  CUBLAS_NUMBERS,
  failureOf,
  SCALE_TYPE,
  typeOf,
} from "../shared/blas/gemm.ts";
import {
  createLt,
  type LtHandle,
  type Site as LtSite,
} from "../shared/blas/lt.ts";
import {
  type Algo,
  LT_CALLS,
  LT_RELEASING,
  type LtNumbers,
  readResults,
} from "../shared/blas/lt_calls.ts";
import {
  type Checked,
  openChecked,
  statusCalls,
} from "../shared/driver/checked.ts";
import { addressOf, type Bytes, textAt } from "../shared/ffi.ts";

const CUBLASLT = {
  ...statusCalls(LT_CALLS, (call) => `cublasLt${call}`),
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
type Cublaslt = Checked<typeof CUBLASLT>;

/** Its numbers, of cublasLt.h. */
const NUMBERS: LtNumbers = {
  blas: CUBLAS_NUMBERS,
  // cublasLtMatmulDescAttributes_t
  desc: {
    transA: 3,
    transB: 4,
    epilogue: 7,
    biasPointer: 8,
    scales: {
      pointerA: 17,
      pointerB: 18,
      modeA: 31,
      modeB: 32,
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
    failure: (status) => failureOf(CUBLAS_NUMBERS, status),
    explain: ({ cublasLtGetStatusName, cublasLtGetStatusString }, status) => ({
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
function describeAlgo(library: Cublaslt, algo: Algo): Values {
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
function withAttributes(
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

/** The number of proposals that are also tried with other splits of K. */
const FAMILIES = 6;
const SPLITS = [2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64];
/** Shorter slices of K are no work for a tile. */
const LEAST_SLICE = 64;
const RESULT = NUMBERS.result;

/** `cublasLtReductionScheme_t`: where the sums of the slices meet. */
const REDUCTION = { none: 0, inPlace: 1, sums: 2, output: 4 } as const;

type Site = LtSite<Cublaslt>;

/**
 * Returns the descriptions of the algorithms to time: the first of `proposals`, whatever
 * it is, then those that keep sums in fp32, each once.
 */
function algorithmsOf(
  site: Site,
  proposals: readonly Algo[],
): readonly Values[] {
  const { library, gemm } = site;
  const found = new Map<string, Values>();
  const add = (values: Values) => void found.set(formatValues(values), values);
  const described = proposals.map((algo) => describeAlgo(library, algo));
  const families = new Map<string, Algo>();
  for (const [i, values] of described.entries()) {
    if (i > 0 && !keepsSums(values, gemm)) continue;
    add(values);
    const family = familyOf(values);
    if (!families.has(family)) families.set(family, proposals[i]!);
  }
  for (const algo of [...families.values()].slice(0, FAMILIES)) {
    for (const split of splitsOf(gemm)) {
      const variant = checked(
        site,
        withAttributes(library, algo.bytes, split),
      );
      if (variant) add(describeAlgo(library, variant));
    }
  }
  return [...found.values()];
}

/**
 * Finds the algorithm that describes itself as `values`: one of `proposals`, one of them
 * with K split otherwise, or one put together from its attributes.
 */
function findAlgorithm(
  site: Site,
  proposals: readonly Algo[],
  values: Values,
): Algo | undefined {
  const { library } = site;
  const text = formatValues(values);
  const is = (algo: Algo) => formatValues(describeAlgo(library, algo)) === text;
  const proposed = proposals.find(is);
  if (proposed) return proposed;
  const kin = proposals.find((algo) =>
    familyOf(describeAlgo(library, algo)) === familyOf(values)
  );
  for (const bytes of [kin?.bytes, initialized(site, values)]) {
    if (!bytes) continue;
    const { splitk = 0, reduction = 0 } = values;
    const found = checked(
      site,
      withAttributes(library, bytes, { ...values, splitk, reduction }),
    );
    if (found && is(found)) return found;
  }
  return undefined;
}

/** Returns the part of a description that does not depend on the split of K. */
function familyOf({ splitk: _, reduction: __, ...rest }: Values): string {
  return formatValues(rest);
}

/** Returns whether slices of K are summed in fp32, as every kernel's sums are here. */
function keepsSums({ reduction = 0 }: Values, { c }: FusedGemm): boolean {
  const inC = reduction === REDUCTION.inPlace || reduction === REDUCTION.output;
  return c.type === "f32" || !inC;
}

/** No split, and every split of K with each way for its sums to meet. */
function splitsOf({ k, c }: FusedGemm): readonly Values[] {
  const { none, inPlace, sums, output } = REDUCTION;
  const ways = c.type === "f32" ? [sums, inPlace, output] : [sums];
  const splits = SPLITS.filter((split) => k / split >= LEAST_SLICE);
  return [
    { splitk: 1, reduction: none },
    ...splits.flatMap((splitk) =>
      ways.map((reduction) => ({ splitk, reduction }))
    ),
  ];
}

/** The library's algorithm of that id, with nothing chosen yet. */
function initialized(
  { library, handle, gemm: { a, b, c } }: Site,
  { algo }: Values,
): Bytes | undefined {
  if (typeof algo !== "number") return undefined;
  const bytes = new Uint8Array(RESULT.algoBytes);
  const status = library.cublasLtMatmulAlgoInit(
    ...[handle, NUMBERS.blas.compute32f, SCALE_TYPE] as const,
    ...[typeOf(b), typeOf(a), typeOf(c), typeOf(c)] as const,
    ...[algo, bytes] as const,
  );
  return status === 0 ? bytes : undefined;
}

/** The algorithm `bytes`, if it can compute the product within its workspace. */
function checked(
  { library, handle, gemm, description, layouts }: Site,
  bytes: Bytes | undefined,
): Algo | undefined {
  if (!bytes) return undefined;
  const [b, a, c] = layouts;
  const room = new Uint8Array(RESULT.bytes);
  const status = library.cublasLtMatmulAlgoCheck(
    ...[handle, description, b, a, c, c] as const,
    ...[bytes, room] as const,
  );
  if (status !== 0) return undefined;
  const most = gemm.workspace?.bytes ?? 0;
  const [result] = readResults(RESULT, room, { count: 1, most });
  if (!result) return undefined;
  const { workspaceBytes } = result;
  return { bytes, address: addressOf(bytes.buffer), workspaceBytes };
}

/** The number of algorithms that the heuristic is asked for; it rarely has more. */
const PROPOSALS = 32;

/** Creates a handle whose work goes to `stream`. */
export function createCublaslt(library: Cublaslt, stream: bigint): LtHandle {
  return createLt({
    library,
    numbers: NUMBERS,
    proposals: PROPOSALS,
    describe: (algo) => describeAlgo(library, algo),
    algorithms: algorithmsOf,
    find: findAlgorithm,
  }, stream);
}
