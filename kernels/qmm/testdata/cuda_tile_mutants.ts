/**
 * Mistakes planted in the tensor-core CUDA kernel of `qmm`, and where they show. Those of how a
 * cluster's sums meet are planted here too.
 *
 * @module
 */

import { type CudaMutant, FOLDED, NARROW, SPLIT } from "./cuda_points.ts";

/** The mistakes. */
export const tileMutants: readonly CudaMutant[] = [
  {
    name: "gathering before a product",
    at: SPLIT,
    file: "qmm.cu",
    from: "    gather();\n    step(",
    to: "    step(",
  },
  {
    name: "gathering after a product",
    at: SPLIT,
    file: "qmm.cu",
    from: "(KS / GROUP));\n    gather();",
    to: "(KS / GROUP));",
  },
  {
    name: "the barrier within a warp",
    at: FOLDED,
    file: "qmm_ring.cuh",
    from: "if (WN == 1) __syncwarp();",
    to: "if (WN == 1) return;",
  },
  {
    name: "a barrier for each phase",
    at: SPLIT,
    file: "qmm_ring.cuh",
    from: "(1 + (int)threadIdx.x / GANG)",
    to: "(1)",
  },
  {
    name: "a wait for copies",
    at: SPLIT,
    file: "qmm.cu",
    from: "    wait_copies<STAGES - 1>();\n    gather();",
    to: "    gather();",
  },
  {
    name: "a wait for the oldest stage",
    at: SPLIT,
    file: "qmm.cu",
    from: "    wait_copies<STAGES - 1>();\n    gather();",
    to: "    wait_copies<STAGES>();\n    gather();",
  },
  {
    name: "one stage",
    at: SPLIT,
    file: "qmm.cu",
    from: "stage + 1 == STAGES ?",
    to: "stage + 2 == STAGES ?",
  },
  {
    name: "a wait for scales",
    at: FOLDED,
    file: "qmm.cu",
    from: "  wait_copies<STAGES - 1>();\n  __syncthreads();\n",
    to: "  __syncthreads();\n",
  },
  {
    name: "the barrier behind scales",
    at: SPLIT,
    file: "qmm.cu",
    from: "  wait_copies<STAGES - 1>();\n  __syncthreads();\n",
    to: "  wait_copies<STAGES - 1>();\n",
  },
  {
    name: "the barrier between ring and sums",
    at: SPLIT,
    file: "qmm.cu",
    from: "  __syncthreads();\n  float* sums",
    to: "  float* sums",
  },
  {
    name: "the barrier behind sums",
    at: SPLIT,
    file: "qmm.cu",
    from: "PITCH_S);\n  __syncthreads();",
    to: "PITCH_S);",
  },
  {
    name: "scales of its own group",
    at: SPLIT,
    file: "qmm.cu",
    from: "table, s * (KS / GROUP))",
    to: "table, s * (KS / GROUP) + 1)",
  },
  {
    name: "the first group's place in its chunk",
    at: FOLDED,
    file: "qmm_table.cuh",
    from: "(skip + group) *",
    to: "group *",
  },
  {
    name: "the end of a row of words",
    at: NARROW,
    file: "qmm_ring.cuh",
    from: "first + byte < bytes",
    to: "true",
  },
  {
    name: "the end of a row of x",
    at: SPLIT,
    file: "qmm_ring.cuh",
    from: "col < K);",
    to: "true);",
  },
  {
    name: "x in the order of codes",
    at: SPLIT,
    file: "octet.cuh",
    from: "b[0] = __byte_perm(x.x, x.z, 0x5410)",
    to: "b[0] = __byte_perm(x.y, x.w, 0x5410)",
  },
  {
    name: "the place of a code in its second word",
    at: NARROW,
    file: "qmm_product.cuh",
    from: "v[0][1] = b >> from % 4 * 8;",
    to: "v[0][1] = b;",
  },
  {
    name: "scales of the lane's own group",
    at: FOLDED,
    file: "qmm_product.cuh",
    from: "group + lane.t",
    to: "group",
  },
  {
    name: "what codes are offset by",
    at: SPLIT,
    file: "octet.cuh",
    from: "bias - Kind<T>::OFFSET * scale",
    to: "bias",
  },
  {
    name: "the wait for the cluster",
    at: SPLIT,
    file: "mailbox.cuh",
    from: "if (CLUSTER > 1) cluster_wait();",
    to: "",
  },
  {
    name: "the bytes of every sender",
    at: SPLIT,
    file: "mailbox.cuh",
    from: "CLUSTER * own(units) * 16)",
    to: "own(units) * 16)",
  },
  {
    name: "the number of its own units",
    at: FOLDED,
    file: "mailbox.cuh",
    from: "CLUSTER * own(units) * 16)",
    to: "CLUSTER * apart * 16)",
  },
  {
    name: "a wait for bytes",
    at: SPLIT,
    file: "mailbox.cuh",
    from: "  box.receive();\n",
    to: "",
  },
  {
    name: "a place for each sender",
    at: SPLIT,
    file: "mailbox.cuh",
    from: "(rank * apart + unit / CLUSTER)",
    to: "(unit / CLUSTER)",
  },
];
