/* A program that calls the mock libraries as its arguments say:
 *   gemm N M N K        N calls of cublasGemmEx, bf16, T and N
 *   threads T N         N calls in each of T threads, of 4 shapes
 *   ...                 see main()
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda.h"

int cublasGemmEx(void *, int, int, int, int, int, const void *, const void *, int, int,
                 const void *, int, int, const void *, void *, int, int, int, int);
int cublasSgemm_v2(void *, int, int, int, int, int, const void *, const void *, int, const void *,
                   int, const void *, void *, int);
int cublasHgemm(void *, int, int, int, int, int, const void *, const void *, int, const void *,
                int, const void *, void *, int);
int cublasDgemm_v2(void *, int, int, int, int, int, const void *, const void *, int, const void *,
                   int, const void *, void *, int);
int cublasGemmEx_64(void *, int, int, int64_t, int64_t, int64_t, const void *, const void *, int,
                    int64_t, const void *, int, int64_t, const void *, void *, int, int64_t, int,
                    int);
int cublasSgemmBatched(void *, int, int, int, int, int, const void *, const void *, int,
                       const void *, int, const void *, void *, int, int);
int cublasGemmStridedBatchedEx(void *, int, int, int, int, int, const void *, const void *, int,
                               int, long long, const void *, int, int, long long, const void *,
                               void *, int, int, long long, int, int, int);
int cublasGemmGroupedBatchedEx(void *, const int *, const int *, const int *, const int *,
                               const int *, const void *, const void *, int, const int *,
                               const void *, int, const int *, const void *, void *, int,
                               const int *, int, const int *, int);
int cublasSetPointerMode_v2(void *, int);
int cublasSetMathMode(void *, int);
int cublasLtMatmulDescCreate(void **, int, int);
int cublasLtMatrixLayoutCreate(void **, int, uint64_t, uint64_t, int64_t);
int cublasLtMatmulDescSetAttribute(void *, int, const void *, size_t);
int cublasLtMatrixLayoutSetAttribute(void *, int, const void *, size_t);
int cublasLtMatmul(void *, void *, const void *, const void *, void *, const void *, void *,
                   const void *, const void *, void *, void *, void *, const void *, void *,
                   size_t, void *);

enum { BF16 = 14, F32 = 0, E4M3 = 28, COMPUTE_F32 = 68 };
static const float one = 1, zero = 0;

static int bf16(int m, int n, int k) {
  return cublasGemmEx(NULL, 1, 0, m, n, k, &one, NULL, BF16, k, NULL, BF16, k, &zero, NULL, BF16,
                      m, COMPUTE_F32, -1);
}

static int calls_of_thread;

static void *work(void *data) {
  (void)data;
  for (int i = 0; i < calls_of_thread; i++) {
    /* A thread's calls alternate between those of cuBLAS and kernels of others. */
    if (bf16(64 << i % 4, 16, 128) != 0) abort();
    if (i % 8 == 0) mock_launch("mock_softmax", 100);
  }
  return NULL;
}

static void layouts(void) {
  for (int ta = 0; ta < 3; ta++) {
    for (int tb = 0; tb < 2; tb++) {
      cublasSgemm_v2(NULL, ta, tb, 10, 20, 30, &one, NULL, 40, NULL, 50, &zero, NULL, 60);
    }
  }
}

static void types(void) {
  const uint16_t half = 0x8000;
  const double d = 0.5;
  cublasHgemm(NULL, 0, 0, 1, 2, 3, &half, NULL, 4, NULL, 5, &half, NULL, 6);
  cublasDgemm_v2(NULL, 0, 0, 1, 2, 3, &d, NULL, 4, NULL, 5, &d, NULL, 6);
  cublasSetMathMode(NULL, 3);
  cublasSgemm_v2(NULL, 0, 0, 1, 2, 3, &one, NULL, 4, NULL, 5, &one, NULL, 6);
  cublasSetMathMode(NULL, 0);
  cublasGemmEx_64(NULL, 0, 0, 1, 2, 3, &one, NULL, 2, 4, NULL, 2, 5, &zero, NULL, 0, 6, 68, -1);
  cublasSgemmBatched(NULL, 0, 0, 1, 2, 3, &one, NULL, 4, NULL, 5, &zero, NULL, 6, 7);
  cublasGemmStridedBatchedEx(NULL, 0, 0, 1, 2, 3, &one, NULL, 3, 4, 8, NULL, 3, 5, 8, &zero, NULL,
                             10, 6, 8, 9, 72, -1);
  const int t[2] = {0, 1}, m[2] = {1, 4}, n[2] = {2, 5}, k[2] = {3, 6}, l[2] = {8, 9},
            sizes[2] = {2, 3};
  cublasGemmGroupedBatchedEx(NULL, t, t, m, n, k, &one, NULL, 14, l, NULL, 14, l, &zero, NULL, 14,
                             l, 2, sizes, 68);
  cublasSetPointerMode_v2(NULL, 1);
  cublasSgemm_v2(NULL, 0, 0, 1, 2, 4, (void *)8, NULL, 4, NULL, 5, (void *)16, NULL, 6);
  cublasSetPointerMode_v2(NULL, 0);
  /* One that fails is not counted, and neither is an empty one. */
  cublasSgemm_v2(NULL, 0, 0, 1, 2, 13, &one, NULL, 4, NULL, 5, &zero, NULL, 6);
  cublasSgemm_v2(NULL, 0, 0, 1, 0, 3, &one, NULL, 4, NULL, 5, &zero, NULL, 6);
}

/* C[16, 64] = A[16, 32] W[64, 32]', as PyTorch calls it. */
static void lt(int epilogue, int type, int scale_a, int scale_b, int order) {
  void *desc, *a, *b, *d;
  const int trans = 1;
  const void *pointer = &one;
  cublasLtMatmulDescCreate(&desc, COMPUTE_F32, F32);
  cublasLtMatmulDescSetAttribute(desc, order == 0 ? 3 : 4, &trans, 4);
  cublasLtMatmulDescSetAttribute(desc, 7, &epilogue, 4);
  if (scale_a >= 0) {
    cublasLtMatmulDescSetAttribute(desc, 17, &pointer, 8);
    cublasLtMatmulDescSetAttribute(desc, 18, &pointer, 8);
    cublasLtMatmulDescSetAttribute(desc, 31, &scale_a, 4);
    cublasLtMatmulDescSetAttribute(desc, 32, &scale_b, 4);
  }
  if (order == 0) {
    cublasLtMatrixLayoutCreate(&a, type, 32, 64, 33);
    cublasLtMatrixLayoutCreate(&b, type, 32, 16, 34);
    cublasLtMatrixLayoutCreate(&d, BF16, 64, 16, 65);
  } else {
    cublasLtMatrixLayoutCreate(&a, type, 16, 32, 34);
    cublasLtMatrixLayoutCreate(&b, type, 64, 32, 33);
    cublasLtMatrixLayoutCreate(&d, BF16, 16, 64, 65);
    cublasLtMatrixLayoutSetAttribute(a, 1, &order, 4);
    cublasLtMatrixLayoutSetAttribute(b, 1, &order, 4);
    cublasLtMatrixLayoutSetAttribute(d, 1, &order, 4);
  }
  cublasLtMatmul(NULL, desc, &one, NULL, a, NULL, b, &zero, NULL, d, NULL, d, NULL, NULL, 0, NULL);
}

static void *graph_of_two(void) {
  mock_capture_begin();
  bf16(64, 16, 8192);
  bf16(128, 16, 64);
  mock_launch("mock_softmax", 100);
  return mock_instantiate(mock_capture_end());
}

static void by_dlopen(void) {
  void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
  __typeof__(cublasGemmEx) *gemm = (__typeof__(cublasGemmEx) *)dlsym(library, "cublasGemmEx");
  gemm(NULL, 1, 0, 48, 16, 32, &one, NULL, BF16, 32, NULL, BF16, 32, &zero, NULL, BF16, 48, 68,
       -1);
  /* Of a name that is not there, and of one that the recorder does not replace. */
  if (dlsym(library, "cublasNothing") != NULL) abort();
  if (dlsym(RTLD_DEFAULT, "getpid") == NULL || dlsym(RTLD_NEXT, "getpid") == NULL) abort();
}

/* NVTX as a program has it: tables of functions, which a tool replaces. */
typedef void function(void);
static int push_nothing(const char *name) { return name == NULL; }
static function *core[12] = {[9] = (function *)push_nothing, [11] = (function *)push_nothing};
static function **core_table[12];

static int table_of_module(int module, function ****table, unsigned *size) {
  for (int i = 0; i < 12; i++) core_table[i] = &core[i];
  *table = core_table;
  *size = 12;
  return module == 1;
}

static const void *export_table(uint32_t id) {
  static const struct {
    size_t size;
    int (*module)(int, function ****, unsigned *);
  } callbacks = {sizeof callbacks, table_of_module};
  return id == 1 ? &callbacks : NULL;
}

static void ranges(void) {
  void *tool = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW);
  int (*start)(const void *(*)(uint32_t)) =
      (int (*)(const void *(*)(uint32_t)))dlsym(tool, "InitializeInjectionNvtx2");
  if (start == NULL || start(export_table) != 1) abort();
  int (*push)(const char *) = (int (*)(const char *))core[9];
  int (*pop)(void) = (int (*)(void))core[11];
  for (int step = 9; step < 12; step++) {
    char name[32];
    snprintf(name, sizeof name, "decode %d", step);
    if (push(name) != 0) abort();
    bf16(1, 2, 3);
    if (push("attention") != 1) abort();
    bf16(1, 2, 3);
    pop();
    pop();
  }
  bf16(1, 2, 3);
}

/* When the recorder wrote its file, in nanoseconds; 0 without one. */
static long long written_at(void) {
  const char *folder = getenv("MNKBENCH_CAPTURE_DIR");
  DIR *files = opendir(folder);
  long long last = 0;
  for (struct dirent *file; files != NULL && (file = readdir(files)) != NULL;) {
    const char *dot = strrchr(file->d_name, '.');
    char path[4096];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    if (dot == NULL || strcmp(dot, ".json") != 0 || stat(path, &info) != 0) continue;
    last = (long long)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
  }
  if (files != NULL) closedir(files);
  return last;
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *what = argv[i];
    if (strcmp(what, "gemm") == 0) {
      int calls = atoi(argv[i + 1]);
      while (calls-- > 0) bf16(atoi(argv[i + 3]), atoi(argv[i + 2]), atoi(argv[i + 4]));
      i += 4;
    } else if (strcmp(what, "threads") == 0) {
      pthread_t threads[64];
      int count = atoi(argv[++i]);
      calls_of_thread = atoi(argv[++i]);
      for (int t = 0; t < count; t++) pthread_create(&threads[t], NULL, work, NULL);
      for (int t = 0; t < count; t++) pthread_join(threads[t], NULL);
    } else if (strcmp(what, "layouts") == 0) layouts();
    else if (strcmp(what, "types") == 0) types();
    else if (strcmp(what, "lt") == 0) {
      static const int epilogues[] = {1, 2, 4, 6, 32, 36, 164, 256};
      for (int e = 0; e < 8; e++) lt(epilogues[e], BF16, -1, -1, 0);
      lt(1, BF16, -1, -1, 1);
      lt(1, E4M3, 0, 0, 0);
      lt(1, E4M3, 3, 3, 0);
      lt(1, E4M3, 5, 4, 0);
      lt(1, 33, 1, 1, 0);
    } else if (strcmp(what, "graph") == 0) {
      void *graph = graph_of_two();
      for (int n = atoi(argv[++i]); n > 0; n--) mock_graph_launch(graph);
    } else if (strcmp(what, "dlopen") == 0) by_dlopen();
    else if (strcmp(what, "ranges") == 0) ranges();
    else if (strcmp(what, "cuda") == 0) cuInit(0);
    else if (strcmp(what, "kernel") == 0) mock_launch(argv[++i], 700);
    else if (strcmp(what, "written") == 0) {
      /* The first file that comes may have been begun before. */
      double end = seconds() + 60;
      for (int times = 0; times < 2; times++) {
        long long before = written_at();
        while (written_at() == before && seconds() < end) usleep(1000);
      }
    } else if (strcmp(what, "sleep") == 0) usleep((useconds_t)(atof(argv[++i]) * 1e6));
    else if (strcmp(what, "every") == 0) {
      /* every MS SECONDS: a call each MS milliseconds. */
      double end = seconds() + atof(argv[i + 2]);
      while (seconds() < end) {
        bf16(64, 16, 128);
        usleep((useconds_t)(atof(argv[i + 1]) * 1e3));
      }
      i += 2;
    } else if (strcmp(what, "fork") == 0) {
      /* The child goes on, and the parent waits for it. */
      pid_t child = fork();
      int status;
      if (child != 0) {
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
      }
    } else if (strcmp(what, "exec") == 0) execv(argv[0], (char *[]){argv[0], "gemm", "3", "1", "2", "3", NULL});
    else if (strcmp(what, "_exit") == 0) _exit(atoi(argv[++i]));
    else if (strcmp(what, "exit") == 0) exit(atoi(argv[++i]));
    else if (strcmp(what, "kill") == 0) kill(getpid(), atoi(argv[++i]));
    else if (strcmp(what, "cat") == 0) {
      for (int c; (c = getchar()) != EOF;) putchar(c);
      fputs("to stderr\n", stderr);
    } else if (strcmp(what, "say") == 0) {
      puts("ready");
      fflush(stdout);
    } else if (strcmp(what, "time") == 0) {
      /* Nanoseconds a call of the fastest of N short batches: most have no other process within. */
      enum { CALLS = 500 };
      double least = 1e9;
      for (int n = atoi(argv[++i]); n > 0; n--) {
        double start = seconds();
        for (int call = 0; call < CALLS; call++) bf16(64, 16, 128);
        double each = (seconds() - start) / CALLS * 1e9;
        if (each < least) least = each;
      }
      printf("%.1f\n", least);
    } else {
      fprintf(stderr, "%s: what is %s?\n", argv[0], what);
      return 64;
    }
  }
  return 0;
}
