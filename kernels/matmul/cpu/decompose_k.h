/* What the parts of decompose_k.c share: the job, and how K is cut. */
#ifndef DECOMPOSE_K_H
#define DECOMPOSE_K_H

#include "element.h"

enum { BEST, GENERIC, AVX2, AVX512, AVX512_BF16, NEON }; /* Instruction sets, likewise. */

#define MAX_DEPTH 1024 /* k's of a block, at most */
#define ROW_CHUNK 128  /* rows of A that are converted at a time */
#define MAX_PANEL 64   /* columns of B of a panel, at most */
/* Scratch of a slice: a block of A and a panel of B, as 32-bit units. */
#define SCRATCH(depth) ((size_t)(ROW_CHUNK + MAX_PANEL) * (depth) * 4)

typedef struct {
  const char *a, *b, *bias; /* bias may be null */
  char *c;
  float *partials; /* [slices][m][padded]: the sums of each slice */
  char *scratch;   /* [slices][SCRATCH(depth)] */
  int m, n, k;
  long lda, ldb, ldc; /* elements */
  int type, nt, relu;
  int slices, depth; /* of K; k's of a block */
  long padded;       /* n, rounded up to 16 */
} Job;

/* The first k of slice `s`. Whole blocks of 16, so that vectors and lines are not cut. */
static inline int slice_start(const Job *job, int s) {
  long blocks = (job->k + 15) / 16;
  long start = blocks * s / job->slices * 16;
  return start < job->k ? (int)start : job->k;
}

#endif
