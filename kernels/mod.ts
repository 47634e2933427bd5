/**
 * The registry of operations: each with its folder, all its kernels and its peers.
 *
 * The tests of all operations, the suites of the workflow and the peers read it. The folder of an
 * operation has, and `mod_test.ts` requires:
 *
 * - `op.ts`: axes, operands, reference, tolerance and mutants of the operation;
 * - `mod.ts`: exports the operation and `kernels`, the list of its kernels;
 * - `README.md`: at most 300 words, and a line for each kernel;
 * - `testdata/cases.ts`: exports `cases`, an `OpCases` of `kernels/testdata/cases.ts`, which may be
 *   `{}`.
 *
 * It also has, where they apply: `point.ts` and `reference.ts`, parts of a large
 * `op.ts`; a folder for each backend, `cpu/`, `cuda/`, `hip/` and `metal/`;
 * `testdata/<backend>_mutants.ts`, required for each GPU backend with kernels of our own; and
 * `torch/`, its peers. A folder and its operation may have different names.
 *
 * @module
 */

import type { Kernel } from "../bench/model/kernel_spec.ts";
import type { Op } from "../bench/model/op.ts";
import type { PeerOp } from "../bench/model/peer.ts";
import { groupedMatmul, kernels as groupedKernels } from "./grouped/mod.ts";
import { peers as groupedPeers } from "./grouped/torch/peers.ts";
import { kernels as matmulKernels, matmul } from "./matmul/mod.ts";
import { peers as matmulPeers } from "./matmul/torch/peers.ts";
import { kernels as qmmKernels, qmm } from "./qmm/mod.ts";
import { peers as qmmPeers } from "./qmm/torch/peers.ts";
import { kernels as scaledKernels, scaledMatmul } from "./scaled/mod.ts";
import { peers as scaledPeers } from "./scaled/torch/peers.ts";
import { kernels as swigluKernels, swiglu } from "./swiglu/mod.ts";
import { peers as swigluPeers } from "./swiglu/torch/peers.ts";

/** An operation and all its kernels. */
export interface RegisteredOp<P = unknown> {
  /** The name of its folder in `kernels/`. */
  readonly folder: string;
  readonly op: Op<P>;
  readonly kernels: readonly Kernel<P>[];
  /** Its kernels in PyTorch and Triton. @default {none} */
  readonly peers?: PeerOp;
}

/** Every operation. */
export const ops: readonly RegisteredOp[] = [
  {
    folder: "matmul",
    op: matmul,
    kernels: matmulKernels,
    peers: matmulPeers,
  },
  { folder: "qmm", op: qmm, kernels: qmmKernels, peers: qmmPeers },
  {
    folder: "grouped",
    op: groupedMatmul,
    kernels: groupedKernels,
    peers: groupedPeers,
  },
  {
    folder: "scaled",
    op: scaledMatmul,
    kernels: scaledKernels,
    peers: scaledPeers,
  },
  {
    folder: "swiglu",
    op: swiglu,
    kernels: swigluKernels,
    peers: swigluPeers,
  },
];
