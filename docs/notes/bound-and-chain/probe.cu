// Three questions about a GPU that bound how a harness may time it:
//   read   how fast memory can be read, by kernel, size and timing regime
//   chain  what a call costs inside a graph of N calls, with and without programmatic launch
//   guard  what checks around a sample cost, and whether they move its figure
// Usage: probe read|chain|guard [seed]. Writes CSV to standard output.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e_ = (call);                                                   \
    if (e_ != cudaSuccess) {                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

using Clock = std::chrono::steady_clock;
static int sms;
static cudaStream_t stream;

// ---------------------------------------------------------------- kernels

__global__ void empty() {}

__global__ void fill(uint4 *out, size_t count, uint32_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    uint64_t x = (i + 1) * 0x9E3779B97F4A7C15ull + seed;
    x ^= x >> 31, x *= 0xBF58476D1CE4E5B9ull, x ^= x >> 27;
    out[i] = {uint32_t(x), uint32_t(x >> 32), uint32_t(x * 3), uint32_t(x * 7 >> 32)};
  }
}

__device__ inline uint4 load(const uint4 *p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

/// Reads `count` vectors with U independent loads a thread at a time.
template <int U>
__global__ void plain(const uint4 *in, size_t count, uint32_t *out) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  uint32_t sum = 0;
  for (; i + (U - 1) * step < count; i += U * step) {
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = load(in + i + u * step);
#pragma unroll
    for (int u = 0; u < U; u++) sum ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  }
  for (; i < count; i += step) {
    const uint4 v = load(in + i);
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x12345678u) out[0] = sum;
}

/// The same through cp.async into a ring of S stages of a vector a thread.
template <int S>
__global__ void async(const uint4 *in, size_t count, uint32_t *out) {
  extern __shared__ uint4 ring[];
  const size_t step = size_t(gridDim.x) * blockDim.x;
  size_t next = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  size_t left = next < count ? (count - next + step - 1) / step : 0;
  const uint32_t base = __cvta_generic_to_shared(ring + threadIdx.x);
  auto issue = [&](int s) {
    if (next < count)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       base + s * int(blockDim.x) * 16),
                   "l"(in + next)
                   : "memory");
    asm volatile("cp.async.commit_group;");
    next += step;
  };
  for (int s = 0; s < S - 1; s++) issue(s);
  uint32_t sum = 0;
  int stage = 0;
  for (; left > 0; left--) {
    issue((stage + S - 1) % S);
    asm volatile("cp.async.wait_group %0;" ::"n"(S - 1) : "memory");
    const uint4 v = ring[stage * blockDim.x + threadIdx.x];
    sum ^= v.x ^ v.w;
    stage = (stage + 1) % S;
  }
  if (sum == 0x12345678u) out[0] = sum;
}

/// The same by bulk copies of `chunk` bytes into a ring of `stages`, one thread a block.
__global__ void bulk(const char *in, size_t bytes, int chunk, int stages, uint32_t *out) {
  extern __shared__ __align__(128) char memory[];
  __shared__ __align__(8) uint64_t full[64];
  if (threadIdx.x != 0) return;
  const uint32_t data = __cvta_generic_to_shared(memory);
  const uint32_t bars = __cvta_generic_to_shared(full);
  for (int s = 0; s < stages; s++)
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bars + 8 * s));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const size_t chunks = bytes / chunk, step = gridDim.x;
  size_t next = blockIdx.x;
  const size_t own = next < chunks ? (chunks - next + step - 1) / step : 0;
  auto issue = [&](int s) {
    if (next >= chunks) return;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bars + 8 * s), "r"(chunk));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            data + s * chunk),
        "l"(in + next * chunk), "r"(chunk), "r"(bars + 8 * s)
        : "memory");
    next += step;
  };
  for (int s = 0; s < stages; s++) issue(s);
  uint32_t sum = 0;
  for (size_t i = 0; i < own; i++) {
    const int s = i % stages;
    const uint32_t parity = (i / stages) & 1;
    uint32_t done = 0;
    while (!done)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(bars + 8 * s), "r"(parity)
          : "memory");
    sum ^= *(volatile uint32_t *)(memory + s * chunk);
    issue(s);
  }
  if (sum == 0x12345678u) out[0] = sum;
}

/// A call of a model: y = W x by dot products of bf16 rows; `how`: 0 plain, 1 waits for the
/// call before it at its start, 2 prefetches its weights into L2 first.
template <int HOW>
__global__ void __launch_bounds__(256) call(const uint4 *weights, const uint4 *x, float *y, int rows,
                                            int vectors) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int warps = gridDim.x * blockDim.x / 32;
  if (HOW > 0) asm volatile("griddepcontrol.launch_dependents;");
  if (HOW == 2) {
    for (int r = warp; r < rows; r += warps)
      for (int v = lane * 8; v < vectors; v += 256)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(weights + size_t(r) * vectors + v));
  }
  if (HOW > 0) asm volatile("griddepcontrol.wait;" ::: "memory");
  for (int r = warp; r < rows; r += warps) {
    float sum = 0;
#pragma unroll 4
    for (int v = lane; v < vectors; v += 32) {
      const uint4 w = load(weights + size_t(r) * vectors + v), a = x[v];
      const uint32_t ws[4] = {w.x, w.y, w.z, w.w}, as[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
      for (int i = 0; i < 4; i++) {
        sum += __uint_as_float(ws[i] << 16) * __uint_as_float(as[i] << 16);
        sum += __uint_as_float(ws[i] & 0xFFFF0000u) * __uint_as_float(as[i] & 0xFFFF0000u);
      }
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) y[r] = sum;
  }
}

// ---------------------------------------------------------------- timing

using Launch = std::function<void()>;

static double medianOf(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const size_t n = v.size();
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/// Microseconds of each sample: `before`, start event, `body`, end event, `after`. A queued
/// regime synchronises once; the other after each sample.
static std::vector<double> sample(const Launch &before, const Launch &body, const Launch &after,
                                  int count, bool queued) {
  std::vector<cudaEvent_t> events(2 * count);
  for (auto &e : events) CHECK(cudaEventCreate(&e));
  for (int i = 0; i < count; i++) {
    before();
    CHECK(cudaEventRecord(events[2 * i], stream));
    body();
    CHECK(cudaEventRecord(events[2 * i + 1], stream));
    after();
    if (!queued) CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  std::vector<double> us;
  for (int i = 0; i < count; i++) {
    float ms;
    CHECK(cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]));
    us.push_back(1000 * ms);
  }
  for (auto &e : events) CHECK(cudaEventDestroy(e));
  return us;
}

static char *flushed;
static const size_t FLUSH = size_t(256) << 20;
static void flush() { CHECK(cudaMemsetAsync(flushed, 0, FLUSH, stream)); }
static void nothing() {}

static cudaGraphExec_t capture(const Launch &body) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  body();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

template <class T>
static T *alloc(size_t bytes, uint32_t seed) {
  void *p;
  CHECK(cudaMalloc(&p, bytes));
  fill<<<1024, 256, 0, stream>>>((uint4 *)p, bytes / 16, seed);
  return (T *)p;
}

// ---------------------------------------------------------------- read

struct Variant {
  std::string name;
  std::function<void(const char *, size_t, uint32_t *)> launch;
};

static std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (int blocks : {1, 2, 4, 8})
    for (int threads : {256, 512, 1024}) {
      if (blocks * threads > 2048) continue;
      auto add = [&](int u, auto kernel) {
        all.push_back({"plain u" + std::to_string(u) + " t" + std::to_string(threads) + " b" +
                           std::to_string(blocks),
                       [=](const char *in, size_t bytes, uint32_t *out) {
                         kernel<<<blocks * sms, threads, 0, stream>>>((const uint4 *)in, bytes / 16, out);
                       }});
      };
      add(2, plain<2>), add(4, plain<4>), add(8, plain<8>);
    }
  for (int blocks : {1, 2, 4})
    for (int threads : {256, 512}) {
      auto add = [&](int s, auto kernel) {
        const int shared = s * threads * 16;
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
        if (shared * blocks > 220 << 10) return;
        all.push_back({"async s" + std::to_string(s) + " t" + std::to_string(threads) + " b" +
                           std::to_string(blocks),
                       [=](const char *in, size_t bytes, uint32_t *out) {
                         kernel<<<blocks * sms, threads, shared, stream>>>((const uint4 *)in, bytes / 16, out);
                       }});
      };
      add(4, async<4>), add(8, async<8>), add(16, async<16>);
    }
  CHECK(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 << 10));
  for (int blocks : {1, 2, 4})
    for (int chunk : {2048, 4096, 8192, 16384, 32768}) {
      const int stages = std::min(48, (200 << 10) / blocks / chunk);
      if (stages < 2) continue;
      all.push_back({"bulk c" + std::to_string(chunk) + " b" + std::to_string(blocks),
                     [=](const char *in, size_t bytes, uint32_t *out) {
                       bulk<<<blocks * sms, 32, stages * chunk, stream>>>(in, bytes, chunk, stages, out);
                     }});
    }
  return all;
}

static void read(uint32_t seed) {
  const size_t most = size_t(1) << 30;
  char *in = alloc<char>(most, seed);
  uint32_t *out = alloc<uint32_t>(256, 1);
  puts("regime,bytes,variant,median_us,empty_us,net_us,gbps");
  const auto all = variants();
  for (bool queued : {false, true})
    for (size_t bytes = size_t(256) << 10; bytes <= most; bytes *= 2) {
      const int count = bytes > size_t(128) << 20 ? 15 : 45;
      for (const auto &v : all) {
        v.launch(in, bytes, out);
        CHECK(cudaStreamSynchronize(stream));
        const auto us = sample(flush, [&] { v.launch(in, bytes, out); }, nothing, count, queued);
        const auto none = sample(flush, [] { empty<<<1, 32, 0, stream>>>(); }, nothing, 15, queued);
        const double m = medianOf(us), e = medianOf(none);
        printf("%s,%zu,%s,%.3f,%.3f,%.3f,%.1f\n", queued ? "queued" : "waiting", bytes, v.name.c_str(), m, e,
               m - e, bytes / (m - e) / 1e3);
      }
      fflush(stdout);
    }
}

// ---------------------------------------------------------------- chain

template <class... A>
static void launchEx(void (*kernel)(A...), int grid, int block, bool dependent, A... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = block, config.stream = stream;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attribute, config.numAttrs = dependent ? 1 : 0;
  CHECK(cudaLaunchKernelEx(&config, kernel, args...));
}

static void chain(uint32_t seed) {
  struct Shape {
    int n, k;
  };
  puts("n,k,how,calls,median_us_per_call,q1,q3,single_us,single_empty_us,bound_us_at_4000");
  const size_t pool = size_t(2) << 30;
  char *weights = alloc<char>(pool, seed);
  uint4 *x = alloc<uint4>(1 << 20, seed + 1);
  float *y = alloc<float>(1 << 20, seed + 2);
  for (Shape s : {Shape{256, 1024}, {16, 8192}, {64, 32768}, {2560, 2560}, {4096, 4096}, {1024, 8192}, {11008, 4096}}) {
    const size_t bytes = size_t(s.n) * s.k * 2;
    const int vectors = s.k / 8;
    const int grid = std::min(2 * sms, (s.n + 7) / 8);
    for (int how = -2; how < 3; how++)
      for (int calls : {1, 8, 32, 128}) {
        const size_t distinct = std::min<size_t>(pool / bytes, calls);
        if (distinct < size_t(std::min(calls, 8))) continue;
        auto one = [&](int i) {
          const uint4 *w = (const uint4 *)(weights + (i % distinct) * bytes);
          if (how == -2) launchEx(empty, 1, 32, false);
          if (how == -1) launchEx(empty, 1, 32, true);
          if (how == 0) launchEx(call<0>, grid, 256, false, w, (const uint4 *)x, y, s.n, vectors);
          if (how == 1) launchEx(call<1>, grid, 256, true, w, (const uint4 *)x, y, s.n, vectors);
          if (how == 2) launchEx(call<2>, grid, 256, true, w, (const uint4 *)x, y, s.n, vectors);
        };
        auto exec = capture([&] {
          for (int i = 0; i < calls; i++) one(i);
        });
        auto nil = capture([&] { launchEx(empty, 1, 32, false); });
        auto run = [&] { CHECK(cudaGraphLaunch(exec, stream)); };
        run();
        CHECK(cudaStreamSynchronize(stream));
        auto us = sample(flush, run, nothing, 61, false);
        auto none = sample(flush, [&] { CHECK(cudaGraphLaunch(nil, stream)); }, nothing, 31, false);
        for (auto &u : us) u /= calls;
        std::sort(us.begin(), us.end());
        printf("%d,%d,%s,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", s.n, s.k,
               how == -2 ? "empty" : how == -1 ? "empty-dependent" : how == 0 ? "plain" : how == 1 ? "dependent" : "dependent-prefetch",
               calls, us[30], us[15], us[45], us[30] * calls, medianOf(none), bytes / 4e6);
        fflush(stdout);
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaGraphExecDestroy(nil));
      }
  }
}

// ---------------------------------------------------------------- guard

static void guard(uint32_t seed) {
  puts("shape_bytes,variant,series,median_us,mean_us,wall_us_per_sample");
  struct Case {
    int n, k;
    size_t copy;
  };
  for (Case c : {Case{16, 8192, 512}, {64, 32768, 8192}, {1024, 8192, 16384}, {4096, 4096, 1 << 20}}) {
    const size_t bytes = size_t(c.n) * c.k * 2;
    char *w = alloc<char>(bytes, seed), *other = alloc<char>(bytes, seed + 9);
    uint4 *x = alloc<uint4>(1 << 20, seed + 1);
    float *y = alloc<float>(1 << 20, seed + 2);
    char *kept = alloc<char>(size_t(64) << 20, 5);
    const int grid = std::min(2 * sms, (c.n + 7) / 8);
    auto body = [&] {
      call<0><<<grid, 256, 0, stream>>>((const uint4 *)w, x, y, c.n, c.k / 8);
    };
    size_t at = 0;
    struct Named {
      const char *name;
      Launch before, after;
    };
    auto random = std::mt19937(seed);
    const std::vector<Named> all = {
        {"base", flush, nothing},
        {"reset-persisting", [&] { flush(); CHECK(cudaCtxResetPersistingL2Cache()); }, nothing},
        {"poison-output", [&] { CHECK(cudaMemsetAsync(y, 0xFF, c.copy, stream)); flush(); }, nothing},
        {"copy-output", flush,
         [&] { CHECK(cudaMemcpyAsync(kept + (at++ % 32) * c.copy, y, c.copy, cudaMemcpyDeviceToDevice, stream)); }},
        {"copy-output-at-random", flush,
         [&] { if (random() % 8 == 0) CHECK(cudaMemcpyAsync(kept, y, c.copy, cudaMemcpyDeviceToDevice, stream)); }},
        {"change-input", [&] { CHECK(cudaMemcpyAsync(w, other, bytes, cudaMemcpyDeviceToDevice, stream)); flush(); }, nothing},
        {"change-input-at-random",
         [&] { if (random() % 8 == 0) CHECK(cudaMemcpyAsync(w, other, bytes, cudaMemcpyDeviceToDevice, stream)); flush(); }, nothing},
        {"all-at-random",
         [&] {
           if (random() % 8 == 0) CHECK(cudaMemcpyAsync(w, other, bytes, cudaMemcpyDeviceToDevice, stream));
           CHECK(cudaMemsetAsync(y, 0xFF, c.copy, stream));
           flush();
         },
         [&] { if (random() % 8 == 0) CHECK(cudaMemcpyAsync(kept, y, c.copy, cudaMemcpyDeviceToDevice, stream)); }},
    };
    for (bool queued : {false, true})
      for (int series = 0; series < 7; series++)
        for (const auto &v : all) {
          const auto start = Clock::now();
          const auto us = sample(v.before, body, v.after, 200, queued);
          const double wall = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
          double mean = 0;
          for (double u : us) mean += u / us.size();
          printf("%zu,%s-%s,%d,%.3f,%.3f,%.1f\n", bytes, queued ? "queued" : "waiting", v.name, series, medianOf(us),
                 mean, wall / 200);
        }
    fflush(stdout);
    for (void *p : {(void *)w, (void *)other, (void *)x, (void *)y, (void *)kept}) CHECK(cudaFree(p));
  }
}

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const uint32_t seed = argc > 2 ? strtoul(argv[2], nullptr, 10) : 1;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  flushed = alloc<char>(FLUSH, 3);
  if (mode == "read") read(seed);
  else if (mode == "chain") chain(seed);
  else if (mode == "guard") guard(seed);
  else {
    fputs("usage: probe read|chain|guard [seed]\n", stderr);
    return 2;
  }
  CHECK(cudaStreamSynchronize(stream));
  return 0;
}
