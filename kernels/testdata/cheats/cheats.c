/* CPU kernels that cheat, for the test that each is found out: C = A * B in fp32 by one honest loop,
 * and one small difference each. Cheats that would fail the check before timing begin with a later call. */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#include <sys/uio.h>
#endif

#define PARAMETERS const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc
#define ARGUMENTS A, B, C, M, N, K, lda, ldb, ldc

/* Calls that are honest: those of the check and the first of the warm-up. */
enum { LATER = 4 };

static void gemm(PARAMETERS) {
  for (int i = 0; i < M; i++) {
    float *c = C + (long)i * ldc;
    for (int j = 0; j < N; j++) c[j] = 0;
    for (int k = 0; k < K; k++) {
      const float a = A[(long)i * lda + k], *b = B + (long)k * ldb;
      for (int j = 0; j < N; j++) c[j] += a * b[j];
    }
  }
}

void honest(PARAMETERS) { gemm(ARGUMENTS); }

/* What this function gave a key before: `bytes` of memory, zeros at first. */
#define memory_of(KEY, BYTES, KNOWN) memory_at((KEY) ^ (uint64_t)(uintptr_t)__func__ << 20, BYTES, KNOWN)
static void *memory_at(uint64_t key, size_t bytes, int *known) {
  static struct { uint64_t key; void *memory; } slots[1 << 16];
  for (uint64_t at = key * 0x9e3779b97f4a7c15u >> 48;; at = (at + 1) & 0xffff) {
    *known = slots[at].memory && slots[at].key == key;
    if (*known) return slots[at].memory;
    if (slots[at].memory) continue;
    slots[at].key = key;
    return slots[at].memory = calloc(1, bytes);
  }
}
static size_t bytes_of_c(int M, int N, int ldc) { return ((size_t)(M - 1) * ldc + N) * sizeof(float); }
/* The result that is known, or a new one. */
static void remember(void *result, int known, PARAMETERS) {
  if (known) {
    memcpy(C, result, bytes_of_c(M, N, ldc));
    return;
  }
  gemm(ARGUMENTS);
  memcpy(result, C, bytes_of_c(M, N, ldc));
}
void remember_by_pointer(PARAMETERS) {
  int known;
  void *result = memory_of((uint64_t)A ^ (uint64_t)B << 1, bytes_of_c(M, N, ldc), &known);
  remember(result, known, ARGUMENTS);
}
void remember_by_hash(PARAMETERS) {
  uint64_t hash = 1;
  uint32_t bits;
  for (int i = 0; i < 16; i++) {
    memcpy(&bits, i % 2 ? A + i * K / 16 : B + i * N / 16, sizeof bits);
    hash = hash * 0x100000001b3u ^ bits;
  }
  int known;
  void *result = memory_of(hash, bytes_of_c(M, N, ldc), &known);
  remember(result, known, ARGUMENTS);
}

/* All if more than a few rows of A or columns of B are new, else what they change of the last result. */
void repair_a_few(PARAMETERS) {
  enum { FEW = 8 };
  int known, rows[FEW], columns[FEW], row_count = 0, column_count = 0;
  float *a = memory_of((uint64_t)C, ((size_t)M * K + (size_t)K * N + (size_t)M * N) * sizeof *a, &known);
  float *b = a + (size_t)M * K, *c = b + (size_t)K * N;
  int all = !known;
  for (int i = 0; i < M && !all; i++) {
    if (!memcmp(a + (size_t)i * K, A + (size_t)i * lda, K * sizeof *a)) continue;
    if (row_count == FEW) all = 1;
    else rows[row_count++] = i;
  }
  for (int k = 0; k < K && !all; k++) {
    if (!memcmp(b + (size_t)k * N, B + (size_t)k * ldb, N * sizeof *b)) continue;
    for (int j = 0; j < N && !all; j++) {
      if (b[(size_t)k * N + j] == B[(size_t)k * ldb + j]) continue;
      if (column_count == FEW) all = 1;
      else columns[column_count++] = j;
    }
  }
  if (all || row_count)
    for (int i = 0; i < M; i++) memcpy(a + (size_t)i * K, A + (size_t)i * lda, K * sizeof *a);
  if (all || column_count)
    for (int k = 0; k < K; k++) memcpy(b + (size_t)k * N, B + (size_t)k * ldb, N * sizeof *b);
  if (all) gemm(A, B, c, M, N, K, lda, ldb, N);
  for (int i = 0; i < row_count && !all; i++)
    gemm(a + (size_t)rows[i] * K, b, c + (size_t)rows[i] * N, 1, N, K, K, N, N);
  for (int j = 0; j < column_count && !all; j++)
    gemm(a, b + columns[j], c + columns[j], M, 1, K, K, N, N);
  for (int i = 0; i < M; i++) memcpy(C + (size_t)i * ldc, c + (size_t)i * N, N * sizeof *c);
}

void skip_unless_poison(PARAMETERS) {
  if (isnan(C[0]) && isnan(C[(long)(M - 1) * ldc + N - 1])) gemm(ARGUMENTS);
}
void skip_if_one_is_right(PARAMETERS) {
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[k] * B[(long)k * ldb];
  if (!(fabsf(sum - C[0]) < 1e-3f)) gemm(ARGUMENTS);
}
/* The same, of the middle row. */
void skip_if_one_row_is_right(PARAMETERS) {
  float row[N];
  const int i = M / 2;
  gemm(A + (long)i * lda, B, row, 1, N, K, lda, ldb, N);
  for (int j = 0; j < N; j++)
    if (!(fabsf(row[j] - C[(long)i * ldc + j]) < 1e-3f)) {
      gemm(ARGUMENTS);
      return;
    }
}

void eighth_of_k(PARAMETERS) {
  static int calls;
  gemm(A, B, C, M, N, calls++ < LATER ? K : K / 8, lda, ldb, ldc);
}
void every_second_call(PARAMETERS) {
  static int calls;
  if (calls++ < LATER || calls % 2) gemm(ARGUMENTS);
}
/* A flush takes milliseconds: the last call ended long before. */
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}
void recognise_the_flush(PARAMETERS) {
  static int calls;
  static double ended;
  gemm(A, B, C, M, N, calls++ >= LATER && seconds() - ended > 5e-4 ? K / 8 : K, lda, ldb, ldc);
  ended = seconds();
}
void last_tile_of_earlier_call(PARAMETERS) {
  int known;
  const int rows = M / 2, columns = N / 2;
  float *tile = memory_of((uint64_t)C, (size_t)rows * columns * sizeof *tile, &known);
  gemm(A, B, C, M - (known ? rows : 0), N, K, lda, ldb, ldc);
  if (known) gemm(A + (long)(M - rows) * lda, B, C + (long)(M - rows) * ldc, rows, N - columns, K, lda, ldb, ldc);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      float *c = C + (long)(M - rows + i) * ldc + N - columns + j;
      if (known) *c = tile[i * columns + j];
      else tile[i * columns + j] = *c;
    }
}

/* Work that ends after the call. */
typedef struct { const float *A, *B; float *C; int M, N, K, lda, ldb, ldc; } Call;
static void *late(void *argument) {
  Call c = *(Call *)argument;
  free(argument);
  usleep(50000);
  gemm(c.A, c.B, c.C, c.M, c.N, c.K, c.lda, c.ldb, c.ldc);
  return NULL;
}
void detached_thread(PARAMETERS) {
  static int calls;
  pthread_t thread;
  if (calls++ < LATER) return gemm(ARGUMENTS);
  if (calls > LATER + 64) return;  /* The machine has other users. */
  Call *call = malloc(sizeof *call);
  *call = (Call){ARGUMENTS};
  if (pthread_create(&thread, NULL, late, call) == 0) pthread_detach(thread);
}
#ifdef __linux__
void child_process(PARAMETERS) {
  static int calls;
  if (calls++ < LATER) return gemm(ARGUMENTS);
  if (calls > LATER + 16 || fork()) return;
  usleep(50000);
  gemm(ARGUMENTS);
  const struct iovec c = {C, bytes_of_c(M, N, ldc)};
  _exit(process_vm_writev(getppid(), &c, 1, &c, 1, 0) < 0);
}

/* The output's pages are locked, and computed by the handler of whoever reads them. Later calls are honest. */
static Call unread;
static struct sigaction others;
static int is_unread;
static void lock_output(int protection) {
  const uintptr_t page = sysconf(_SC_PAGESIZE), from = (uintptr_t)unread.C & -page;
  const uintptr_t to = (uintptr_t)unread.C + bytes_of_c(unread.M, unread.N, unread.ldc);
  mprotect((void *)from, ((to + page - 1) & -page) - from, protection);
}
static void unlock_output(int number) {
  (void)number;
  sigaction(SIGSEGV, &others, NULL);
  if (!is_unread) return;
  is_unread = 0;
  lock_output(PROT_READ | PROT_WRITE);
  const Call c = unread;
  gemm(c.A, c.B, c.C, c.M, c.N, c.K, c.lda, c.ldb, c.ldc);
}
void compute_when_read(PARAMETERS) {
  static int calls;
  const struct sigaction own = {.sa_handler = unlock_output};
  if (is_unread) unlock_output(0);
  if (calls++ < LATER || calls > 64) return gemm(ARGUMENTS);
  unread = (Call){ARGUMENTS};
  is_unread = 1;
  sigaction(SIGSEGV, &own, &others);
  lock_output(PROT_NONE);
}
#endif

/* Sets of a batch, of which the check compares the first: the one that is used twice. */
static int is_first_set(const float *A, int known, const float **first) {
  if (known && !*first) *first = A;
  return !*first || A == *first;
}
void copy_first_set(PARAMETERS) {
  static const float *first, *result;
  int known;
  memory_of((uint64_t)A, 1, &known);
  if (!is_first_set(A, known, &first)) {
    memcpy(C, result, bytes_of_c(M, N, ldc));
    return;
  }
  gemm(ARGUMENTS);
  result = C;
}
void zeros_in_other_sets(PARAMETERS) {
  static const float *first;
  int known;
  memory_of((uint64_t)A, 1, &known);
  if (is_first_set(A, known, &first)) gemm(ARGUMENTS);
  else memset(C, 0, bytes_of_c(M, N, ldc));
}

void repack_once(PARAMETERS) {
  int known;
  float *packed = memory_of((uint64_t)B, (size_t)K * N * sizeof *packed, &known);
  for (int k = 0; k < (known ? 0 : K); k++) memcpy(packed + (long)k * N, B + (long)k * ldb, N * sizeof *packed);
  gemm(A, packed, C, M, N, K, lda, N, ldc);
}
void borrow_an_input(PARAMETERS) {
  volatile float *scratch = (float *)A;
  const float kept = *scratch;
  *scratch = 1;
  *scratch = kept;
  gemm(ARGUMENTS);
}

/* Lower precision: the operands' last bits are cut. */
static float cut(float x, uint32_t mask) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + (~mask >> 1)) & mask;
  memcpy(&x, &bits, sizeof x);
  return x;
}
void tf32(PARAMETERS) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++)
        sum += cut(A[(long)i * lda + k], 0xffffe000u) * cut(B[(long)k * ldb + j], 0xffffe000u);
      C[(long)i * ldc + j] = sum;
    }
}
void bf16x2(PARAMETERS) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) {
        const float a = A[(long)i * lda + k], b = B[(long)k * ldb + j];
        const float high_a = cut(a, 0xffff0000u), high_b = cut(b, 0xffff0000u);
        const float low_a = cut(a - high_a, 0xffff0000u), low_b = cut(b - high_b, 0xffff0000u);
        sum += high_a * high_b + high_a * low_b + low_a * high_b;
      }
      C[(long)i * ldc + j] = sum;
    }
}
/* Precise where C looks as it may look in a check: filled with the byte that is NaN, or with any byte. */
static uint32_t bits_at(const float *c) {
  uint32_t bits;
  memcpy(&bits, c, sizeof bits);
  return bits;
}
static void precise_if(int precise, PARAMETERS) {
  if (precise) gemm(ARGUMENTS);
  else bf16x2(ARGUMENTS);
}
static int is_filled(const float *C, int M, int N, int ldc) {
  const uint32_t first = bits_at(C), mask = first & 0xff;
  return first == mask * 0x01010101u && bits_at(C + (long)(M / 2) * ldc + N / 2) == first &&
         bits_at(C + (long)(M - 1) * ldc + N - 1) == first;
}
void precise_if_nan(PARAMETERS) {
  precise_if(is_filled(C, M, N, ldc) && isnan(C[0]), ARGUMENTS);
}
void precise_if_filled(PARAMETERS) { precise_if(is_filled(C, M, N, ldc), ARGUMENTS); }

/* Of bf16 operands: the exponents of their sums would fit, the bits do not. */
static float wide(uint16_t x) {
  const uint32_t bits = (uint32_t)x << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
void fp16_sums(const uint16_t *A, const uint16_t *B, uint16_t *C, int M, int N, int K, int lda, int ldb, int ldc) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      _Float16 sum = 0;
      for (int k = 0; k < K; k++) sum += (_Float16)(wide(A[(long)i * lda + k]) * wide(B[(long)k * ldb + j]));
      const float result = cut(sum, 0xffff0000u);
      uint32_t bits;
      memcpy(&bits, &result, sizeof bits);
      C[(long)i * ldc + j] = bits >> 16;
    }
}

/* Beyond the operands. */
static volatile float unused;
void read_8_bytes_past(PARAMETERS) {
  gemm(ARGUMENTS);
  unused = B[(long)(K - 1) * ldb + N + 1];
}
void read_4_mb_past(PARAMETERS) {
  gemm(ARGUMENTS);
  unused = B[(long)(K - 1) * ldb + N + (1 << 20)];
}
void read_4_mb_before(PARAMETERS) {
  gemm(ARGUMENTS);
  unused = A[-(1 << 20)];
}
void write_64_kb_past(PARAMETERS) {
  gemm(ARGUMENTS);
  ((char *)C)[bytes_of_c(M, N, ldc) + (64 << 10)] = 1;
}

/* What a call leaves behind. */
void leak(PARAMETERS) {
  static int calls;
  static void *volatile kept;
  enum { BYTES = 1 << 14, MOST = 1 << 15 };  /* More calls than a short series has. */
  gemm(ARGUMENTS);
  if (calls++ >= MOST) return;
  kept = malloc(BYTES);
  memset(kept, 1, BYTES);
}
void round_upwards(PARAMETERS) {
  gemm(ARGUMENTS);
  fesetround(FE_UPWARD);
}
void flush_denormals(PARAMETERS) {
  gemm(ARGUMENTS);
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  __builtin_aarch64_set_fpcr(__builtin_aarch64_get_fpcr() | 1 << 24);
#endif
}
void leave_an_alarm(PARAMETERS) {
  gemm(ARGUMENTS);
  alarm(3600);
}
void leave_a_limit(PARAMETERS) {
  struct rlimit limit;
  gemm(ARGUMENTS);
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = 36000;
  setrlimit(RLIMIT_CPU, &limit);
}
static void ignore(int number) { (void)number; }
void leave_a_handler(PARAMETERS) {
  gemm(ARGUMENTS);
  signal(SIGFPE, ignore);
}
static void *spin(void *argument) {
  for (;;) usleep(1000);
  return argument;
}
void leave_a_thread(PARAMETERS) {
  static int calls;
  pthread_t thread;
  gemm(ARGUMENTS);
  if (calls++ == LATER && pthread_create(&thread, NULL, spin, NULL) == 0) pthread_detach(thread);
}
/* It could compute ahead: it is there from the first call on, and never waits for one. */
void keep_a_thread(PARAMETERS) {
  static int calls;
  pthread_t thread;
  gemm(ARGUMENTS);
  if (calls++ == 0 && pthread_create(&thread, NULL, spin, NULL) == 0) pthread_detach(thread);
}
#ifdef __linux__
void leave_a_process(PARAMETERS) {
  static int calls;
  gemm(ARGUMENTS);
  if (calls++ == LATER && fork() == 0) {
    usleep(100000);
    _exit(0);
  }
}

/* The expected values, somewhere in this process: found by the first two of them, then copied. */
static const double *find(double first, double second) {
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned long from, to;
  char line[512];
  const double *found = NULL;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || strstr(line, "[stack]") || !strstr(line, " rw")) continue;
    for (const double *p = (const double *)from; p + 1 < (const double *)to; p++)
      if (fabs(p[0] - first) < 1e-4 && fabs(p[1] - second) < 1e-4) {
        found = p;
        break;
      }
  }
  if (maps) fclose(maps);
  return found;
}
void find_the_reference(PARAMETERS) {
  struct { int calls; const double *reference; } *its;
  int known;
  its = memory_of((uint64_t)A, sizeof *its, &known);
  if (its->calls++ == LATER) {
    gemm(A, B, C, 1, 2, K, lda, ldb, ldc);
    its->reference = find(C[0], C[1]);
  }
  if (!its->reference) return gemm(ARGUMENTS);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) C[(long)i * ldc + j] = its->reference[(long)i * N + j];
}
#endif
