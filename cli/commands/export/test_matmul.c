/* Tests an export of matmul on the device: results at the edges of every row against a reference on the
   host, the status of each bad argument, and the host's time of a call beside that of a bare launch.

     cc -O2 -o test_matmul test_matmul.c -ldl && ./test_matmul mnk_matmul.bin

   Options: --rows N tests N rows at most, --no-time leaves out the times. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "mnk_matmul.h"
#include <math.h>
#include <time.h>

typedef struct {
  int (*init)(unsigned);
  int (*device)(int *, int);
  int (*retain)(void **, int);
  int (*enter)(void *);
  int (*alloc)(uint64_t *, size_t);
  int (*release)(uint64_t);
  int (*upload)(uint64_t, const void *, size_t, mnk_stream);
  int (*download)(void *, uint64_t, size_t, mnk_stream);
  int (*fill)(uint64_t, unsigned char, size_t, mnk_stream);
  int (*stream)(mnk_stream *, unsigned);
  int (*wait)(mnk_stream);
  int (*capture)(mnk_stream, int);
  int (*captured)(mnk_stream, void **);
  int (*instantiate)(void **, void *, unsigned long long);
  int (*replay)(void *, mnk_stream);
  int (*drop_graph)(void *);
  int (*drop_replay)(void *);
} Cuda;

static Cuda cuda;
static void *device_context;
static mnk_stream stream;
static int failures;

static void demand(int result, const char *what) {
  if (!result) return;
  fprintf(stderr, "%s: CUresult %d\n", what, result);
  exit(2);
}

static void open_cuda(void) {
  void *library = dlopen(MNK_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  int device = 0;
  if (!library) fprintf(stderr, "%s\n", dlerror()), exit(2);
  if (!(mnk_symbol(library, "cuInit", &cuda.init) & mnk_symbol(library, "cuDeviceGet", &cuda.device) &
        mnk_symbol(library, "cuDevicePrimaryCtxRetain", &cuda.retain) &
        mnk_symbol(library, "cuCtxSetCurrent", &cuda.enter) & mnk_symbol(library, "cuMemAlloc_v2", &cuda.alloc) &
        mnk_symbol(library, "cuMemFree_v2", &cuda.release) &
        mnk_symbol(library, "cuMemcpyHtoDAsync_v2", &cuda.upload) &
        mnk_symbol(library, "cuMemcpyDtoHAsync_v2", &cuda.download) &
        mnk_symbol(library, "cuMemsetD8Async", &cuda.fill) & mnk_symbol(library, "cuStreamCreate", &cuda.stream) &
        mnk_symbol(library, "cuStreamSynchronize", &cuda.wait) &
        mnk_symbol(library, "cuStreamBeginCapture_v2", &cuda.capture) &
        mnk_symbol(library, "cuStreamEndCapture", &cuda.captured) &
        mnk_symbol(library, "cuGraphInstantiateWithFlags", &cuda.instantiate) &
        mnk_symbol(library, "cuGraphLaunch", &cuda.replay) & mnk_symbol(library, "cuGraphDestroy", &cuda.drop_graph) &
        mnk_symbol(library, "cuGraphExecDestroy", &cuda.drop_replay)))
    fprintf(stderr, "%s has not all functions\n", MNK_CUDA_LIBRARY), exit(2);
  demand(cuda.init(0), "cuInit");
  demand(cuda.device(&device, 0), "cuDeviceGet");
  demand(cuda.retain(&device_context, device), "cuDevicePrimaryCtxRetain");
  demand(cuda.enter(device_context), "cuCtxSetCurrent");
  demand(cuda.stream(&stream, 1), "cuStreamCreate");
}

static void *room(size_t bytes) {
  uint64_t at = 0;
  demand(cuda.alloc(&at, bytes ? bytes : 1), "cuMemAlloc");
  demand(cuda.fill(at, 0xff, bytes ? bytes : 1, stream), "cuMemsetD8Async");
  return (void *)(uintptr_t)at;
}

static void give_back(const void *at) {
  if (at) demand(cuda.release((uint64_t)(uintptr_t)at), "cuMemFree");
}

static uint64_t state = 1;
/* A whole number from -2 to 2: sums of such are exact in fp32, and so is the reference. */
static int next_value(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (int)((state >> 33) % 5) - 2;
}

static int bytes_of(int type) { return type == MNK_MATMUL_TYPE_F32 ? 4 : 2; }

/* Stores a whole number from -2 to 2. */
static void store(unsigned char *to, int type, int value) {
  const int size = abs(value);
  const float f = (float)value;
  uint32_t bits;
  uint16_t half = (uint16_t)((value < 0) << 15 | (size == 2 ? 0x4000 : size ? 0x3c00 : 0));
  memcpy(&bits, &f, 4);
  if (type == MNK_MATMUL_TYPE_F32) memcpy(to, &bits, 4);
  if (type == MNK_MATMUL_TYPE_BF16) half = (uint16_t)(bits >> 16);
  if (type != MNK_MATMUL_TYPE_F32) memcpy(to, &half, 2);
}

static double stored(const unsigned char *from, int type) {
  uint32_t bits = 0;
  float f;
  if (type == MNK_MATMUL_TYPE_F32) {
    memcpy(&f, from, 4);
    return f;
  }
  memcpy(&bits, from, 2);
  if (type == MNK_MATMUL_TYPE_BF16) {
    bits <<= 16;
    memcpy(&f, &bits, 4);
    return f;
  }
  const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
  const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                     : ldexp(fraction, -24);
  return bits >> 15 ? -size : size;
}

typedef struct {
  unsigned char *host;
  void *device;
  size_t bytes;
} Matrix;

/* `rows` rows of `columns` values, `ld` apart; between the rows NaN. */
static Matrix matrix(int64_t rows, int64_t columns, int64_t ld, int type, int random) {
  const int each = bytes_of(type);
  Matrix made;
  made.bytes = (size_t)(((rows - 1) * ld + columns) * each);
  made.host = (unsigned char *)malloc(made.bytes);
  memset(made.host, 0xff, made.bytes);
  for (int64_t i = 0; random && i < rows; i++)
    for (int64_t j = 0; j < columns; j++) store(made.host + (i * ld + j) * each, type, next_value());
  made.device = room(made.bytes);
  if (random) demand(cuda.upload((uint64_t)(uintptr_t)made.device, made.host, made.bytes, stream), "upload");
  demand(cuda.wait(stream), "upload");
  return made;
}

static void drop(Matrix *of) {
  give_back(of->device);
  free(of->host);
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { BURST = 100, BURSTS = 41 };

/* The median of the host's time of a call in bursts that the device has done before the next. */
static void print_times(const mnk_context *context, const mnk_matmul_args *args) {
  static mnk_launch launches[8];
  double called[BURSTS], bare[BURSTS];
  int64_t axes[16];
  const void *operands[8];
  mnk_matmul_read(args, axes, operands);
  const mnk_table *table = mnk_find_table(&mnk_matmul_export, axes);
  const mnk_row *row = mnk_find_row(&mnk_matmul_export, table, args->m);
  for (int i = 0; i < row->steps; i++)
    if (mnk_pack(&mnk_matmul_export, context, &mnk_matmul_steps[row->first_step + i], args->m, operands,
                 args->workspace, stream, &launches[i]))
      return;
  for (int b = 0; b < BURSTS; b++) {
    double from = now_us();
    for (int i = 0; i < BURST; i++) mnk_matmul(context, args, stream);
    called[b] = (now_us() - from) / BURST;
    demand(cuda.wait(stream), "calls");
    from = now_us();
    for (int i = 0; i < BURST; i++)
      for (int s = 0; s < row->steps; s++) mnk_fire(context, &launches[s]);
    bare[b] = (now_us() - from) / BURST;
    demand(cuda.wait(stream), "bare launches");
  }
  qsort(called, BURSTS, sizeof(double), compare_doubles);
  qsort(bare, BURSTS, sizeof(double), compare_doubles);
  const double more = called[BURSTS / 2] - bare[BURSTS / 2];
  printf("  host: %.2f us a call, %.2f us bare (%d launches), %.2f us more\n", called[BURSTS / 2], bare[BURSTS / 2],
         row->steps, more);
}

static void expect(mnk_status status, mnk_status wanted, const char *what) {
  if (status == wanted) return;
  failures++;
  printf("FAIL %s: status %d (%s), not %d\n", what, status, mnk_status_text(status), wanted);
}

/* Gives every bad argument that there is. */
static void test_statuses(const mnk_context *context, const mnk_matmul_args *good, mnk_context *none) {
  mnk_matmul_args bad = *good;
  bad.m = 1000000007, expect(mnk_matmul(context, &bad, stream), MNK_UNKNOWN_SHAPE, "another M");
  bad = *good, bad.n += 1, expect(mnk_matmul(context, &bad, stream), MNK_UNKNOWN_SHAPE, "another N");
  bad = *good, bad.lda += 7, expect(mnk_matmul(context, &bad, stream), MNK_UNKNOWN_SHAPE, "another lda");
  bad = *good, bad.type = 9, expect(mnk_matmul(context, &bad, stream), MNK_UNKNOWN_SHAPE, "no type");
  bad = *good, bad.a = (const char *)bad.a + 2, expect(mnk_matmul(context, &bad, stream), MNK_MISALIGNED, "odd A");
  bad = *good, bad.c = (char *)bad.c + 8, expect(mnk_matmul(context, &bad, stream), MNK_MISALIGNED, "odd C");
  bad = *good, bad.b = NULL, expect(mnk_matmul(context, &bad, stream), MNK_NULL_POINTER, "no B");
  if (!good->bias) {
    bad = *good, bad.bias = bad.a, expect(mnk_matmul(context, &bad, stream), MNK_UNEXPECTED_POINTER, "a bias");
  }
  if (good->workspace_bytes) {
    bad = *good, bad.workspace_bytes--;
    expect(mnk_matmul(context, &bad, stream), MNK_SMALL_WORKSPACE, "a small workspace");
    bad = *good, bad.workspace = NULL;
    expect(mnk_matmul(context, &bad, stream), MNK_SMALL_WORKSPACE, "no workspace");
    bad = *good, bad.workspace = (char *)bad.workspace + 16;
    expect(mnk_matmul(context, &bad, stream), MNK_MISALIGNED, "an odd workspace");
  }
  cuda.enter(NULL); /* a driver may refuse it */
  expect(mnk_matmul(context, good, stream), MNK_OTHER_DEVICE, "no current context");
  demand(cuda.enter(device_context), "cuCtxSetCurrent");
  expect(mnk_matmul(none, good, stream), MNK_NULL_POINTER, "no context");
  expect(mnk_matmul(context, NULL, stream), MNK_NULL_POINTER, "no arguments");
}

/* Calls once, or replays a graph of a call. */
static void call(const mnk_context *context, const mnk_matmul_args *args, int by_graph) {
  enum { THREAD_LOCAL = 1 };
  void *graph, *replayed;
  if (by_graph) demand(cuda.capture(stream, THREAD_LOCAL), "cuStreamBeginCapture");
  expect(mnk_matmul(context, args, stream), MNK_OK, "the call");
  if (!by_graph) return;
  demand(cuda.captured(stream, &graph), "cuStreamEndCapture");
  demand(cuda.instantiate(&replayed, graph, 0), "cuGraphInstantiate");
  for (int i = 0; i < 2; i++) demand(cuda.replay(replayed, stream), "cuGraphLaunch");
  demand(cuda.wait(stream), "the graph");
  demand(cuda.drop_replay(replayed), "cuGraphExecDestroy");
  demand(cuda.drop_graph(graph), "cuGraphDestroy");
}

/* Calls the shape of `args` and compares all of C, or a sample of it. */
static void test_shape(const mnk_context *context, mnk_matmul_args args, void *workspace, int timed, int statuses) {
  enum { SAMPLE = 512 };
  const int64_t m = args.m, n = args.n, k = args.k;
  const int nt = args.layout == MNK_MATMUL_LAYOUT_NT;
  const int relu = args.epilogue == MNK_MATMUL_EPILOGUE_RELU || args.epilogue == MNK_MATMUL_EPILOGUE_BIAS_RELU;
  const int biased = args.epilogue == MNK_MATMUL_EPILOGUE_BIAS || args.epilogue == MNK_MATMUL_EPILOGUE_BIAS_RELU;
  const int ta = args.type, tb = args.type_b, tc = args.type_c;
  Matrix a = matrix(m, k, args.lda, ta, 1);
  Matrix b = nt ? matrix(n, k, args.ldb, tb, 1) : matrix(k, n, args.ldb, tb, 1);
  Matrix bias = matrix(1, n, n, tc, 1);
  Matrix c = matrix(m, (n - 1) * args.stepc + 1, args.ldc, tc, 0);
  args.a = a.device, args.b = b.device, args.c = c.device, args.bias = biased ? bias.device : NULL;
  expect(mnk_matmul_workspace(&args, &args.workspace_bytes), MNK_OK, "the size of the workspace");
  args.workspace = args.workspace_bytes ? workspace : NULL;
  int wrong = 0;
  double worst = 0, right[SAMPLE] = {0};
  for (int run = 0; run < 3; run++) {
    demand(cuda.fill((uint64_t)(uintptr_t)c.device, 0xff, c.bytes, stream), "fill C");
    call(context, &args, run == 1);
    demand(cuda.download(c.host, (uint64_t)(uintptr_t)c.device, c.bytes, stream), "download C");
    demand(cuda.wait(stream), "the call");
    const int64_t count = m * n < SAMPLE ? m * n : (int64_t)SAMPLE;
    for (int64_t i = 0; i < m * n; i++)
      wrong += isnan(stored(c.host + (i / n * args.ldc + i % n * args.stepc) * bytes_of(tc), tc)) != 0;
    for (int64_t s = 0; s < count; s++) {
      /* The first, the last, and others that are spread evenly. */
      const int64_t at = count < 2 ? 0 : (m * n - 1) / (count - 1) * s + (m * n - 1) % (count - 1) * s / (count - 1);
      const int64_t i = at / n, j = at % n;
      double sum = run > 0 ? right[s] : biased ? stored(bias.host + j * bytes_of(tc), tc) : 0;
      for (int64_t p = 0; run == 0 && p < k; p++)
        sum += stored(a.host + (i * args.lda + p) * bytes_of(ta), ta) *
               stored(b.host + (nt ? j * args.ldb + p : p * args.ldb + j) * bytes_of(tb), tb);
      if (relu && sum < 0) sum = 0;
      right[s] = sum;
      const double off = fabs(stored(c.host + (i * args.ldc + j * args.stepc) * bytes_of(tc), tc) - sum);
      const double most = 0.25 + fabs(sum) * (tc == MNK_MATMUL_TYPE_F32 ? 1e-6 : tc == MNK_MATMUL_TYPE_BF16 ? 4e-3 : 5e-4);
      wrong += !(off <= most);
      worst = off > worst ? off : worst;
    }
  }
  printf("%s m=%lld n=%lld k=%lld type=%d epilogue=%d layout=%d: %d wrong, greatest difference %g\n",
         wrong ? "FAIL" : "ok  ", (long long)m, (long long)n, (long long)k, ta, args.epilogue, args.layout, wrong, worst);
  failures += wrong != 0;
  if (statuses) test_statuses(context, &args, NULL);
  if (timed) print_times(context, &args);
  demand(cuda.wait(stream), "the end");
  drop(&a), drop(&b), drop(&c), drop(&bias);
}

int main(int count, char **words) {
  const char *file = NULL;
  int most = 1 << 30, timed = 1;
  for (int i = 1; i < count; i++) {
    if (!strcmp(words[i], "--no-time")) timed = 0;
    else if (!strcmp(words[i], "--rows") && i + 1 < count) most = atoi(words[++i]);
    else file = words[i];
  }
  if (!file) return fprintf(stderr, "usage: test_matmul mnk_matmul.bin [--rows N] [--no-time]\n"), 2;
  mnk_context *context;
  mnk_matmul_args args;
  int64_t to;
  open_cuda();
  expect(mnk_matmul_open(&context, words[0]), MNK_OTHER_FILE, "another file");
  expect(mnk_matmul_open(&context, "no such file"), MNK_OTHER_FILE, "no file");
  const mnk_status opened = mnk_matmul_open(&context, file);
  if (opened) return fprintf(stderr, "Cannot open %s: %s (%d)\n", file, mnk_status_text(opened), opened), 2;
  /* All shapes share one workspace, filled once. */
  size_t largest = 0, bytes = 0;
  for (int row = 0; mnk_matmul_shape(row, &args, &to); row++) {
    expect(mnk_matmul_workspace(&args, &bytes), MNK_OK, "the size of a workspace");
    largest = bytes > largest ? bytes : largest;
    args.m = to;
    expect(mnk_matmul_workspace(&args, &bytes), MNK_OK, "the size of a workspace");
    largest = bytes > largest ? bytes : largest;
  }
  void *workspace = largest ? room(largest) : NULL;
  if (workspace && mnk_matmul_export.kept_bytes) {
    /* Not what memory has by chance. */
    demand(cuda.fill((uint64_t)(uintptr_t)workspace, 0x5a, largest, stream), "fill the workspace");
    expect(mnk_matmul_fill_workspace(context, (char *)workspace + 8, largest, stream), MNK_MISALIGNED, "fill it, odd");
    expect(mnk_matmul_fill_workspace(context, workspace, 1, stream), MNK_SMALL_WORKSPACE, "fill a small one");
  }
  expect(mnk_matmul_fill_workspace(context, workspace, largest, stream), MNK_OK, "fill the workspace");
  for (int row = 0; row < most && mnk_matmul_shape(row, &args, &to); row++) {
    test_shape(context, args, workspace, timed, row == 0);
    if (args.m == to) continue;
    args.m = to;
    test_shape(context, args, workspace, 0, 0);
  }
  give_back(workspace);
  mnk_close(context);
  printf("%d failures\n", failures);
  return failures != 0;
}
