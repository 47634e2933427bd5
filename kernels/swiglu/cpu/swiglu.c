/* C = silu(X · W1ᵀ) * (X · W2ᵀ), X[m,k], W1[n,k], W2[n,k], C[m,n], all of one 16-bit type, row-major.
 *
 * naive      plain loops, fp32 sums, one thread
 * fused      rows of both weights converted once for all rows of X, vectors, threads
 * reference  double precision, unrounded doubles
 */
#include <math.h>

#include "../../common/dot_panel.h"
#include "../../common/threads.h"
#include "../../matmul/cpu/element.h"

#define PAIRS (QUAD / 2) /* columns of C that are multiplied together, each of two weights' rows */

typedef struct {
  const uint16_t *x, *w1, *w2;
  void *c;
  int m, n, k, type;
  float *wide; /* X [m][k] */
  int tasks;
} Job;

static inline float joined(float gate, float up) { return gate / (1 + expf(-gate)) * up; }

void naive(const uint16_t *x, const uint16_t *w1, const uint16_t *w2, uint16_t *c, int m, int n,
           int k, int type) {
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      float gate = 0, up = 0;
      for (long p = 0; p < k; p++) {
        const float a = load_float((const char *)(x + i * k + p), type);
        gate += a * load_float((const char *)(w1 + j * k + p), type);
        up += a * load_float((const char *)(w2 + j * k + p), type);
      }
      store_float((char *)(c + i * n + j), type, joined(gate, up));
    }
}

INLINED void convert(const uint16_t *from, int type, long count, float *to) {
  if (type == BF16)
    for (long i = 0; i < count; i++) to[i] = from_bf16(from[i]);
  else
    for (long i = 0; i < count; i++) to[i] = from_f16(from[i]);
}

FASTEST static void widen_rows(const void *arg, int task) {
  const Job *job = arg;
  for (long i = task; i < job->m; i += job->tasks)
    convert(job->x + i * job->k, job->type, job->k, job->wide + i * job->k);
}

FASTEST static void multiply_pairs(const void *arg, int task) {
  const Job *job = arg;
  const long m = job->m, n = job->n, k = job->k;
  static _Thread_local float panel[QUAD][DEPTH], sums[CHUNK][QUAD];
  for (long j0 = task * PAIRS; j0 < n; j0 += (long)job->tasks * PAIRS)
    for (long i0 = 0; i0 < m; i0 += CHUNK) {
      const long rows = m - i0 < CHUNK ? m - i0 : CHUNK, cols = n - j0 < PAIRS ? n - j0 : PAIRS;
      memset(sums, 0, sizeof sums);
      for (long k0 = 0; k0 < k; k0 += DEPTH) {
        const long depth = k - k0 < DEPTH ? k - k0 : DEPTH;
        for (long j = 0; j < cols; j++) {
          convert(job->w1 + (j0 + j) * k + k0, job->type, depth, panel[j]);
          convert(job->w2 + (j0 + j) * k + k0, job->type, depth, panel[PAIRS + j]);
        }
        all_dots(rows, job->wide + i0 * k + k0, k, panel, depth, sums);
      }
      for (long i = 0; i < rows; i++)
        for (long j = 0; j < cols; j++)
          store_float((char *)((uint16_t *)job->c + (i0 + i) * n + j0 + j), job->type,
                      joined(sums[i][j], sums[i][PAIRS + j]));
    }
}

void fused(const uint16_t *x, const uint16_t *w1, const uint16_t *w2, uint16_t *c, int m, int n,
           int k, int type, float *wide, int threads) {
  Job job = {x, w1, w2, c, m, n, k, type, wide, least(m, MAX_TASKS)};
  run_tasks(threads, job.tasks, widen_rows, &job);
  job.tasks = least((n + PAIRS - 1) / PAIRS, MAX_TASKS);
  run_tasks(threads, job.tasks, multiply_pairs, &job);
}

static void exact_columns(const void *arg, int task) {
  const Job *job = arg;
  const long k = job->k;
  for (long j = task; j < job->n; j += job->tasks)
    for (long i = 0; i < job->m; i++) {
      double gate = 0, up = 0; /* of exact products */
      for (long p = 0; p < k; p++) {
        const double a = load_float((const char *)(job->x + i * k + p), job->type);
        gate += a * load_float((const char *)(job->w1 + j * k + p), job->type);
        up += a * load_float((const char *)(job->w2 + j * k + p), job->type);
      }
      ((double *)job->c)[i * job->n + j] = gate / (1 + exp(-gate)) * up;
    }
}

void reference(const uint16_t *x, const uint16_t *w1, const uint16_t *w2, double *c, int m, int n,
               int k, int type, int threads) {
  const Job job = {x, w1, w2, c, m, n, k, type, NULL, least(n, MAX_TASKS)};
  run_tasks(threads, job.tasks, exact_columns, &job);
}
