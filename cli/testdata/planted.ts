/** A kernel of C that is made slower. */

/** A suite of one kernel of C, whose source is `planted.c` beside it. */
export const SUITE = `
import { defineLaunch, defineSuite, matmul } from "mnkbench";

export default defineSuite({
  name: "planted",
  title: "a kernel that is made slower",
  op: matmul,
  axes: { m: [8], k: [512] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [
    defineLaunch(matmul, {
      name: "planted",
      backend: "cpu",
      source: new URL("./planted.c", import.meta.url),
      entry: "product",
      shape: ({ m, n }) => ({ grid: [m, 1, 1], block: [n, 1, 1] }),
    }),
  ],
  baselines: ["planted"],
});
`;

/**
 * A kernel that takes so many milliseconds, by a wait: a busy machine makes it longer by little.
 *
 * @param version Makes it another source.
 */
export const SOURCE = (ms: number, version = 0): string =>
  `// ${version}
#define _POSIX_C_SOURCE 200112L
#include <time.h>

void product(const float *A, const float *B, float *C, int M, int N, int K, int lda,
             int ldb, int ldc) {
  struct timespec wait = {0, ${ms * 1e6}};
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = sum;
    }
  nanosleep(&wait, 0);
}
`;
