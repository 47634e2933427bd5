/* Plain loops: weights to and from their stored form, and the right answer. */
#include "../../common/threads.h"
#include "weight.h"

/* Conversions are bit for bit those of bench/formats. */

/* Rounded to nearest even; NaN, whatever its sign, to the code that the host writes. */
static void put(char *to, int type, float x) {
  store_float(to, type, x);
  if (x != x) *(uint16_t *)to = type == BF16 ? 0x7fc0 : 0x7e00;
}

/* `to[rows, cols]`: what stored weights stand for, in fp32 and then rounded to `type`. */
void dequantise(const unsigned *w, const char *scales, const char *biases, char *to, int rows,
                int cols, int mode, int bits, int group, int type) {
  const Weights weights = {w, scales, biases, cols, mode, bits, group, type};
  for (long row = 0; row < rows; row++)
    for (long col = 0; col < cols; col++)
      put(to + 2 * (row * cols + col), type, weight_at(&weights, row, col));
}

/* The inverse: `from` has `type` and whole groups a row. */
void quantise(const char *from, unsigned *w, char *scales, char *biases, int rows, int cols,
              int mode, int bits, int group, int type) {
  const long groups = (long)rows * cols / group;
  const int words = group * bits / 32;
  for (long g = 0; g < groups; g++) {
    float values[MAX_GROUP], scale, bias;
    for (int i = 0; i < group; i++) values[i] = load_float(from + 2 * (g * group + i), type);
    memset(w + g * words, 0, 4 * (size_t)words);
    if (mode == AFFINE) {
      quantise_affine(values, bits, group, w + g * words, &scale, &bias);
      put(scales + 2 * g, type, scale);
      put(biases + 2 * g, type, bias);
    } else scales[g] = (char)quantise_microscale(values, mode, group, w + g * words);
  }
}

/* The right answer: y = x · Wᵀ, or x · W where not `transposed`, products and sums in
 * double precision, unrounded doubles. x[m,k] and y[m,n] row-major; W is stored as [n,k],
 * or [k,n]. Plain loops, so that a person can see that they are right; but sums of a block
 * of y at a time and in threads, or large points would take hours.
 */

#define COLS 32  /* of y in a block */
#define ROWS 128 /* of y whose sums are held at a time */

typedef struct {
  const char *x;
  Weights weights;
  double *y;
  int m, n, k, transposed;
  int tasks;
} Job;

static void columns(const Job *job, int j0) {
  const int j1 = j0 + COLS < job->n ? j0 + COLS : job->n;
  for (int i0 = 0; i0 < job->m; i0 += ROWS) {
    const int rows = i0 + ROWS < job->m ? ROWS : job->m - i0;
    double sums[COLS][ROWS] = {{0}}, x[ROWS];
    for (long p = 0; p < job->k; p++) {
      for (int i = 0; i < rows; i++)
        x[i] = load_float(job->x + 2 * ((i0 + i) * (long)job->k + p), job->weights.type);
      for (int j = j0; j < j1; j++) {
        const double w = job->transposed ? weight_at(&job->weights, j, p)
                                         : weight_at(&job->weights, p, j);
        for (int i = 0; i < rows; i++) sums[j - j0][i] += x[i] * w;
      }
    }
    for (int i = 0; i < rows; i++)
      for (int j = j0; j < j1; j++) job->y[(i0 + i) * (long)job->n + j] = sums[j - j0][i];
  }
}

static void task(const void *arg, int index) {
  const Job *job = arg;
  for (int j = index * COLS; j < job->n; j += job->tasks * COLS) columns(job, j);
}

void reference(const char *x, const unsigned *w, const char *scales, const char *biases,
             double *y, int m, int n, int k, int mode, int bits, int group, int type,
             int transposed, int threads) {
  const Weights weights = {w, scales, biases, transposed ? k : n, mode, bits, group, type};
  const int blocks = (n + COLS - 1) / COLS, tasks = blocks < MAX_TASKS ? blocks : MAX_TASKS;
  const Job job = {x, weights, y, m, n, k, transposed, tasks};
  run_tasks(threads, tasks, task, &job);
}
