/**
 * The peers of `grouped-matmul`: lists of NVFP4 products in PyTorch.
 *
 * @module
 */

import type { PeerOp } from "../../../bench/model/peer.ts";
import type { Problem } from "../../../bench/model/suite.ts";

/** The greatest relative error of rounding to the 8 significant bits of bf16. */
const BF16_ROUNDING = 2 ** -8;

/** The sizes of the products that have rows, in the order of the operands. */
function groupsOf({ operands }: Problem): [number, number, number][] {
  const weights = operands.filter(({ name }) => /^B\d/.test(name));
  // A byte has two elements.
  return operands.filter(({ name }) => /^A\d/.test(name))
    .map(({ rows, cols }, i) => [rows, weights[i]!.rows, 2 * cols]);
}

/** The reason why one call does not take a list. */
function noGroupedMm(problem: Problem): string | undefined {
  if (problem.key.layout !== "nt") {
    return "_grouped_mm stores rows of N, and here results are M-major";
  }
  const shapes = new Set(groupsOf(problem).map(([, n, k]) => `${n} ${k}`));
  return shapes.size === 1
    ? undefined
    : "_grouped_mm takes products of one N and one K";
}

/** Operands are decoded to 16 bits before the clock starts. */
export const peers: PeerOp = {
  module: new URL("./grouped.py", import.meta.url),
  peers: [
    {
      name: "torch-eager",
      idea:
        "PyTorch: an fp16 mm for each problem, decoded before the clock starts",
      note:
        "operands are of 16 bits, decoded before the clock starts; sums in fp32",
      kind: "call",
    },
    {
      name: "torch-grouped-mm",
      idea: "_grouped_mm in bf16, one call, decoded before the clock starts",
      note:
        "operands are of 16 bits, decoded before the clock starts; results are bf16 and may be off by its rounding as well",
      result: { type: "bf16", rtol: BF16_ROUNDING },
      kind: "call",
    },
  ],
  unsupported: ({ name }, problem) =>
    name === "torch-grouped-mm" ? noGroupedMm(problem) : undefined,
  fields: (problem) => ({
    groups: groupsOf(problem),
    m_major: problem.key.layout !== "nt",
  }),
};
