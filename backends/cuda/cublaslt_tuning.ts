/**
 * The algorithms of cuBLASLt that a search times, and how one is found again by what it
 * calls itself.
 *
 * They are what the heuristic proposes, and the best of these with K split otherwise. The
 * library documents an algorithm's 64 bytes for its own version only; a description outlives
 * them, and says what won.
 *
 * @module
 */

import type { FusedGemm } from "../../bench/device/blas.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import { type Algo, readResults, resultRoom } from "../shared/blas/calls.ts";
import {
  createLt,
  type LtHandle,
  type Site as LtSite,
} from "../shared/blas/handle.ts";
import { SCALE_TYPE, typeOf } from "../shared/blas/gemm.ts";
import {
  type Cublaslt,
  CUBLASLT_NUMBERS,
  describeAlgo,
  withAttributes,
} from "./cublaslt.ts";
import { addressOf, type Bytes } from "../shared/ffi.ts";

/** The number of proposals that are also tried with other splits of K. */
const FAMILIES = 6;
const SPLITS = [2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64];
/** Shorter slices of K are no work for a tile. */
const LEAST_SLICE = 64;
const RESULT = CUBLASLT_NUMBERS.result;

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
    ...[handle, CUBLASLT_NUMBERS.blas.compute32f, SCALE_TYPE] as const,
    ...[typeOf(b), typeOf(a), typeOf(c), typeOf(c)] as const,
    ...[algo, bytes] as const,
  );
  return status === 0 ? bytes : undefined;
}

/** The algorithm `bytes`, if it can compute the product within its workspace. */
function checked(
  { library, handle, gemm, product }: Site,
  bytes: Bytes | undefined,
): Algo | undefined {
  if (!bytes) return undefined;
  const { description, first, second, output } = product;
  const room = resultRoom(RESULT, 1);
  const status = library.cublasLtMatmulAlgoCheck(
    ...[handle, description] as const,
    ...[first, second, output, output] as const,
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
    numbers: CUBLASLT_NUMBERS,
    proposals: PROPOSALS,
    describe: (algo) => describeAlgo(library, algo),
    algorithms: algorithmsOf,
    find: findAlgorithm,
  }, stream);
}
