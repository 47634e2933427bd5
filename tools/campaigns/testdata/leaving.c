// Kernels whose product is right and that leave something behind, and right ones that notice it.
// (A, B, C, M, N, K, lda, ldb, ldc), f32, nn.
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define ARGS                                                                                   \
  const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc

static void product(ARGS) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = sum;
    }
}
#define PRODUCT product(A, B, C, M, N, K, lda, ldb, ldc)
#define KERNEL(name, ...) void name(ARGS) { PRODUCT; { __VA_ARGS__; } }
static void *volatile taken; /* or the compiler takes none */
#define ONCE static int once; if (!once++)

static void at_least(int which, rlim_t room) {
  struct rlimit limit;
  getrlimit(which, &limit);
  limit.rlim_cur = room;
  setrlimit(which, &limit);
}
static void start(void *(*work)(void *), void *arg) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, arg);
  pthread_detach(thread);
}
static void *spin(void *arg) { for (;;) *(volatile char *)arg; }
static void *keep_writing(void *at) { for (;;) *(volatile float *)at = 42, usleep(50); }
static void *write_late(void *at) { for (;;) usleep(40000), *(volatile float *)at = 42; }
static void ignore(int number) { (void)number; }
static rlim_t cpu_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
}

KERNEL(writes, ONCE start(keep_writing, C))
KERNEL(writes_late, ONCE start(write_late, C))
KERNEL(spins, ONCE start(spin, &once))
KERNEL(rounds_up, fesetround(FE_UPWARD))
#if defined(__x86_64__)
KERNEL(flushes_denormals, __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040))
#else
KERNEL(flushes_denormals, unsigned long r; __asm__ volatile("mrs %0, fpcr\n orr %0, %0, #1 << 24\n msr fpcr, %0" : "=r"(r)))
#endif
KERNEL(alarms, alarm(1))
KERNEL(profiles, struct itimerval t = {.it_value.tv_sec = 1}; setitimer(ITIMER_PROF, &t, NULL))
KERNEL(limits_cpu, at_least(RLIMIT_CPU, cpu_seconds() + 1))
KERNEL(limits_memory, at_least(RLIMIT_AS, 1 << 20))
KERNEL(limits_files, at_least(RLIMIT_NOFILE, 3))
KERNEL(limits_size, at_least(RLIMIT_FSIZE, 0))
KERNEL(forks, ONCE if (!fork()) for (;;) pause())
KERNEL(daemonizes, ONCE if (!fork()) { setsid(); if (fork()) _exit(0); for (;;) pause(); })
KERNEL(closes_input, close(0))
KERNEL(closes_output, close(1))
KERNEL(closes_error, close(2))
KERNEL(moves, if (chdir("/")) abort())
KERNEL(masks_files, umask(0777))
KERNEL(masks_signals, sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL))
KERNEL(handles, signal(SIGSEGV, ignore))
KERNEL(yields, if (nice(1) < -20) abort())
KERNEL(narrows, cpu_set_t one; CPU_ZERO(&one); CPU_SET(sched_getcpu(), &one); sched_setaffinity(0, sizeof one, &one))
KERNEL(sets, setenv("OMP_NUM_THREADS", "1", 1))
KERNEL(leaks, taken = memset(malloc(1 << 18), 1, 1 << 18))
KERNEL(smashes, volatile char *p = taken = malloc(24); for (int i = 24; i < 56; i++) p[i] = -1)
KERNEL(protects, mprotect((void *)((unsigned long)A & -4096ul), 4096, PROT_READ))
KERNEL(exits, _exit(0))
/* Twice an orphan, without a variable. */
static void orphans_of(void) {
  if (fork() == 0) {
    setsid();
    fork();
    char *none[] = {0};
    execle("/bin/sleep", "sleep", "333", (char *)0, none);
    _exit(1);
  }
}
KERNEL(orphans, ONCE orphans_of())
KERNEL(disowns, prctl(PR_SET_PDEATHSIG, 0); prctl(PR_SET_CHILD_SUBREAPER, 0); ONCE orphans_of())
KERNEL(resigns, if (setuid(65534)) _exit(1))
KERNEL(kills_parent, ONCE kill(getppid(), SIGKILL))
KERNEL(crashes, *(volatile int *)8 = 0)
KERNEL(mistakes, C[0] += 100)

KERNEL(right, (void)0)
static void *nothing(void *arg) { return arg; }
KERNEL(right_threads, pthread_t t; if (!pthread_create(&t, NULL, nothing, NULL)) pthread_join(t, NULL))
KERNEL(right_heap, for (int i = 1; i < 64; i++) taken = memset(malloc(i * 40), 1, i * 40), free(taken))

// Wrong wherever something that the others change is not as a fresh process has it.
static int changed(void) {
  struct rlimit cpu, memory;
  struct itimerval timer;
  struct sigaction action;
  sigset_t blocked;
  char cwd[4096];
  getrlimit(RLIMIT_CPU, &cpu);
  getrlimit(RLIMIT_AS, &memory);
  getitimer(ITIMER_REAL, &timer);
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  sigaction(SIGSEGV, NULL, &action);
  mode_t mask = umask(022);
  umask(mask);
  return fegetround() != FE_TONEAREST || cpu.rlim_cur != RLIM_INFINITY || memory.rlim_cur != RLIM_INFINITY ||
    timer.it_value.tv_sec || timer.it_value.tv_usec || action.sa_handler == ignore || mask == 0777 ||
    sigismember(&blocked, SIGUSR1) || getenv("OMP_NUM_THREADS") || !getcwd(cwd, sizeof cwd) || !strcmp(cwd, "/") ||
    fcntl(0, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0;
}
KERNEL(right_touchy, if (changed()) C[0] += 100)
