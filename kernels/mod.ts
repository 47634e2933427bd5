/**
 * The registry of operations: each with its folder, all its kernels and its peers.
 *
 * Tests, the workflow's suites, READMEs and peers go through it. A folder has `op.ts`, `mod.ts` and
 * `README.md`, and `point.ts`, `reference.ts` and `mutants.ts` where one file is too few; kernels by
 * backend in `cuda/`, `hip/`, `metal/`, `cpu/` and `torch/`; and for tests `testdata/cases.ts` and
 * `testdata/<backend>_mutants.ts`.
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
];
