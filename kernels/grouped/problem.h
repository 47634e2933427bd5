/* A problem of a list as table.ts writes it, for C and for CUDA: C = A . B^T with A[m,k] and
 * B[n,k] of E2M1 pairs, their E4M3 scales blocked, C of f16.
 */
#ifndef PROBLEM_H
#define PROBLEM_H

typedef struct {
  const unsigned char *a, *sfa, *b, *sfb;
  void *c;
  int m, n, k, unused[3];
} Problem;

#endif
