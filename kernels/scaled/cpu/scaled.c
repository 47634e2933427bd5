/* C = scaleA · A · (scaleB · B)ᵀ, E4M3 A[m,k] and B[n,k], bf16 C[m,n], all row-major.
 *
 * naive      plain loops, fp32 sums of a K block of 128 at a time
 * dequant    rows of B decoded into the first-level cache once for all rows of A, vectors, threads
 * reference  double precision, unrounded doubles
 */
#include "../../../bench/formats/formats.h"
#include "../../common/dot_panel.h"
#include "../../common/threads.h"
#include "../../matmul/cpu/element.h"

enum { TENSOR, ROW, BLOCK128 }; /* What has a scale, as op.ts numbers it. */

#define BLOCK 128
#if DEPTH % BLOCK
#error "K is decoded in whole blocks"
#endif

typedef struct {
  const uint8_t *a, *b;
  const float *scale_a, *scale_b;
  void *c;
  int m, n, k, scale;
  float *wide; /* A times its scales [m][k] */
  int tasks;
} Job;

static float scale_of_a(const Job *job, long row, long p) {
  if (job->scale == BLOCK128) return job->scale_a[p / BLOCK * job->m + row];
  return job->scale_a[job->scale == ROW ? row : 0];
}

static float scale_of_b(const Job *job, long row, long p) {
  /* Rows of block scales start at multiples of four. */
  const long blocks = (job->k + BLOCK - 1) / BLOCK, stride = (blocks + 3) / 4 * 4;
  if (job->scale == BLOCK128) return job->scale_b[row / BLOCK * stride + p / BLOCK];
  return job->scale_b[job->scale == ROW ? row : 0];
}

void naive(const uint8_t *a, const uint8_t *b, const float *scale_a, const float *scale_b,
           uint16_t *c, int m, int n, int k, int scale) {
  const Job job = {a, b, scale_a, scale_b, c, m, n, k, scale, NULL, 0};
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      float sum = 0;
      for (long p0 = 0; p0 < k; p0 += BLOCK) {
        float part = 0;
        for (long p = p0; p < k && p < p0 + BLOCK; p++)
          part += decode_e4m3(a[i * k + p]) * decode_e4m3(b[j * k + p]);
        sum += part * (scale_of_a(&job, i, p0) * scale_of_b(&job, j, p0));
      }
      c[i * n + j] = to_bf16(sum);
    }
}

/* `count` values of one scale. */
INLINED void decode(const uint8_t *from, float scale, long count, float *to) {
  for (long i = 0; i < count; i++) to[i] = decode_e4m3(from[i]) * scale;
}

FASTEST static void widen_rows(const void *arg, int task) {
  const Job *job = arg;
  for (long i = task; i < job->m; i += job->tasks)
    for (long p = 0; p < job->k; p += BLOCK)
      decode(job->a + i * job->k + p, scale_of_a(job, i, p),
             job->k - p < BLOCK ? job->k - p : BLOCK, job->wide + i * job->k + p);
}

FASTEST static void multiply_quads(const void *arg, int task) {
  const Job *job = arg;
  const long m = job->m, n = job->n, k = job->k;
  static _Thread_local float panel[QUAD][DEPTH], sums[CHUNK][QUAD];
  for (long j0 = task * QUAD; j0 < n; j0 += (long)job->tasks * QUAD)
    for (long i0 = 0; i0 < m; i0 += CHUNK) {
      const long rows = m - i0 < CHUNK ? m - i0 : CHUNK, cols = n - j0 < QUAD ? n - j0 : QUAD;
      memset(sums, 0, sizeof sums);
      for (long k0 = 0; k0 < k; k0 += DEPTH) {
        const long depth = k - k0 < DEPTH ? k - k0 : DEPTH;
        for (long j = 0; j < cols; j++)
          for (long p = 0; p < depth; p += BLOCK)
            decode(job->b + (j0 + j) * k + k0 + p, scale_of_b(job, j0 + j, k0 + p),
                   depth - p < BLOCK ? depth - p : BLOCK, panel[j] + p);
        all_dots(rows, job->wide + i0 * k + k0, k, panel, depth, sums);
      }
      for (long i = 0; i < rows; i++)
        for (long j = 0; j < cols; j++)
          ((uint16_t *)job->c)[(i0 + i) * n + j0 + j] = to_bf16(sums[i][j]);
    }
}

void dequant(const uint8_t *a, const uint8_t *b, const float *scale_a, const float *scale_b,
             uint16_t *c, int m, int n, int k, int scale, float *wide, int threads) {
  Job job = {a, b, scale_a, scale_b, c, m, n, k, scale, wide, 0};
  job.tasks = least(m, MAX_TASKS);
  run_tasks(threads, job.tasks, widen_rows, &job);
  job.tasks = least((n + QUAD - 1) / QUAD, MAX_TASKS);
  run_tasks(threads, job.tasks, multiply_quads, &job);
}

static void exact_columns(const void *arg, int task) {
  const Job *job = arg;
  const long k = job->k;
  double value[256];
  for (int code = 0; code < 256; code++) value[code] = decode_e4m3((unsigned)code);
  for (long j = task; j < job->n; j += job->tasks)
    for (long i = 0; i < job->m; i++) {
      double sum = 0;
      for (long p0 = 0; p0 < k; p0 += BLOCK) {
        double part = 0; /* exact: products of 8 bits */
        for (long p = p0; p < k && p < p0 + BLOCK; p++)
          part += value[job->a[i * k + p]] * value[job->b[j * k + p]];
        sum += part * scale_of_a(job, i, p0) * scale_of_b(job, j, p0);
      }
      ((double *)job->c)[i * job->n + j] = sum;
    }
}

void reference(const uint8_t *a, const uint8_t *b, const float *scale_a, const float *scale_b,
               double *c, int m, int n, int k, int scale, int threads) {
  const Job job = {a, b, scale_a, scale_b, c, m, n, k, scale, NULL, least(n, MAX_TASKS)};
  run_tasks(threads, job.tasks, exact_columns, &job);
}
