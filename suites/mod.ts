/**
 * The built-in suites, in the order of listings, sweeps and tables.
 *
 * @module
 */

import type { Suite } from "../bench/suite.ts";
import epilogueBf16 from "./epilogue-bf16.ts";
import matmulBf16 from "./matmul-bf16.ts";
import matmulFp16 from "./matmul-fp16.ts";
import matmulFp32 from "./matmul-fp32.ts";

/** Every suite of this folder. */
export const suites: readonly Suite[] = [
  epilogueBf16,
  matmulBf16,
  matmulFp16,
  matmulFp32,
];
