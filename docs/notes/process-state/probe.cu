// What makes two processes time the same kernel differently? One program, several modes; see
// ../2026-11-23-process-state.md. The driver, cuBLAS and NVML are opened at run time, so that it
// builds where they are not installed:
//
//   nvcc -arch=sm_90a -cubin -o probe.cubin probe.cu
//   nvcc -arch=sm_90a -O2 -std=c++17 -o probe probe.cu -ldl
//   ./probe MODE OUT SECONDS SEED      MODE: check ring l2 pages crossed contexts
//                                      process remedy slide streams nvml
//
// OUT.csv gets a row for each series of samples, OUT.ns its samples (uint16, nanoseconds) in order.
#include <cuda.h>
#include <cuda_bf16.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

// ---------------------------------------------------------------- kernels

namespace {
__device__ __forceinline__ uint4 stream_load(const void* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ void mma(float* d, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                    unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
__device__ __forceinline__ unsigned smid() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
constexpr int TILE = 16, OUTPUTS = TILE * TILE;
// Words of the meeting place of one tile: a counter on a line of its own for each rank, then sums.
constexpr int COUNTER = 32, RANKS = 8;

// C = relu(A Bᵀ), A [M, K], B [N, K]. A block takes one K slice of one 16x16 tile; the slices of a
// cluster meet in distributed shared memory; clusters of one tile, where there are several, add to
// `meet` by atomics, and the last to arrive stores. `log` gets the SM, start and end of the first
// block where it is given.
template <int WARPS, int GROUPS, int CLUSTER>
__device__ __forceinline__ void split_k(const __nv_bfloat16* A, const __nv_bfloat16* B,
                                        __nv_bfloat16* C, float* meet, int N, int K,
                                        unsigned long long* log) {
  constexpr int SHARE = OUTPUTS / CLUSTER, AT_ONCE = GROUPS < 4 ? GROUPS : 4;
  static_assert(SHARE <= 32 && GROUPS % AT_ONCE == 0);
  __shared__ float sums[WARPS][OUTPUTS];
  __shared__ float inbox[CLUSTER][SHARE];
  const unsigned long long started = log ? nanoseconds() : 0;
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int m0 = blockIdx.y * TILE, n0 = blockIdx.z * TILE;
  const int k0 = (blockIdx.x * WARPS + warp) * GROUPS * 32 + t * 8;
  const __nv_bfloat16* a = A + (size_t)(m0 + g) * K + k0;
  const __nv_bfloat16* b = B + (size_t)(n0 + g) * K + k0;
  float d[2][4] = {};
  // A thread's 8 neighbours in K serve two steps: the order of K within a sum is free, as long as
  // A and B have the same.
#pragma unroll
  for (int first = 0; first < GROUPS; first += AT_ONCE) {
    uint4 x[AT_ONCE][2], y[AT_ONCE][2];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        x[i][half] = stream_load(a + (size_t)half * 8 * K + (first + i) * 32);
        y[i][half] = stream_load(b + (size_t)half * 8 * K + (first + i) * 32);
      }
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
      for (int n = 0; n < 2; n++) {
        mma(d[n], x[i][0].x, x[i][1].x, x[i][0].y, x[i][1].y, y[i][n].x, y[i][n].y);
        mma(d[n], x[i][0].z, x[i][1].z, x[i][0].w, x[i][1].w, y[i][n].z, y[i][n].w);
      }
  }
#pragma unroll
  for (int n = 0; n < 2; n++)
#pragma unroll
    for (int r = 0; r < 4; r++) sums[warp][(g + r / 2 * 8) * TILE + n * 8 + t * 2 + r % 2] = d[n][r];
  __syncthreads();
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (int i = threadIdx.x; i < OUTPUTS; i += WARPS * 32) {
    float sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) sum += sums[w][i];
    unsigned here = (unsigned)__cvta_generic_to_shared(&inbox[rank][i % SHARE]), there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(i / SHARE));
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(sum) : "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (threadIdx.x < SHARE) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < CLUSTER; r++) sum += inbox[r][threadIdx.x];
    const int at = rank * SHARE + threadIdx.x, parts = gridDim.x / CLUSTER;
    __nv_bfloat16* c = C + (size_t)(m0 + at / TILE) * N + n0 + at % TILE;
    if (parts == 1) {
      *c = __float2bfloat16(fmaxf(sum, 0.f));
    } else {
      // One warp, one counter: the fence of each lane comes before the arrival of the first.
      unsigned* counter = (unsigned*)meet + rank * COUNTER;
      float* total = meet + RANKS * COUNTER + at;
      atomicAdd(total, sum);
      __threadfence();
      __syncwarp();
      unsigned before = 0;
      if (lane == 0) before = atomicAdd(counter, 1u);
      if (__shfl_sync(~0u, before, 0) == parts - 1) {
        __threadfence();
        *c = __float2bfloat16(fmaxf(__ldcg(total), 0.f));
        *total = 0;
        if (lane == 0) *counter = 0;
      }
    }
  }
  if (log && blockIdx.x == 0 && threadIdx.x == 0) {
    unsigned long long slot = atomicAdd(log, 1ull) * 3 + 1;
    log[slot] = smid(), log[slot + 1] = started, log[slot + 2] = nanoseconds();
  }
}
}  // namespace

#define SPLIT_K(NAME, WARPS, GROUPS, CLUSTER, LOG)                                             \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) __cluster_dims__(CLUSTER, 1, 1)     \
      NAME(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, float* meet,      \
           int N, int K, unsigned long long* log) {                                            \
    split_k<WARPS, GROUPS, CLUSTER>(A, B, C, meet, N, K, LOG);                                 \
  }
SPLIT_K(cluster16, 4, 4, 16, nullptr)
SPLIT_K(cluster16_log, 4, 4, 16, log)
SPLIT_K(mailbox, 2, 1, 8, nullptr)
SPLIT_K(tiles64, 4, 8, 8, nullptr)
SPLIT_K(tiles128, 4, 4, 8, nullptr)

extern "C" __global__ void nothing() {}

extern "C" __global__ void relu(__nv_bfloat16* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && __bfloat162float(C[i]) < 0) C[i] = __float2bfloat16(0.f);
}

// Writes zeros as the memset does, by a launch that counts as one.
extern "C" __global__ void zeros(uint4* to, long long count) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x)
    to[i] = make_uint4(0, 0, 0, 0);
}

// Fills the cache with clean lines.
extern "C" __global__ void reads(const uint4* from, long long count, unsigned* sink) {
  unsigned folded = 0;
#pragma unroll 4
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x)
    folded ^= from[i].x ^ from[i].w;
  if (folded == 0x9e3779b9u) *sink = folded;
}

// One word of each operand from every multiprocessor, so that all translations are known.
extern "C" __global__ void __launch_bounds__(1024) visit(const unsigned* a, const unsigned* b,
                                                         unsigned* sink) {
  if (threadIdx.x == 0 && *(volatile const unsigned*)a + *(volatile const unsigned*)b == 0x9e3779b9u)
    *sink = 1;
}

// Keeps multiprocessors busy; the store never happens.
extern "C" __global__ void burn(float* sink, int iterations) {
  float x[8];
  for (int i = 0; i < 8; i++) x[i] = 1.f + threadIdx.x + i;
  for (int n = 0; n < iterations; n++)
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = fmaf(x[i], 0.5f, 0.5f);
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += x[i];
  if (sum < 0) *sink = sum;
}

// Cycles of one warm access to each of `lines` lines from each multiprocessor, one after another.
extern "C" __global__ void l2_map(unsigned* base, int stride, int lines, unsigned* out,
                                  unsigned* turn, int atomics) {
  while (*(volatile unsigned*)turn != blockIdx.x) __nanosleep(200);
  __threadfence();
  for (int l = 0; l < lines; l++) {
    unsigned* p = base + (size_t)l * stride;
    unsigned best = ~0u;
    for (int r = 0; r < 6; r++) {
      unsigned from, to, v;
      asm volatile("mov.u32 %0, %%clock;" : "=r"(from)::"memory");
      if (atomics) asm volatile("atom.global.or.b32 %0, [%1], 0;" : "=r"(v) : "l"(p) : "memory");
      else asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
      // The clock is read once the value is there.
      asm volatile("{ .reg .pred q; setp.eq.u32 q, %1, 0x9e3779b9; @q trap; mov.u32 %0, %%clock; }"
                   : "=r"(to) : "r"(v) : "memory");
      best = min(best, to - from);
    }
    out[smid() * lines + l] = best;
  }
  __threadfence();
  atomicExch(turn, blockIdx.x + 1);
}

// Cycles of three dependent cold loads: a page never touched, the same page, another page.
extern "C" __global__ void touch(const char* page, const char* other, unsigned* out) {
  const char* at[3] = {page, page + (768 << 10), other};
  unsigned v = 0;
#pragma unroll
  for (int i = 0; i < 3; i++) {
    unsigned from, to;
    const char* p = at[i] + (v == 0x9e3779b9u ? 4 : 0);
    asm volatile("mov.u32 %0, %%clock;" : "=r"(from) : "l"(p) : "memory");
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    asm volatile("{ .reg .pred q; setp.eq.u32 q, %1, 0x9e3779b9; @q trap; mov.u32 %0, %%clock; }"
                 : "=r"(to) : "r"(v) : "memory");
    out[i] = to - from;
  }
}

// ---------------------------------------------------------------- libraries

#define CALLS(X)                                                                                  \
  X(cuInit) X(cuDeviceGet) X(cuDeviceGetName) X(cuDevicePrimaryCtxRetain)                         \
  X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxReset) X(cuCtxSetCurrent) X(cuCtxSynchronize)  \
  X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemsetD8)        \
  X(cuMemsetD8Async) X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize)                  \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphInstantiateWithFlags) X(cuGraphLaunch)   \
  X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuModuleLoadData) X(cuModuleUnload)                   \
  X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuLaunchKernel) X(cuEventCreate)                 \
  X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime) X(cuGetErrorName)
#define NAME_OF(f) #f
#define EXPANDED(f) NAME_OF(f)
struct Driver {
// Qualified, as the member has the function's own name.
#define X(f) decltype(&::f) f;
  CALLS(X)
#undef X
} cu;

[[noreturn]] void die(const char* format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  exit(1);
}
void ck_at(CUresult r, const char* what, int line) {
  const char* name = "?";
  if (r && cu.cuGetErrorName) cu.cuGetErrorName(r, &name);
  if (r) die("line %d: %s: %s", line, what, name);
}
#define CK(call) ck_at(call, #call, __LINE__)

void* library(const char* variable, const char* name) {
  const char* given = getenv(variable);
  return dlopen(given ? given : name, RTLD_NOW | RTLD_GLOBAL);
}
void open_driver() {
  void* lib = library("PROBE_CUDA", "libcuda.so.1");
  if (!lib) die("%s", dlerror());
#define X(f)                                                        \
  cu.f = (decltype(&::f))dlsym(lib, EXPANDED(f));                     \
  if (!cu.f) die("no %s", EXPANDED(f));
  CALLS(X)
#undef X
}

using Clock = std::chrono::steady_clock;
const Clock::time_point began = Clock::now();
double seconds() { return std::chrono::duration<double>(Clock::now() - began).count(); }

std::mt19937 dice;
int pick(int n) { return (int)(dice() % n); }

constexpr size_t MIB = 1 << 20, PAGE = 2 * MIB, FLUSH = 256 * MIB, WORKSPACE = 32 * MIB;

// ---------------------------------------------------------------- the timed sequence

// What was queued since the context was opened, so that a ring in the driver can be found.
struct Counts {
  long launches = 0, memsets = 0, graphs = 0, events = 0;
} counts;

struct Place {
  CUdeviceptr a = 0, b = 0, c = 0, meet = 0;
};
struct Shape {
  int m, n, k;
};
struct Kernel {
  const char* name;
  const char* entry;
  Shape shape;
  unsigned gx, gy, gz, block;
};
const Kernel KERNELS[] = {
    {"empty", "nothing", {16, 16, 8192}, 1, 1, 1, 32},
    {"cluster16", "cluster16", {16, 16, 8192}, 16, 1, 1, 128},
    {"mailbox", "mailbox", {16, 16, 8192}, 128, 1, 1, 64},
    {"cublas", "", {16, 16, 8192}, 0, 0, 0, 0},
    {"tiles64", "tiles64", {64, 64, 8192}, 8, 4, 4, 128},
    {"cublas", "", {64, 64, 8192}, 0, 0, 0, 0},
    {"tiles128", "tiles128", {128, 128, 4096}, 8, 8, 8, 128},
    {"cublas", "", {128, 128, 4096}, 0, 0, 0, 0},
    {"cluster16_log", "cluster16_log", {16, 16, 8192}, 16, 1, 1, 128},
};
enum { EMPTY, CLUSTER16, MAILBOX, CUBLAS, TILES64, CUBLAS64, TILES128, CUBLAS128, LOGGED };

struct Module {
  CUmodule handle = nullptr;
  CUfunction function(const char* name) const {
    CUfunction f;
    CK(cu.cuModuleGetFunction(&f, handle, name));
    return f;
  }
};
std::vector<char> image;
Module load_module() {
  Module m;
  CK(cu.cuModuleLoadData(&m.handle, image.data()));
  for (const char* wide : {"cluster16", "cluster16_log"})
    CK(cu.cuFuncSetAttribute(m.function(wide), CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                             1));
  CK(cu.cuFuncSetAttribute(m.function("l2_map"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           160 << 10));
  return m;
}

struct Events {
  std::vector<CUevent> start, end;
};
Events make_events(int n) {
  Events e;
  e.start.resize(n), e.end.resize(n);
  for (int i = 0; i < n; i++) {
    CK(cu.cuEventCreate(&e.start[i], CU_EVENT_DEFAULT));
    CK(cu.cuEventCreate(&e.end[i], CU_EVENT_DEFAULT));
  }
  return e;
}
void drop(Events& e) {
  for (auto* list : {&e.start, &e.end})
    for (CUevent x : *list) CK(cu.cuEventDestroy(x));
}
CUdeviceptr alloc(size_t bytes) {
  CUdeviceptr p;
  CK(cu.cuMemAlloc(&p, bytes));
  return p;
}
CUstream make_stream() {
  CUstream s;
  CK(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  return s;
}

struct Blas {
  using Gemm = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int,
                       const void*, int, int, const void*, void*, int, int, int, int);
  void* handle = nullptr;
  CUdeviceptr workspace = 0;
  Gemm gemm = nullptr;
  int (*set_stream)(void*, CUstream) = nullptr;
  int (*set_workspace)(void*, CUdeviceptr, size_t) = nullptr;
  bool open() {
    void* lib = library("PROBE_CUBLAS", "libcublas.so.13");
    if (!lib) {
      fprintf(stderr, "no cuBLAS: %s\n", dlerror());
      return false;
    }
    auto create = (int (*)(void**))dlsym(lib, "cublasCreate_v2");
    gemm = (Gemm)dlsym(lib, "cublasGemmEx");
    set_stream = (decltype(set_stream))dlsym(lib, "cublasSetStream_v2");
    set_workspace = (decltype(set_workspace))dlsym(lib, "cublasSetWorkspace_v2");
    if (!create || !gemm || !set_stream || !set_workspace || create(&handle)) return handle = nullptr;
    workspace = alloc(WORKSPACE);
    return true;
  }
  // Row-major A Bᵀ is column-major B Aᵀ transposed. 14 is bf16, 68 a sum in fp32.
  void product(CUstream stream, const Shape& s, const Place& p) {
    const float one = 1, zero = 0;
    set_stream(handle, stream);
    set_workspace(handle, workspace, WORKSPACE);
    if (int r = gemm(handle, 1, 0, s.n, s.m, s.k, &one, (void*)p.b, 14, s.k, (void*)p.a, 14, s.k,
                     &zero, (void*)p.c, 14, s.n, 68, -1))
      die("cublasGemmEx: %d", r);
  }
} blas;

CUdeviceptr log_memory = 0;

void enqueue(const Kernel& k, const Module& module, CUstream stream, Place p) {
  if (!*k.entry) {
    blas.product(stream, k.shape, p);
    int count = k.shape.m * k.shape.n;
    void* args[] = {&p.c, &count};
    CK(cu.cuLaunchKernel(module.function("relu"), (count + 255) / 256, 1, 1, 256, 1, 1, 0, stream,
                         args, nullptr));
    return;
  }
  int n = k.shape.n, depth = k.shape.k;
  void* args[] = {&p.a, &p.b, &p.c, &p.meet, &n, &depth, &log_memory};
  CK(cu.cuLaunchKernel(module.function(k.entry), k.gx, k.gy, k.gz, k.block, 1, 1, 0, stream,
                       strcmp(k.name, "empty") ? args : nullptr, nullptr));
}

CUgraphExec make_graph(const Kernel& k, const Module& module, CUstream stream, const Place& p) {
  CUgraph graph;
  CUgraphExec exec;
  CK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  enqueue(k, module, stream, p);
  CK(cu.cuStreamEndCapture(stream, &graph));
  CK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
  CK(cu.cuGraphDestroy(graph));
  return exec;
}

// Everything that a series of samples is taken with.
struct Rig {
  CUstream stream;
  Events events;
  CUdeviceptr flush;
  Module module;
};
// Departures from the sequence of mnkbench: an empty launch before every fourth sample, 256 MiB of
// zeros, event, graph, event; no wait before the end.
struct Ways {
  int nudge_every = 4, nudges = 1, extra_events = 0;
  // Samples that may be queued at once; 0 for all.
  int depth = 0;
  size_t flush_bytes = FLUSH;
  bool flush = true, flush_by_kernel = false, flush_by_reads = false, wait = false,
       shuffled = false, one_pair = false, direct = false, visits = false;
};

std::vector<float> take(const Rig& rig, const Kernel& kernel, const Place& place, CUgraphExec exec,
                        int count, const Ways& ways = {}) {
  CUfunction nothing = rig.module.function("nothing"), zeros = rig.module.function("zeros");
  std::vector<int> pair(count);
  std::iota(pair.begin(), pair.end(), 0);
  if (ways.shuffled) std::shuffle(pair.begin(), pair.end(), dice);
  if (ways.one_pair) std::fill(pair.begin(), pair.end(), 0);
  std::vector<float> us(count);
  auto read = [&](int i) {
    float ms;
    CK(cu.cuEventElapsedTime(&ms, rig.events.start[pair[i]], rig.events.end[pair[i]]));
    us[i] = ms * 1e3f;
  };
  CUfunction reads = rig.module.function("reads"), visit = rig.module.function("visit");
  CUdeviceptr flush = rig.flush, sink = rig.flush, a = place.a, b = place.b;
  long long vectors = ways.flush_bytes / 16;
  void *flush_args[] = {&flush, &vectors, &sink}, *visit_args[] = {&a, &b, &sink};
  for (int i = 0; i < count; i++) {
    if (ways.depth && i >= ways.depth)
      CK(cu.cuEventSynchronize(rig.events.end[pair[i - ways.depth]]));
    if (ways.nudge_every && i % ways.nudge_every == ways.nudge_every - 1)
      for (int j = 0; j < ways.nudges; j++, counts.launches++)
        CK(cu.cuLaunchKernel(nothing, 1, 1, 1, 32, 1, 1, 0, rig.stream, nullptr, nullptr));
    for (int j = 0; j < ways.extra_events; j++, counts.events++)
      CK(cu.cuEventRecord(rig.events.start[pair[i]], rig.stream));
    if (ways.flush_by_kernel || ways.flush_by_reads) {
      CK(cu.cuLaunchKernel(ways.flush_by_reads ? reads : zeros, 1056, 1, 1, 256, 1, 1, 0, rig.stream,
                           flush_args, nullptr));
      counts.launches++;
    } else if (ways.flush) {
      CK(cu.cuMemsetD8Async(rig.flush, 0, ways.flush_bytes, rig.stream));
      counts.memsets++;
    }
    if (ways.visits) {
      CK(cu.cuLaunchKernel(visit, 264, 1, 1, 1024, 1, 1, 0, rig.stream, visit_args, nullptr));
      counts.launches++;
    }
    CK(cu.cuEventRecord(rig.events.start[pair[i]], rig.stream));
    if (ways.direct) enqueue(kernel, rig.module, rig.stream, place), counts.launches++;
    else CK(cu.cuGraphLaunch(exec, rig.stream)), counts.graphs++;
    CK(cu.cuEventRecord(rig.events.end[pair[i]], rig.stream));
    counts.events += 2;
    if (ways.wait || ways.one_pair) CK(cu.cuStreamSynchronize(rig.stream)), read(i);
  }
  CK(cu.cuStreamSynchronize(rig.stream));
  if (!ways.one_pair)
    for (int i = 0; i < count; i++) read(i);
  return us;
}

double quantile(const std::vector<float>& sorted, double q) {
  double at = q * (sorted.size() - 1);
  size_t low = (size_t)at, high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}
double median_of(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return quantile(v, 0.5);
}
// The figure of mnkbench: the mean of the medians of `phases` residues of the sample's index.
double phased(const std::vector<float>& us, int phases) {
  double sum = 0;
  for (int p = 0; p < phases; p++) {
    std::vector<float> own;
    for (size_t i = p; i < us.size(); i += phases) own.push_back(us[i]);
    sum += median_of(own);
  }
  return sum / phases;
}

FILE *rows, *samples;
std::string mode;
int seed;

struct Tag {
  const char* policy = "";
  int context = 0, draw = 0;
  std::string levels;
};

double record(const Tag& tag, const Kernel& k, const Place& p, const std::vector<float>& us,
              const Counts& from) {
  std::vector<float> sorted = us;
  std::sort(sorted.begin(), sorted.end());
  double mean = std::accumulate(us.begin(), us.end(), 0.0) / us.size(), figure = phased(us, 16);
  static bool headed = false;
  if (!headed)
    fprintf(rows, "mode,process,t_s,policy,context,draw,levels,kernel,m,n,k,a,b,c,meet,launches,"
                  "memsets,graphs,events,count,figure_us,median_us,min_us,q1_us,q3_us,mean_us\n");
  headed = true;
  fprintf(rows, "%s,%d,%.3f,%s,%d,%d,%s,%s,%d,%d,%d,%llx,%llx,%llx,%llx,%ld,%ld,%ld,%ld,%zu,"
                "%.4f,%.4f,%.3f,%.4f,%.4f,%.4f\n",
          mode.c_str(), seed, seconds(), tag.policy, tag.context, tag.draw, tag.levels.c_str(),
          k.name, k.shape.m, k.shape.n, k.shape.k, p.a, p.b, p.c, p.meet, from.launches,
          from.memsets, from.graphs, from.events, us.size(), figure, quantile(sorted, 0.5),
          sorted[0], quantile(sorted, 0.25), quantile(sorted, 0.75), mean);
  for (float x : us) {
    uint16_t ns = (uint16_t)std::min(65535.f, std::round(x * 1e3f));
    fwrite(&ns, sizeof ns, 1, samples);
  }
  return figure;
}

constexpr int SERIES = 256;
const Ways WAIT = [] {
  Ways w;
  w.wait = true;
  return w;
}();

double measure(const Rig& rig, int kernel, const Place& place, const Tag& tag, int count = SERIES,
               const Ways& ways = {}) {
  const Kernel& k = KERNELS[kernel];
  if (!*k.entry && !blas.handle) return NAN;
  CUgraphExec exec = make_graph(k, rig.module, rig.stream, place);
  take(rig, k, place, exec, 8, ways);  // the graph's first launch uploads it
  Counts from = counts;
  double figure = record(tag, k, place, take(rig, k, place, exec, count, ways), from);
  CK(cu.cuGraphExecDestroy(exec));
  return figure;
}

// ---------------------------------------------------------------- operands

struct Operands {
  Shape shape;
  std::vector<__nv_bfloat16> a, b;
};
Operands random_operands(Shape s) {
  Operands o{s};
  std::mt19937 values(7);
  std::normal_distribution<float> normal;
  o.a.resize((size_t)s.m * s.k), o.b.resize((size_t)s.n * s.k);
  for (auto* list : {&o.a, &o.b})
    for (auto& x : *list) x = __float2bfloat16(normal(values));
  return o;
}
size_t a_bytes(const Shape& s) { return (size_t)s.m * s.k * 2; }
size_t b_bytes(const Shape& s) { return (size_t)s.n * s.k * 2; }
size_t c_bytes(const Shape& s) { return (size_t)s.m * s.n * 2; }
constexpr size_t MEET_BYTES = (RANKS * COUNTER + OUTPUTS) * 4;

void fill(const Place& p, const Operands& o) {
  CK(cu.cuMemcpyHtoD(p.a, o.a.data(), a_bytes(o.shape)));
  CK(cu.cuMemcpyHtoD(p.b, o.b.data(), b_bytes(o.shape)));
  CK(cu.cuMemsetD8(p.c, 0xff, c_bytes(o.shape)));
  CK(cu.cuMemsetD8(p.meet, 0, MEET_BYTES));
}
// As mnkbench allocates: one call for each.
Place separate(const Shape& s) {
  Place p;
  p.a = alloc(a_bytes(s)), p.b = alloc(b_bytes(s)), p.c = alloc(c_bytes(s));
  p.meet = alloc(MEET_BYTES);
  return p;
}
void release(const Place& p) {
  for (CUdeviceptr x : {p.a, p.b, p.c, p.meet}) CK(cu.cuMemFree(x));
}
// All of the 16x16x8192 product in one page, from `offset` on.
Place within(CUdeviceptr page, size_t offset = 0) {
  Place p;
  p.a = page + offset, p.b = p.a + (256 << 10), p.c = p.b + (256 << 10), p.meet = p.c + 4096;
  return p;
}

struct Pool {
  CUdeviceptr base = 0;
  int pages = 0;
  CUdeviceptr page(int i) const { return base + (size_t)i * PAGE; }
  CUdeviceptr any() const { return page(pick(pages)); }
};
Pool make_pool(int pages) {
  CUdeviceptr raw = alloc((size_t)(pages + 1) * PAGE);
  return {(raw + PAGE - 1) / PAGE * PAGE, pages};
}

CUcontext open_context() {
  CUdevice device;
  CUcontext context;
  CK(cu.cuDeviceGet(&device, 0));
  CK(cu.cuDevicePrimaryCtxRetain(&context, device));
  CK(cu.cuCtxSetCurrent(context));
  counts = {};
  return context;
}
Rig make_rig(int events = SERIES) {
  Rig rig;
  rig.stream = make_stream();
  rig.module = load_module();
  rig.events = make_events(events);
  rig.flush = alloc(FLUSH);
  return rig;
}
void warm(const Rig& rig, double s, int blocks = 8) {
  CUdeviceptr sink = rig.flush;
  int iterations = 20000;
  void* args[] = {&sink, &iterations};
  for (double end = seconds() + s; seconds() < end;) {
    for (int i = 0; i < 4; i++)
      CK(cu.cuLaunchKernel(rig.module.function("burn"), blocks, 1, 1, 256, 1, 1, 0, rig.stream,
                           args, nullptr));
    CK(cu.cuStreamSynchronize(rig.stream));
  }
}

// ---------------------------------------------------------------- modes

double check(const Rig& rig, int kernel, const Place& p, const Operands& o) {
  const Kernel& k = KERNELS[kernel];
  if (!*k.entry && !blas.handle) return NAN;
  fill(p, o);
  CUgraphExec exec = make_graph(k, rig.module, rig.stream, p);
  for (int i = 0; i < 3; i++) CK(cu.cuGraphLaunch(exec, rig.stream));
  CK(cu.cuStreamSynchronize(rig.stream));
  CK(cu.cuGraphExecDestroy(exec));
  const Shape& s = o.shape;
  std::vector<__nv_bfloat16> c((size_t)s.m * s.n);
  CK(cu.cuMemcpyDtoH(c.data(), p.c, c_bytes(s)));
  double error = 0, norm = 0;
  for (int i = 0; i < s.m; i++)
    for (int j = 0; j < s.n; j++) {
      double sum = 0;
      for (int x = 0; x < s.k; x++)
        sum += (double)__bfloat162float(o.a[(size_t)i * s.k + x]) *
               __bfloat162float(o.b[(size_t)j * s.k + x]);
      sum = std::max(sum, 0.0);
      double d = sum - __bfloat162float(c[(size_t)i * s.n + j]);
      error += d * d, norm += sum * sum;
    }
  return std::sqrt(error / norm);
}

int check_all(const Rig& rig) {
  bool good = true;
  for (int k : {CLUSTER16, MAILBOX, LOGGED, CUBLAS, TILES64, CUBLAS64, TILES128, CUBLAS128}) {
    Operands o = random_operands(KERNELS[k].shape);
    Place p = separate(o.shape);
    double e = check(rig, k, p, o);
    printf("check %s %dx%dx%d: relative error %.2e\n", KERNELS[k].name, o.shape.m, o.shape.n,
           o.shape.k, e);
    if (!(e < 1e-2)) good = false;
  }
  return !good;
}

// One process as it comes: what mnkbench does, then other places and streams in the same process.
void process(Rig& rig, double until) {
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Place natural = separate(s);
  Pool pool = make_pool(64);
  fill(natural, o);
  measure(rig, CLUSTER16, natural, {"unwarmed"});
  warm(rig, 0.15);
  const int own[] = {EMPTY, CLUSTER16, MAILBOX, CUBLAS};
  auto round = [&](const Rig& with, const Place& p, const char* policy, int draw) {
    for (int k : own) measure(with, k, p, {policy, 0, draw});
  };
  for (int r = 0; r < 3; r++) round(rig, natural, "natural", r);
  for (int k : {TILES64, TILES128}) {
    Operands wide = random_operands(KERNELS[k].shape);
    Place p = separate(wide.shape);
    fill(p, wide);
    for (int which : {k, k + 1}) measure(rig, which, p, {"natural"});
  }
  for (int d = 0; d < 3 && seconds() < until; d++) {
    // What a harness has allocated before: some of it freed again.
    std::vector<CUdeviceptr> before;
    for (int i = pick(40); i >= 0; i--) before.push_back(alloc((size_t)1 << (10 + pick(11))));
    for (size_t i = 0; i < before.size(); i += 2) CK(cu.cuMemFree(before[i]));
    Place p = separate(s);
    fill(p, o);
    round(rig, p, "separate", d);
  }
  for (int d = 0; d < 3 && seconds() < until; d++) {
    Place p = within(pool.any());
    fill(p, o);
    round(rig, p, "page", d);
  }
  for (int d = 0; d < 4 && seconds() < until; d++) {
    Rig other = rig;
    other.stream = make_stream();
    round(other, natural, "stream", d);
  }
  round(rig, natural, "natural", 3);
}

// What a process may do about it: wait for each sample, and draw several places.
void remedy(const Rig& rig) {
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Place natural = separate(s);
  fill(natural, o);
  Pool pool = make_pool(256);
  warm(rig, 0.15);
  const int own[] = {EMPTY, CLUSTER16, MAILBOX, CUBLAS};
  for (int r = 0; r < 2; r++)
    for (int k : own) {
      measure(rig, k, natural, {"queued", 0, r});
      measure(rig, k, natural, {"waited", 0, r}, SERIES, WAIT);
    }
  for (int d = 0; d < 9; d++) {
    Place p = within(pool.any());
    fill(p, o);
    for (int k : own) {
      measure(rig, k, p, {"queued places", 0, d}, SERIES / 2);
      measure(rig, k, p, {"waited places", 0, d}, SERIES / 2, WAIT);
    }
  }
}

// Operands moved through memory in small steps: where are the fast places, and what do they depend
// on? All of the pool has random operands, so nothing is copied.
void slide(const Rig& rig, double until) {
  constexpr size_t STEP = 256 << 10;
  constexpr int PLACES = 192;
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Pool pool = make_pool(PLACES * STEP / PAGE + 1);
  for (size_t at = 0; at < pool.pages * PAGE; at += STEP)
    CK(cu.cuMemcpyHtoD(pool.base + at, o.a.data(), STEP));
  CUdeviceptr rest = alloc(2 * PAGE);
  CK(cu.cuMemsetD8(rest, 0, 2 * PAGE));
  Rig second = rig;
  alloc(37 * PAGE);
  second.flush = alloc(FLUSH);
  warm(rig, 0.15);
  struct {
    const char* name;
    const Rig* rig;
    Ways ways;
    int kernel;
  } all[8] = {{"zeros", &rig, WAIT, CLUSTER16},     {"zeros again", &rig, WAIT, CLUSTER16},
              {"other flush", &second, WAIT, CLUSTER16}, {"mailbox", &rig, WAIT, MAILBOX},
              {"visited", &rig, WAIT, CLUSTER16},   {"read flush", &rig, WAIT, CLUSTER16},
              {"half flush", &rig, WAIT, CLUSTER16}, {"warm", &rig, WAIT, CLUSTER16}};
  all[4].ways.visits = true;
  all[5].ways.flush_by_reads = true;
  all[6].ways.flush_bytes = FLUSH / 2;
  all[7].ways.flush = false;
  for (auto& variant : all) {
    std::vector<int> order(PLACES);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), dice);
    for (int i : order) {
      if (seconds() > until) return;
      Place p{pool.base + i * STEP, pool.base + (i + 1) * STEP, rest, rest + 4096};
      measure(*variant.rig, variant.kernel, p, {variant.name, 0, i}, 64, variant.ways);
    }
  }
}

// Streams that exist beside the one in use, idle, used once, and destroyed again.
void streams(const Rig& rig) {
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Place p = separate(s);
  fill(p, o);
  warm(rig, 0.15);
  int turn = 0;
  auto round = [&](const char* policy, int others) {
    for (int k : {EMPTY, CLUSTER16, CUBLAS}) {
      measure(rig, k, p, {policy, others, turn});
      measure(rig, k, p, {(std::string(policy) + " waited").c_str(), others, turn}, SERIES, WAIT);
    }
    turn++;
  };
  for (int others : {0, 1, 2, 4, 8, 16}) {
    std::vector<CUstream> list;
    for (int i = 0; i < others; i++) list.push_back(make_stream());
    round("idle", others);
    for (CUstream x : list) {
      CK(cu.cuLaunchKernel(rig.module.function("nothing"), 1, 1, 1, 32, 1, 1, 0, x, nullptr, nullptr));
      CK(cu.cuStreamSynchronize(x));
    }
    round("used once", others);
    for (CUstream x : list) CK(cu.cuStreamDestroy(x));
    round("destroyed", others);
  }
}

// The primary context anew, again and again; inside each, streams and places.
void contexts(double until) {
  CUdevice device;
  CK(cu.cuDeviceGet(&device, 0));
  for (int c = 0; c < 16 && seconds() < until; c++) {
    open_context();
    Rig rig = make_rig();
    const Shape s = KERNELS[CLUSTER16].shape;
    Operands o = random_operands(s);
    Place natural = separate(s);
    Pool pool = make_pool(32);
    fill(natural, o);
    warm(rig, c ? 0.03 : 0.15);
    auto round = [&](const Rig& with, const Place& p, const char* policy, int draw) {
      for (int k : {EMPTY, CLUSTER16, MAILBOX}) measure(with, k, p, {policy, c, draw});
    };
    for (int r = 0; r < 2; r++) round(rig, natural, "natural", r);
    for (int k : {EMPTY, CLUSTER16, MAILBOX}) measure(rig, k, natural, {"wait", c}, SERIES, WAIT);
    for (int d = 0; d < 2; d++) {
      Place p = within(pool.any());
      fill(p, o);
      round(rig, p, "page", d);
    }
    for (int d = 0; d < 3; d++) {
      Rig other = rig;
      other.stream = make_stream();
      round(other, natural, "stream", d);
    }
    CK(cu.cuDevicePrimaryCtxReset(device));
    CK(cu.cuDevicePrimaryCtxRelease(device));
  }
}

// Levels of every factor drawn independently for each measurement, so that one fit separates them.
void crossed(const Rig& rig, double until) {
  constexpr int LEVELS = 6;
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Pool pool = make_pool(8 * LEVELS);
  std::vector<CUstream> streams;
  std::vector<Events> events;
  std::vector<CUdeviceptr> flushes;
  std::vector<Module> modules;
  for (int i = 0; i < LEVELS; i++) {
    streams.push_back(make_stream());
    events.push_back(make_events(SERIES));
    flushes.push_back(alloc(FLUSH));
    modules.push_back(load_module());
  }
  std::vector<int> order(pool.pages);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), dice);
  auto page = [&](int role, int level) { return pool.page(order[role * LEVELS + level]); };
  warm(rig, 0.15);
  for (int draw = 0; draw < 400 && seconds() < until; draw++) {
    int l[7];
    for (int& x : l) x = pick(LEVELS);
    Rig drawn{streams[l[0]], events[l[1]], flushes[l[2]], modules[l[3]]};
    Place p{page(0, l[4]), page(0, l[4]) + (256 << 10), page(1, l[5]), page(2, l[6])};
    fill(p, o);
    char levels[32];
    snprintf(levels, sizeof levels, "%d|%d|%d|%d|%d|%d|%d", l[0], l[1], l[2], l[3], l[4], l[5], l[6]);
    for (int k : {EMPTY, CLUSTER16, MAILBOX}) {
      CUgraphExec exec = make_graph(KERNELS[k], drawn.module, drawn.stream, p);
      take(drawn, KERNELS[k], p, exec, 8);
      // Twice by one graph: the difference is the noise of a measurement.
      for (int r = 0; r < 2; r++) {
        Counts from = counts;
        record({r ? "again" : "first", 0, draw, levels}, KERNELS[k], p,
               take(drawn, KERNELS[k], p, exec, SERIES / 2), from);
      }
      CK(cu.cuGraphExecDestroy(exec));
    }
  }
}

// Which operands share a 2 MiB page, and where in a page they begin.
void pages(const Rig& rig, double until) {
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Pool pool = make_pool(96);
  warm(rig, 0.15);
  const size_t half = 256 << 10;
  for (int draw = 0; draw < 16 && seconds() < until; draw++) {
    CUdeviceptr w = pool.any(), x = pool.any(), y = pool.any(), z = pool.any();
    struct {
      const char* name;
      Place p;
    } layouts[] = {
        {"one page", within(w)},
        {"AB|C+meet", {w, w + half, x, x + 4096}},
        {"A|B|C+meet", {w, x, y, y + 4096}},
        {"A|B|C|meet", {w, x, y, z}},
        {"ABC|meet", {w, w + half, w + 2 * half, x}},
        {"AB+meet|C", {w, w + half, x, w + 2 * half}},
        {"+256 B", within(w, 256)},
        {"+4 KiB", within(w, 4096)},
        {"+64 KiB", within(w, 64 << 10)},
        {"+1 MiB", within(w, MIB)},
    };
    int order[10];
    std::iota(order, order + 10, 0);
    std::shuffle(order, order + 10, dice);
    for (int i : order) {
      fill(layouts[i].p, o);
      for (int k : {CLUSTER16, MAILBOX}) measure(rig, k, layouts[i].p, {layouts[i].name, 0, draw});
    }
  }
}

// Long series of departures from the sequence: which of its steps moves a ring in the driver on?
void ring(const Rig& rig, double until) {
  constexpr int LONG = 1024;
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Place p = separate(s);
  fill(p, o);
  warm(rig, 0.15);
  struct {
    const char* name;
    Ways ways;
  } all[14] = {{"as mnkbench"}, {"no nudge"}, {"two nudges"}, {"nudge each"}, {"extra event"},
               {"shuffled events"}, {"one pair"}, {"direct"}, {"flush by kernel"}, {"no flush"},
               {"wait"}, {"as mnkbench"}, {"one ahead"}, {"two ahead"}};
  all[1].ways.nudge_every = 0;
  all[2].ways.nudges = 2;
  all[3].ways.nudge_every = 1;
  all[4].ways.extra_events = 1;
  all[5].ways.shuffled = true;
  all[6].ways.one_pair = true;
  all[7].ways.direct = true;
  all[8].ways.flush_by_kernel = true;
  all[9].ways.flush = false;
  all[10].ways.wait = true;
  all[12].ways.depth = 2;
  all[13].ways.depth = 3;
  for (int turn = 0; turn < 3 && seconds() < until; turn++) {
    Rig with = rig;
    if (turn == 2) with.stream = make_stream();
    for (auto& variant : all)
      for (int k : {EMPTY, CLUSTER16}) measure(with, k, p, {variant.name, 0, turn}, LONG, variant.ways);
    CK(cu.cuMemsetD8(log_memory, 0, 8));
    measure(with, LOGGED, p, {"log", 0, turn}, LONG);
    std::vector<unsigned long long> log(1 + 3 * (LONG + 8));
    CK(cu.cuMemcpyDtoH(log.data(), log_memory, log.size() * 8));
    // The first eight are those of the upload.
    for (int i = 8; i < LONG + 8; i++)
      printf("log,%d,%d,%llu,%llu,%llu\n", turn, i - 8, log[1 + 3 * i], log[2 + 3 * i], log[3 + 3 * i]);
  }
}

// How far the L2's lines are from each multiprocessor, and what a page not yet looked up costs.
void l2(const Rig& rig) {
  constexpr int LINES = 64, SMS = 132;
  Pool pool = make_pool(64);
  CK(cu.cuMemsetD8(pool.base, 0x5a, (size_t)pool.pages * PAGE));
  warm(rig, 0.1);
  CUdeviceptr out = alloc(256 * LINES * 4), turn = alloc(128);
  for (int atomics = 0; atomics < 2; atomics++)
    for (int stride : {32, 1056}) {
      CUdeviceptr base = pool.page(5);
      int lines = LINES;
      CK(cu.cuMemsetD8(turn, 0, 128));
      CK(cu.cuMemsetD8(out, 0, 256 * LINES * 4));
      void* args[] = {&base, &stride, &lines, &out, &turn, &atomics};
      CK(cu.cuLaunchKernel(rig.module.function("l2_map"), SMS, 1, 1, 1, 1, 1, 160 << 10, rig.stream,
                           args, nullptr));
      CK(cu.cuStreamSynchronize(rig.stream));
      std::vector<unsigned> cycles(256 * LINES);
      CK(cu.cuMemcpyDtoH(cycles.data(), out, cycles.size() * 4));
      for (int sm = 0; sm < 256; sm++)
        if (cycles[sm * LINES]) {
          printf("l2,%s,%d,%d", atomics ? "atomic" : "load", stride * 4, sm);
          for (int l = 0; l < LINES; l++) printf(",%u", cycles[sm * LINES + l]);
          printf("\n");
        }
    }
  for (int i = 0; i < 200; i++) {
    CUdeviceptr page = pool.any() + pick(1024) * 128, other = pool.any() + pick(4096) * 128;
    CK(cu.cuMemsetD8Async(rig.flush, 0, FLUSH, rig.stream));
    void* args[] = {&page, &other, &out};
    CK(cu.cuLaunchKernel(rig.module.function("touch"), 1, 1, 1, 1, 1, 1, 0, rig.stream, args, nullptr));
    CK(cu.cuStreamSynchronize(rig.stream));
    unsigned cycles[3];
    CK(cu.cuMemcpyDtoH(cycles, out, sizeof cycles));
    printf("touch,%u,%u,%u\n", cycles[0], cycles[1], cycles[2]);
  }
}

// ---------------------------------------------------------------- NVML

struct FieldValue {
  unsigned id = 0, scope = 0;
  long long timestamp = 0, latency_us = 0;
  int type = 0, status = 0;
  unsigned long long value = 0;
};
struct Nvml {
  void* device = nullptr;
  int (*fields)(void*, int, FieldValue*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  bool open() {
    void* lib = library("PROBE_NVML", "libnvidia-ml.so.1");
    if (!lib) return false;
    auto init = (int (*)())dlsym(lib, "nvmlInit_v2");
    auto get = (int (*)(unsigned, void**))dlsym(lib, "nvmlDeviceGetHandleByIndex_v2");
    fields = (decltype(fields))dlsym(lib, "nvmlDeviceGetFieldValues");
    power = (decltype(power))dlsym(lib, "nvmlDeviceGetPowerUsage");
    clock = (decltype(clock))dlsym(lib, "nvmlDeviceGetClockInfo");
    reasons = (decltype(reasons))dlsym(lib, "nvmlDeviceGetCurrentClocksThrottleReasons");
    energy = (decltype(energy))dlsym(lib, "nvmlDeviceGetTotalEnergyConsumption");
    temperature = (decltype(temperature))dlsym(lib, "nvmlDeviceGetTemperature");
    return init && get && fields && power && clock && reasons && energy && temperature && !init() &&
           !get(0, &device);
  }
  FieldValue field(unsigned id) const {
    FieldValue v;
    v.id = id;
    if (fields(device, 1, &v)) v.status = -1;
    return v;
  }
} nvml;
constexpr unsigned POWER_AVERAGE = 185, POWER_INSTANT = 186;
constexpr int SM_CLOCK = 1, MEMORY_CLOCK = 2;

template <class Call>
void cost(const char* name, const char* load, Call call) {
  std::vector<float> us;
  for (int i = 0; i < 200; i++) {
    double from = seconds();
    if (call()) {
      printf("cost,%s,%s,refused\n", name, load);
      return;
    }
    us.push_back((float)((seconds() - from) * 1e6));
  }
  std::sort(us.begin(), us.end());
  printf("cost,%s,%s,%.1f,%.1f,%.1f\n", name, load, us[0], quantile(us, 0.5), us.back());
}
void costs(const char* load) {
  unsigned u;
  unsigned long long l;
  cost("field 186", load, [] { return nvml.field(POWER_INSTANT).status; });
  cost("field 185", load, [] { return nvml.field(POWER_AVERAGE).status; });
  cost("fields 185+186", load, [] {
    FieldValue v[2];
    v[0].id = POWER_AVERAGE, v[1].id = POWER_INSTANT;
    return nvml.fields(nvml.device, 2, v);
  });
  cost("power usage", load, [&] { return nvml.power(nvml.device, &u); });
  cost("SM clock", load, [&] { return nvml.clock(nvml.device, SM_CLOCK, &u); });
  cost("memory clock", load, [&] { return nvml.clock(nvml.device, MEMORY_CLOCK, &u); });
  cost("reasons", load, [&] { return nvml.reasons(nvml.device, &l); });
  cost("energy", load, [&] { return nvml.energy(nvml.device, &l); });
  cost("temperature", load, [&] { return nvml.temperature(nvml.device, 0, &u); });
}

void power(const Rig& rig, double until) {
  if (!nvml.open()) die("no NVML");
  const Shape s = KERNELS[CLUSTER16].shape;
  Operands o = random_operands(s);
  Place p = separate(s);
  fill(p, o);
  costs("idle");
  warm(rig, 0.1);
  std::atomic<bool> stop{false};
  {
    std::thread load([&] {
      CUcontext context;
      CUdevice device;
      CK(cu.cuDeviceGet(&device, 0));
      CK(cu.cuDevicePrimaryCtxRetain(&context, device));
      CK(cu.cuCtxSetCurrent(context));
      while (!stop) warm(rig, 0.02, 1056);
    });
    costs("busy");
    stop = true;
    load.join();
  }
  // What polling does to the figure, in turns.
  stop = false;
  std::atomic<bool> polling{false}, over{false};
  std::atomic<int> phase{0};
  unsigned last[5] = {};
  int last_phase = 0;
  long polls = 0;
  std::thread poll([&] {
    while (!over) {
      if (!polling) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        continue;
      }
      // The energy counter is not read here: its call takes milliseconds.
      double at = seconds();
      FieldValue now = nvml.field(POWER_INSTANT);
      double took = seconds() - at;
      FieldValue mean = nvml.field(POWER_AVERAGE);
      unsigned sm = 0, memory = 0;
      unsigned long long why = 0;
      nvml.clock(nvml.device, SM_CLOCK, &sm);
      nvml.clock(nvml.device, MEMORY_CLOCK, &memory);
      nvml.reasons(nvml.device, &why);
      double all = seconds() - at;
      unsigned watts[] = {(unsigned)now.value, (unsigned)mean.value, sm, memory, (unsigned)why};
      // Only what is new or slow, as there are a million polls.
      if (memcmp(watts, last, sizeof last) || all > 50e-6 || phase != last_phase)
        printf("poll,%d,%.6f,%u,%u,%u,%u,%x,%.1f,%.1f,%ld\n", (int)phase, at, watts[0], watts[1], sm,
               memory, watts[4], took * 1e6, all * 1e6, polls);
      memcpy(last, watts, sizeof last), last_phase = phase, polls++;
    }
  });
  auto sleep = [](double t) { std::this_thread::sleep_for(std::chrono::duration<double>(t)); };
  for (int turn = 0; turn < 10 && seconds() < until; turn++)
    for (int with = 0; with < 2; with++) {
      phase = 10 + with;
      polling = with;
      sleep(0.002);
      measure(rig, CLUSTER16, p, {with ? "polled" : "alone", 0, turn});
    }
  // Steps of load: idle, all multiprocessors, idle, and windows of timed samples of some 50 ms.
  polling = true;
  for (int turn = 0; turn < 3 && seconds() < until; turn++) {
    phase = 1, sleep(0.4);
    phase = 2, warm(rig, 0.4, 1056);
    phase = 3, sleep(0.4);
    for (int w = 0; w < 6; w++) {
      phase = 4 + (w & 1);
      measure(rig, CLUSTER16, p, {"window", 0, turn * 6 + w}, 512);
    }
  }
  // Pulses shorter than an update: a mean over the update lies between on and off, an instant does
  // not.
  phase = 6;
  for (double end = seconds() + 1.5; seconds() < end && seconds() < until;) {
    warm(rig, 0.037, 1056);
    sleep(0.036);
  }
  over = true;
  poll.join();
  printf("polls,%ld\n", polls);
}

int main(int argc, char** argv) {
  if (argc != 5) die("usage: probe MODE OUT SECONDS SEED");
  mode = argv[1], seed = atoi(argv[4]);
  const std::string out = argv[2];
  const double until = atof(argv[3]);
  dice.seed(1000 + seed);
  std::ifstream file(std::string(argv[0]) + ".cubin", std::ios::binary);
  image.assign(std::istreambuf_iterator<char>(file), {});
  if (image.empty()) die("no %s.cubin", argv[0]);
  image.push_back(0);
  rows = fopen((out + ".csv").c_str(), "w"), samples = fopen((out + ".ns").c_str(), "wb");
  if (!rows || !samples) die("cannot write %s", out.c_str());
  open_driver();
  CK(cu.cuInit(0));
  int failed = 0;
  if (mode == "contexts") {
    contexts(until);
  } else {
    open_context();
    Rig rig = make_rig(1024);
    log_memory = alloc(64 << 10);
    CK(cu.cuMemsetD8(log_memory, 0, 64 << 10));
    for (const char* uses : {"check", "process", "remedy", "streams"})
      if (mode == uses) blas.open();
    if (mode == "check") failed = check_all(rig);
    else if (mode == "process") process(rig, until);
    else if (mode == "remedy") remedy(rig);
    else if (mode == "slide") slide(rig, until);
    else if (mode == "streams") streams(rig);
    else if (mode == "crossed") crossed(rig, until);
    else if (mode == "pages") pages(rig, until);
    else if (mode == "ring") ring(rig, until);
    else if (mode == "l2") l2(rig);
    else if (mode == "nvml") power(rig, until);
    else die("no mode %s", mode.c_str());
    CK(cu.cuCtxSynchronize());
  }
  fclose(rows), fclose(samples);
  return failed;
}
