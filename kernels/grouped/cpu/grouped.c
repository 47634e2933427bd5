/* C = A . B^T for each problem of a list: rows of B are decoded block by block in the cache.
 *
 * The blocks of all problems are one queue, so that a small problem at the end leaves no
 * thread idle. All of A is widened to fp32 first: it is read again for every block. Sums are
 * in the order of K whatever the threads are.
 */
#include <string.h>

#include "../../../bench/formats/formats.h"
#include "../../common/threads.h"
#include "../../matmul/cpu/element.h"
#include "../problem.h"

#define DEPTH 1024  /* elements of a row that are decoded at a time: whole blocks of 16 */
#define MAX_ROWS 64 /* rows of B of a block, at most */
#define CHUNK 128   /* rows of A whose sums are held at a time */
#define LANES 16
#define QUAD 4      /* rows of B that the innermost loop multiplies by ROWS of A */
#define ROWS 4

#if defined(__x86_64__) && !defined(__clang__)
/* The same code for three instruction sets; the loader takes the best that this CPU has. */
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif

typedef float Vec __attribute__((vector_size(4 * LANES), aligned(4)));
typedef uint32_t Codes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES), aligned(4)));

typedef struct {
  const Problem *problems;
  float *wide; /* A of all problems, one after another */
  int count, mmajor, rows, tasks;
} Job;

/* `count` elements of row `row` from `col` on, whole blocks, each of two words of eight codes.
 * Twice a magnitude is four bits of a constant; as a float it is a whole number. */
CLONES static void decode(const unsigned char *codes, const unsigned char *scales, long row,
                          int col, int count, int k, float *to) {
  const Codes shift = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};
  const unsigned char *from = codes + (row * k + col) / 2;
  for (int i = 0; i < count; i += 16) {
    const float scale = decode_e4m3(scales[blocked_offset((int)row, (col + i) / 16, k / 16)]);
    uint32_t w[2];
    memcpy(w, from + i / 2, sizeof w);
    const Codes words = {w[0], w[0], w[0], w[0], w[0], w[0], w[0], w[0],
                         w[1], w[1], w[1], w[1], w[1], w[1], w[1], w[1]};
    const Codes code = words >> shift & 15;
    const Codes twice = ((Codes){0} + 0xc8643210) >> ((code & 7) << 2) & 15;
    const Vec x = __builtin_convertvector((Ints)twice, Vec) * (0.5f * scale);
    /* The sign of the scale, or of a NaN, is there already. */
    *(Vec *)(to + i) = (Vec)((Codes)x ^ (code & 8) << 28);
  }
}

/* Adds the products of ROWS rows of A and QUAD rows of B over `depth`; rows that are not there
 * are the last that is, and are left out in the end. */
CLONES static void dots(int rows, const float *a, long stride, const float *b, int depth,
                        float *sums) {
  const float *x[ROWS];
  for (int i = 0; i < ROWS; i++) x[i] = a + (i < rows ? i : rows - 1) * stride;
  Vec sum[ROWS][QUAD] = {{{0}}};
  for (int p = 0; p < depth; p += LANES) {
    Vec w[QUAD];
    for (int j = 0; j < QUAD; j++) w[j] = *(const Vec *)(b + j * DEPTH + p);
    for (int i = 0; i < ROWS; i++) {
      const Vec u = *(const Vec *)(x[i] + p);
      for (int j = 0; j < QUAD; j++) sum[i][j] += u * w[j];
    }
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < QUAD; j++) {
      float lanes[LANES];
      memcpy(lanes, &sum[i][j], sizeof lanes);
      for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lanes[l] += lanes[l + half];
      sums[i * MAX_ROWS + j] += lanes[0];
    }
}

static int blocks_of(const Problem *p, int rows) { return (p->n + rows - 1) / rows; }

static void multiply(const Job *job, const Problem *p, const float *wide, int block) {
  float panel[MAX_ROWS * DEPTH], sums[CHUNK * MAX_ROWS];
  const int j0 = block * job->rows, left = p->n - j0;
  const int cols = left < job->rows ? left : job->rows;
  const int whole = (cols + QUAD - 1) / QUAD * QUAD;
  for (int i0 = 0; i0 < p->m; i0 += CHUNK) {
    const int rows = p->m - i0 < CHUNK ? p->m - i0 : CHUNK;
    memset(sums, 0, sizeof(float) * MAX_ROWS * (size_t)rows);
    for (int k0 = 0; k0 < p->k; k0 += DEPTH) {
      const int depth = p->k - k0 < DEPTH ? p->k - k0 : DEPTH;
      for (int j = 0; j < whole; j++) {
        if (j < cols) decode(p->b, p->sfb, j0 + j, k0, depth, p->k, panel + j * DEPTH);
        else memset(panel + j * DEPTH, 0, sizeof(float) * (size_t)depth);
      }
      for (int i = 0; i < rows; i += ROWS)
        for (int j = 0; j < whole; j += QUAD)
          dots(rows - i < ROWS ? rows - i : ROWS, wide + (long)(i0 + i) * p->k + k0, p->k,
               panel + j * DEPTH, depth, sums + i * MAX_ROWS + j);
    }
    uint16_t *c = p->c;
    for (long i = i0; i < i0 + rows; i++)
      for (long j = 0; j < cols; j++)
        c[job->mmajor ? (j0 + j) * p->m + i : i * p->n + j0 + j] =
            to_f16(sums[(i - i0) * MAX_ROWS + j]);
  }
}

static void widen_task(const void *arg, int task) {
  const Job *job = arg;
  float *to = job->wide;
  long row = 0; /* of all problems: task t has the rows t, t + tasks, ... */
  for (const Problem *p = job->problems; p < job->problems + job->count; p++)
    for (int i = 0; i < p->m; i++, row++, to += p->k)
      if (row % job->tasks == task) decode(p->a, p->sfa, i, 0, p->k, p->k, to);
}

static void multiply_task(const void *arg, int task) {
  const Job *job = arg;
  const float *wide = job->wide;
  int first = 0; /* block of the queue */
  for (const Problem *p = job->problems; p < job->problems + job->count; p++) {
    const int blocks = blocks_of(p, job->rows);
    const int skip = (task - first % job->tasks + job->tasks) % job->tasks;
    for (int block = skip; block < blocks; block += job->tasks) multiply(job, p, wide, block);
    first += blocks;
    wide += (long)p->m * p->k;
  }
}

/* `wide`: floats for the A of all problems. `rows`: of B in a block, at most MAX_ROWS. */
void grouped(const Problem *problems, float *wide, int count, int mmajor, int rows,
             int threads) {
  Job job = {problems, wide, count, mmajor, rows, threads};
  run_tasks(threads, threads, widen_task, &job);
  int blocks = 0;
  for (const Problem *p = problems; p < problems + count; p++) blocks += blocks_of(p, rows);
  job.tasks = blocks < MAX_TASKS ? blocks : MAX_TASKS;
  run_tasks(threads, job.tasks, multiply_task, &job);
}
