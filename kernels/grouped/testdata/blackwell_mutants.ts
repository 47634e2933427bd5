/**
 * Mutants of blackwell.cu, which the model of its instructions must catch.
 *
 * @module
 */

/** By their names. */
export const blackwellMutants: readonly string[] = [
  ...["blackwell_half_swizzle", "blackwell_half_shift"],
  ...["blackwell_late_wait", "blackwell_no_proxy_fence"],
];
