/* What the parts of qmm.c share: the job, and the sizes of what a thread holds. */
#ifndef QMM_H
#define QMM_H

#include "weight.h"

enum { DENSE = NVFP4 + 1 };                /* A mode of this kernel's own: 16-bit weights. */
enum { BEST, GENERIC, AVX2, AVX512, NEON }; /* Instruction sets, as the caller numbers them. */

#define DEPTH 1024    /* weights of a row that are decoded at a time: whole groups */
#define MAX_ROWS 64   /* rows of W of a block, at most */
#define COLUMNS 128   /* columns of W of a block, where it is not transposed: whole groups */
#define STEPS 16      /* its rows that are decoded at a time */
#define CHUNK 128     /* rows of x whose sums are held at a time */
#define QUAD 4        /* rows of W that the micro-kernel multiplies by rows of x */

typedef struct {
  const char *x;
  float *wide; /* x as fp32 [m][k] */
  char *y;
  Weights weights; /* w holds 16-bit numbers where the mode is DENSE */
  int m, n, k;
  int rows;          /* of W in a block */
  int blocks, tasks; /* task t has the blocks t, t + tasks, ... */
} Job;

#endif
