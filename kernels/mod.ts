/**
 * The registry of operations: each with its kernels and peers.
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

/** An operation and all its kernels. */
export interface RegisteredOp<P = unknown> {
  readonly op: Op<P>;
  readonly kernels: readonly Kernel<P>[];
  /** What PyTorch and Triton offer for it. @default {nothing} */
  readonly peers?: PeerOp;
}

/** Every operation. */
export const ops: readonly RegisteredOp[] = [
  { op: matmul, kernels: matmulKernels, peers: matmulPeers },
  { op: qmm, kernels: qmmKernels, peers: qmmPeers },
  { op: groupedMatmul, kernels: groupedKernels, peers: groupedPeers },
];
