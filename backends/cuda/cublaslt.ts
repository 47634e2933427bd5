/**
 * NVIDIA's matrix library with epilogues and a list of algorithms to choose from.
 *
 * @module
 */

import { createLt, type LtHandle } from "../shared/blaslt/handle.ts";
import { describeAlgo } from "./cublaslt_algo.ts";
import { type Cublaslt, CUBLASLT_NUMBERS } from "./cublaslt_library.ts";
import { algorithmsOf, findAlgorithm } from "./cublaslt_tuning.ts";

/** How many algorithms the heuristic is asked for; it has rarely more. */
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
