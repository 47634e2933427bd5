/**
 * Mistakes in the kernels whose producer warp fills a ring.
 *
 * @module
 */

import type { Mutant } from "./cuda_mutants.ts";

const COPY_A = "bytes, full, again, (1 << CLUSTER) - 1)";

/** Of ring.cu and ring_consume.cuh. */
export const ringMutants: readonly Mutant[] = [
  [
    "the wait for a free stage",
    "ring",
    "ring.cu",
    "        barrier_wait(full + 8, place.phase ^ 1);\n",
    "",
  ],
  [
    "the bytes of one operand's scales",
    "ring",
    "ring.cu",
    "+ 2 * scales);",
    "+ scales);",
  ],
  [
    "the meeting of lanes before their copies",
    "ring",
    "ring.cu",
    "      __syncwarp();\n      for (int r = rank",
    "      for (int r = rank",
  ],
  [
    "the memory of one stage",
    "ring",
    "ring.cu",
    "to = base + STAGE * place.index;",
    "to = base + STAGE * (place.index % (STAGES - 1));",
  ],
  [
    "the fence after the barriers are made",
    "ring",
    "ring.cu",
    "    barrier_made();\n",
    "",
  ],
  [
    "the wait for an empty slot",
    "ring",
    "ring.cu",
    "    barrier_wait(empty(), place.phase ^ 1);\n",
    "",
  ],
  [
    "a counter that is 0 again",
    "ring",
    "ring.cu",
    "atomicInc(counter, last)",
    "atomicInc(counter, last + 1)",
  ],
  [
    "the wait for a full stage",
    "ring",
    "ring_consume.cuh",
    "      barrier_wait(full, place.phase);\n",
    "",
  ],
  [
    "the phase of a full stage",
    "ring",
    "ring_consume.cuh",
    "barrier_wait(full, place.phase);",
    "barrier_wait(full, place.phase ^ 1);",
  ],
  [
    "the release of a stage",
    "ring",
    "ring_consume.cuh",
    "        if (lane == 0) barrier_arrive(full + 8);",
    "        ;",
  ],
  [
    "the meeting of lanes before a release",
    "ring",
    "ring_consume.cuh",
    "      __syncwarp();\n      // Lane r",
    "      // Lane r",
  ],
  [
    "one block of the copies' mask",
    "ringPair",
    "ring.cu",
    `to + r * LINE, from, ${COPY_A}`,
    "to + r * LINE, from, bytes, full, again, 1 << rank)",
  ],
  [
    "the cluster's meeting at the end",
    "ringPair",
    "ring.cu",
    "    cluster_sync(); //",
    "    //",
  ],
  [
    "the cluster's meeting at the start",
    "ringPair",
    "ring.cu",
    "  else cluster_sync();\n  List",
    "  else __syncthreads();\n  List",
  ],
  [
    "the bytes of a slot",
    "ringPair",
    "ring.cu",
    "barrier_expect(tickets.full(), 4)",
    "barrier_expect(tickets.full(), 8)",
  ],
  [
    "the guard of rows less than none",
    "ringPair",
    "ring.cu",
    "max(0, min(BN, p.n - n0))",
    "min(BN, p.n - n0)",
  ],
  [
    "the guard of scales that are not there",
    "ringFour",
    "ring.cu",
    "rowsB ? n0 / 128 : 0",
    "n0 / 128",
  ],
  [
    "the other blocks' arrivals",
    "ringPair",
    "ring.cu",
    "16 * s + 8, WARPS * CLUSTER)",
    "16 * s + 8, WARPS)",
  ],
];
