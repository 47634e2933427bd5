/**
 * What AITER calls the kernels of the split-K family.
 *
 * @module
 */

import type { SplitkConfig } from "./config.ts";

/** The name that AITER registers such a kernel by, on a device of `arch`. */
export function registeredName(
  type: "bf16" | "f16",
  c: SplitkConfig,
  arch: string,
): string {
  const flag = (on: number | boolean) => on ? "True" : "False";
  return [
    `flydsl_gemm${c.STAGES}_a${type}_w${type}_${type}`,
    `t${c.TM}x${c.TN}x${c.TK}_split_k${c.SPLIT}`,
    `block_m_warp${c.WAVES_M}_block_n_warp${c.WAVES_N}_block_k_warp${c.WAVES_K}`,
    `async_copy${flag(c.ASYNC)}_b_to_lds${flag(c.B_TO_LDS)}`,
    `b_preshuffle${flag(false)}_c_to_lds${flag(true)}_${arch}`,
  ].join("_");
}

/** The name of its compiled form. */
export function jitName(
  type: "bf16" | "f16",
  c: SplitkConfig,
  bias: boolean,
): string {
  return `hgemm_${type}_${c.TM}x${c.TN}x${c.TK}x${c.STAGES}_SPK${c.SPLIT}_W${c.WAVES_M}x${c.WAVES_N}x${c.WAVES_K}_BLDS${c.B_TO_LDS}_TN_AS${c.ASYNC}${
    bias ? "_BIAS" : ""
  }`;
}
