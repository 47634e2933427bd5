// Checks and times the kernels of gemm.cuh against cublasGemmEx on an H200.
//   bench OUT.csv [substring of a variant's name]   all shapes; LIMIT_S=seconds stops earlier
//   bench --once "variant name" N K M    one launch with check (for compute-sanitizer)
// A child process does the work; the parent starts another one after a crash or a hang and leaves
// out the variant that was running. libcublas.so.13 is found by LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <string>
#include <vector>
#include "variants.h"

#define CK(x)                                                                                  \
  do {                                                                                         \
    auto e_ = (x);                                                                             \
    if (e_ != 0) {                                                                             \
      fprintf(stderr, "%s:%d %s -> %d %s\n", __FILE__, __LINE__, #x, (int)e_,                  \
              cudaGetErrorString(cudaGetLastError()));                                         \
      _exit(3);                                                                                \
    }                                                                                          \
  } while (0)

// ---- data and reference -------------------------------------------------------------------------
__host__ __device__ inline uint32_t mix(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b;
  return x ^ x >> 16;
}
__device__ inline float uniform(uint32_t i, uint32_t seed) { return mix(i * 2654435761u ^ mix(seed)) * 2.3283064e-10f; }
__global__ void fill_normal(__nv_bfloat16* p, long long n, uint32_t seed, float scale) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
    float u = uniform(i, seed) + 1e-7f, v = uniform(i, seed + 77);
    p[i] = __float2bfloat16(scale * sqrtf(-2 * logf(fminf(u, 1.f))) * cospif(2 * v));
  }
}
__global__ void fill_codes(uint32_t* p, long long n, uint32_t seed) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) p[i] = mix(i ^ mix(seed));
}
__global__ void fill_groups(__nv_bfloat16* s, __nv_bfloat16* b, long long n, uint32_t seed) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
    float v = 0.004f * (0.5f + uniform(i, seed)) * (mix(i ^ seed) & 1 ? 1.f : -1.f);
    s[i] = __float2bfloat16(v);
    b[i] = __float2bfloat16(-v * (6.5f + 2 * uniform(i, seed + 5)));
  }
}
// What the library multiplies: weights rounded to bf16; and the exact ones for the reference.
__global__ void dequantise(const uint32_t* q, const __nv_bfloat16* s, const __nv_bfloat16* b, __nv_bfloat16* w,
                           float* exact, long long n) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
    float v = fmaf(float(q[i / 8] >> i % 8 * 4 & 15), float(s[i / 64]), float(b[i / 64]));
    w[i] = __float2bfloat16(v);
    exact[i] = v;
  }
}
__global__ void widen(const __nv_bfloat16* w, float* exact, long long n) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) exact[i] = float(w[i]);
}
__global__ void reference(const __nv_bfloat16* x, const float* w, float* y, int M, int N, int K, bool kn) {
  __shared__ float xs[32][33], ws[32][33];
  int n = blockIdx.x * 32 + threadIdx.x, m0 = blockIdx.y * 32;
  float sum[4] = {};
  for (int k = 0; k < K; k += 32) {
    for (int i = 0; i < 4; i++) {
      int r = threadIdx.y * 4 + i;
      xs[r][threadIdx.x] = m0 + r < M ? float(x[(long long)(m0 + r) * K + k + threadIdx.x]) : 0.f;
      int rn = blockIdx.x * 32 + r;
      if (kn) ws[threadIdx.x][r] = n < N ? w[(long long)(k + r) * N + n] : 0.f;
      else ws[r][threadIdx.x] = rn < N ? w[(long long)rn * K + k + threadIdx.x] : 0.f;
    }
    __syncthreads();
    for (int j = 0; j < 32; j++)
      for (int i = 0; i < 4; i++) sum[i] += xs[threadIdx.y * 4 + i][j] * ws[threadIdx.x][j];
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) {
    int m = m0 + threadIdx.y * 4 + i;
    if (m < M && n < N) y[(long long)m * N + n] = sum[i];
  }
}
__global__ void compare(const __nv_bfloat16* y, const float* ref, long long n, double* out) {
  double d2 = 0, r2 = 0;
  float most = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
    float d = float(y[i]) - ref[i];
    if (!(fabsf(d) <= 1e30f)) d = 1e15f;
    d2 += (double)d * d, r2 += (double)ref[i] * ref[i];
    most = fmaxf(most, fabsf(d));
  }
  atomicAdd(out, d2);
  atomicAdd(out + 1, r2);
  atomicMax((int*)(out + 2), __float_as_int(most));
}
__global__ void nothing() {}

// ---- cuBLAS by dlopen ---------------------------------------------------------------------------
struct Cublas {
  void* handle = 0;
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
              void*, int, int, int, int) = 0;
  bool open(cudaStream_t stream, void* space, size_t bytes) {
    const char* names[] = {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13"};
    void* lib = 0;
    for (auto n : names)
      if ((lib = dlopen(n, RTLD_NOW | RTLD_GLOBAL))) break;
    if (!lib) return fprintf(stderr, "no cublas: %s\n", dlerror()), false;
    auto create = (int (*)(void**))dlsym(lib, "cublasCreate_v2");
    auto set_stream = (int (*)(void*, cudaStream_t))dlsym(lib, "cublasSetStream_v2");
    auto set_space = (int (*)(void*, void*, size_t))dlsym(lib, "cublasSetWorkspace_v2");
    gemm = (decltype(gemm))dlsym(lib, "cublasGemmEx");
    return !create(&handle) && !set_stream(handle, stream) && !set_space(handle, space, bytes) && gemm;
  }
  // y[M][N] = x[M][K] . w[N][K]^T, or . w[K][N]
  int run(const void* x, const void* w, void* y, int M, int N, int K, bool kn = false) {
    float one = 1, zero = 0;
    return gemm(handle, !kn, 0, N, M, K, &one, w, 14, kn ? N : K, x, 14, K, &zero, y, 14, N, 68, -1);
  }
};

// ---- jobs ---------------------------------------------------------------------------------------
struct Shape { bool int4; int N, K, M; bool kn = false; };  // kn: W is [K][N]
struct Job { int shape, variant; };  // variant -1: cuBLAS, -2: empty kernel
struct Result { int state; float us, q1, q3, rel, maxabs; int grid; };  // 1 ok, 2 wrong, 3 failed

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

struct Machine {
  cudaStream_t stream;
  Cublas cublas;
  void *flush, *space;
  __nv_bfloat16 *x, *w, *s, *b, *y;
  uint32_t* q;
  float *exact, *ref;
  double* sums;
  float4* ws;
  unsigned* flags;
  unsigned long long* stamps;
  std::vector<cudaEvent_t> events;
  PFN_encode encode;
  int shape = -1;
  static constexpr size_t FLUSH = 256u << 20;
  static constexpr int SAMPLES = 60;

  void open() {
    CK(cudaSetDevice(0));
    CK(cudaStreamCreate(&stream));
    CK(cudaMalloc(&flush, FLUSH));
    CK(cudaMalloc(&space, 64 << 20));
    CK(cudaMalloc(&x, 1024ll * 16384 * 2));
    CK(cudaMalloc(&w, 16384ll * 8192 * 2));
    CK(cudaMalloc(&exact, 16384ll * 8192 * 4));
    CK(cudaMalloc(&q, 16384ll * 8192 / 2));
    CK(cudaMalloc(&s, 16384ll * 8192 / 32));
    CK(cudaMalloc(&b, 16384ll * 8192 / 32));
    CK(cudaMalloc(&y, 1024ll * 16384 * 2));
    CK(cudaMalloc(&ref, 1024ll * 16384 * 4));
    CK(cudaMalloc(&sums, 64));
    CK(cudaMalloc(&ws, 64 << 20));
    CK(cudaMalloc(&flags, 1 << 20));
    CK(cudaMemset(flags, 0, 1 << 20));
    CK(cudaMalloc(&stamps, 132 * 128));
    events.resize(2 * SAMPLES);
    for (auto& e : events) CK(cudaEventCreate(&e));
    cudaDriverEntryPointQueryResult found;
    CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &found));
    if (!cublas.open(stream, space, 64 << 20)) cublas.handle = 0;
    // Clocks up: large products on random data.
    fill_normal<<<1024, 256>>>(w, 8192ll * 8192, 1, 1.f);
    fill_normal<<<1024, 256>>>(x, 1024ll * 8192, 2, 1.f);
    CK(cudaDeviceSynchronize());
    double t = now();
    if (cublas.handle)
      while (now() - t < 0.3) {
        for (int i = 0; i < 20; i++) CK(cublas.run(x, w, y, 1024, 8192, 8192));
        CK(cudaStreamSynchronize(stream));
      }
  }
  void prepare(const std::vector<Shape>& shapes, int i) {
    if (i == shape) return;
    bool same = shape >= 0 && shapes[i].N == shapes[shape].N && shapes[i].K == shapes[shape].K &&
                shapes[i].int4 == shapes[shape].int4;
    shape = i;
    const Shape& p = shapes[i];
    long long nk = (long long)p.N * p.K;
    fill_normal<<<1024, 256, 0, stream>>>(x, (long long)p.M * p.K, 11 + i, 1.f);
    if (!same && p.int4) {
      fill_codes<<<1024, 256, 0, stream>>>(q, nk / 8, 3 + i);
      fill_groups<<<1024, 256, 0, stream>>>(s, b, nk / 64, 5 + i);
      dequantise<<<1024, 256, 0, stream>>>(q, s, b, w, exact, nk);
    } else if (!same) {
      fill_normal<<<1024, 256, 0, stream>>>(w, nk, 7 + i, 0.02f);
      widen<<<1024, 256, 0, stream>>>(w, exact, nk);
    }
    reference<<<dim3((p.N + 31) / 32, (p.M + 31) / 32), dim3(32, 8), 0, stream>>>(x, exact, ref, p.M, p.N, p.K, p.kn);
    CK(cudaStreamSynchronize(stream));
  }
  CUtensorMap map(void* at, CUtensorMapDataType type, int size, int cols, int rows, int box_cols, int box_rows,
                  CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion) {
    CUtensorMap m;
    cuuint64_t dims[] = {(cuuint64_t)cols, (cuuint64_t)rows}, strides[] = {(cuuint64_t)cols * size};
    cuuint32_t box[] = {(cuuint32_t)box_cols, (cuuint32_t)box_rows}, steps[] = {1, 1};
    CK(encode(&m, type, 2, at, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion,
              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return m;
  }
  bool launch(const Shape& p, const Variant& v, Result& r) {
    Plan plan;
    if (!plan_for(v, p.M, p.N, p.K, plan)) return false;
    r.grid = plan.grid;
    auto L2 = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
    CUtensorMap mx = map(x, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.K, p.M, 64, v.BN / v.CM, CU_TENSOR_MAP_SWIZZLE_128B, L2);
    CUtensorMap mw, ms = mx, mb = mx;
    if (v.kn) {
      auto swizzle = v.R == 64 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_64B;
      mw = map(q, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.N / 4, p.K, v.R / 4, 64, swizzle, L2);
      ms = map(s, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.N / 64, p.K, 8, 64, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
      mb = map(b, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.N / 64, p.K, 8, 64, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    } else if (v.int4) {
      mw = map(q, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.K / 4, p.N, 64, v.R, CU_TENSOR_MAP_SWIZZLE_128B, L2);
      ms = map(s, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.K / 64, p.N, 8, v.R, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
      mb = map(b, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.K / 64, p.N, 8, v.R, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    } else mw = map(w, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p.K, p.N, 64, v.R, CU_TENSOR_MAP_SWIZZLE_128B, L2);
    Args a{y, ws, flags, stamps, p.M, p.N, p.K / 64, 16, plan.token_tiles, plan.tiles, plan.items, plan.G};
    CK(cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.smem));
    cudaLaunchConfig_t c{};
    c.gridDim = dim3(plan.grid), c.blockDim = dim3(v.threads), c.dynamicSmemBytes = v.smem, c.stream = stream;
    cudaLaunchAttribute attr[1];
    attr[0].id = cudaLaunchAttributeClusterDimension;
    attr[0].val.clusterDim = {(unsigned)v.cluster, 1, 1};
    c.attrs = attr, c.numAttrs = v.cluster > 1;
    void* args[] = {&mx, &mw, &ms, &mb, &a};
    CK(cudaLaunchKernelExC(&c, v.kernel, args));
    return true;
  }
  void run(const std::vector<Shape>& shapes, const Job& job, Result& r, bool once) {
    const Shape& p = shapes[job.shape];
    if (job.variant != -2) prepare(shapes, job.shape);
    if (job.variant == -1 && !cublas.handle) { r.state = 3; return; }
    bool skip = false;
    auto go = [&] {
      if (job.variant == -2) nothing<<<1, 32, 0, stream>>>();
      else if (job.variant == -1) CK(cublas.run(x, w, y, p.M, p.N, p.K, p.kn));
      else skip = !launch(p, VARIANTS[job.variant], r);
    };
    long long n = (long long)p.M * p.N;
    auto check = [&] {
      double out[3];
      CK(cudaMemsetAsync(sums, 0, 24, stream));
      compare<<<512, 256, 0, stream>>>(y, ref, n, sums);
      CK(cudaMemcpyAsync(out, sums, 24, cudaMemcpyDeviceToHost, stream));
      CK(cudaStreamSynchronize(stream));
      r.rel = sqrt(out[0] / out[1]);
      memcpy(&r.maxabs, out + 2, 4);
      return r.rel < 5e-3;
    };
    CK(cudaMemsetAsync(y, 0xff, n * 2, stream));
    go();
    if (skip) { r.state = 0; return; }
    CK(cudaGetLastError());
    bool right = job.variant == -2 || check();
    if (job.variant >= 0 && VARIANTS[job.variant].abl) right = true;
    if (once) { r.state = right ? 1 : 2; return; }
    if (!right) { r.state = 2; return; }
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    go();
    CK(cudaStreamEndCapture(stream, &graph));
    CK(cudaGraphInstantiate(&exec, graph, 0));
    CK(cudaMemsetAsync(y, 0xff, n * 2, stream));
    for (int i = 0; i < SAMPLES + 5; i++) {
      int e = std::max(i - 5, 0) * 2;
      CK(cudaMemsetAsync(flush, 0, FLUSH, stream));
      CK(cudaEventRecord(events[e], stream));
      CK(cudaGraphLaunch(exec, stream));
      CK(cudaEventRecord(events[e + 1], stream));
    }
    CK(cudaStreamSynchronize(stream));
    std::vector<float> us(SAMPLES);
    for (int i = 0; i < SAMPLES; i++) {
      CK(cudaEventElapsedTime(&us[i], events[2 * i], events[2 * i + 1]));
      us[i] *= 1000;
    }
    std::sort(us.begin(), us.end());
    r.us = us[SAMPLES / 2], r.q1 = us[SAMPLES / 4], r.q3 = us[SAMPLES * 3 / 4];
    if (job.variant >= -1 && !(job.variant >= 0 && VARIANTS[job.variant].abl) && !check()) { r.state = 2; return; }
    r.state = 1;
    if (job.variant >= 0 && VARIANTS[job.variant].abl == 3) {
      // Means over the blocks of the last launch: ns since the first block's start; clocks since its own.
      std::vector<unsigned long long> h(r.grid * 16);
      CK(cudaMemcpy(h.data(), stamps, r.grid * 128, cudaMemcpyDeviceToHost));
      unsigned long long zero = ~0ull, last = 0;
      for (int i = 0; i < r.grid; i++) zero = std::min(zero, h[i * 16]), last = std::max(last, h[i * 16 + 4]);
      double ns[5] = {}, clocks[5] = {};
      for (int i = 0; i < r.grid; i++)
        for (int k = 0; k < 5; k++)
          ns[k] += double(h[i * 16 + k] - zero) / r.grid, clocks[k] += double(h[i * 16 + 8 + k] - h[i * 16 + 8]) / r.grid;
      fprintf(stderr, "stamps,%d,%d,%d,%s,%.2f,ns,%.0f,%.0f,%.0f,%.0f,%.0f,last,%llu,clocks,%.0f,%.0f,%.0f,%.0f\n", p.N, p.K, p.M,
              VARIANTS[job.variant].name.c_str(), r.us, ns[0], ns[1], ns[2], ns[3], ns[4], last - zero, clocks[1], clocks[2],
              clocks[3], clocks[4]);
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
};

int main(int argc, char** argv) {
  std::vector<Shape> shapes;
  std::vector<Job> jobs;
  bool once = argc == 6 && !strcmp(argv[1], "--once");
  const char* only = argc == 3 ? argv[2] : "";
  if (once) {
    for (size_t v = 0; v < VARIANTS.size(); v++)
      if (VARIANTS[v].name == argv[2]) {
        shapes = {{VARIANTS[v].int4, atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), !!VARIANTS[v].kn}};
        Machine m;
        m.open();
        Result r{};
        m.run(shapes, {0, (int)v}, r, true);
        printf("%s %dx%d M=%d state %d rel %.2e max %.2e grid %d\n", argv[2], shapes[0].N, shapes[0].K, shapes[0].M, r.state,
               r.rel, r.maxabs, r.grid);
        CK(cudaDeviceSynchronize());
        return r.state != 1;
      }
    return 2;
  }
  for (auto nk : {std::pair<int, int>{4096, 4096}, {2560, 2560}, {14336, 4096}, {8192, 8192}})
    for (int M : {32, 64, 128, 256, 512, 1024}) shapes.push_back({true, nk.first, nk.second, M});
  for (auto nk : {std::pair<int, int>{4096, 4096}, {2560, 2560}, {8192, 8192}})
    for (int M : {16, 64, 128, 256, 512, 1024}) shapes.push_back({true, nk.first, nk.second, M, true});
  for (auto nk : {std::pair<int, int>{7168, 2048}, {2112, 7168}, {8192, 8192}, {256, 7168}})
    for (int M : {32, 64, 128, 256, 512, 768}) shapes.push_back({false, nk.first, nk.second, M});
  for (size_t s = 0; s < shapes.size(); s++) {
    bool any = false;
    for (auto& v : VARIANTS) any = any || (v.int4 == shapes[s].int4 && v.kn == shapes[s].kn);
    if (!any) continue;
    jobs.push_back({(int)s, -2});
    jobs.push_back({(int)s, -1});
    for (size_t v = 0; v < VARIANTS.size(); v++) {
      Plan plan;
      if (VARIANTS[v].int4 == shapes[s].int4 && VARIANTS[v].kn == shapes[s].kn && plan_for(VARIANTS[v], shapes[s].M, shapes[s].N, shapes[s].K, plan) &&
          strstr(VARIANTS[v].name.c_str(), only))
        jobs.push_back({(int)s, (int)v});
    }
    jobs.push_back({(int)s, -1});
  }
  fprintf(stderr, "%zu variants, %zu jobs\n", VARIANTS.size(), jobs.size());
  auto shared = (Result*)mmap(0, sizeof(Result) * jobs.size() + 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  volatile int* current = (int*)(shared + jobs.size());
  *current = -1;
  double start = now();
  const double LIMIT = getenv("LIMIT_S") ? atof(getenv("LIMIT_S")) : 200;
  std::vector<int> bad(VARIANTS.size());
  int next = 0;
  while (next < (int)jobs.size() && now() - start < LIMIT) {
    pid_t child = fork();
    if (child == 0) {
      Machine m;
      m.open();
      for (int j = next; j < (int)jobs.size(); j++) {
        *current = j;
        if (jobs[j].variant >= 0 && bad[jobs[j].variant] >= 1) continue;
        m.run(shapes, jobs[j], shared[j], false);
        if (shared[j].state == 0 || shared[j].state == 3) shared[j].state = shared[j].state ? 3 : 4;
      }
      *current = jobs.size();
      _exit(0);
    }
    int last = -2, status = 0;
    double since = now();
    for (;;) {
      if (waitpid(child, &status, WNOHANG) == child) break;
      usleep(5000);
      if (*current != last) last = *current, since = now();
      if (now() - since > (last < next ? 30 : 6) || now() - start > LIMIT) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
    }
    if (*current >= (int)jobs.size()) break;
    int at = std::max((int)*current, next);
    shared[at].state = 3;
    if (jobs[at].variant >= 0) {
      bad[jobs[at].variant]++;
      fprintf(stderr, "failed: %s at %d x %d, M = %d\n", VARIANTS[jobs[at].variant].name.c_str(), shapes[jobs[at].shape].N,
              shapes[jobs[at].shape].K, shapes[jobs[at].shape].M);
    } else fprintf(stderr, "failed: job %d\n", at);
    next = at + 1;
  }
  FILE* f = fopen(argc > 1 ? argv[1] : "/dev/null", "w");
  fprintf(f, "weights,N,K,M,variant,grid,us,q1,q3,tflops,rel_l2,max_abs,state\n");
  for (size_t j = 0; j < jobs.size(); j++) {
    auto& p = shapes[jobs[j].shape];
    auto& r = shared[j];
    if (r.state == 4) continue;
    fprintf(f, "%s,%d,%d,%d,%s,%d,%.2f,%.2f,%.2f,%.0f,%.2e,%.2e,%s\n", p.kn ? "int4-kn" : p.int4 ? "int4" : "bf16", p.N, p.K, p.M,
            jobs[j].variant == -2 ? "empty" : jobs[j].variant == -1 ? "cublas" : VARIANTS[jobs[j].variant].name.c_str(), r.grid,
            r.us, r.q1, r.q3, r.us > 0 && jobs[j].variant != -2 ? 2e-6 * p.M * p.N * p.K / r.us : 0., r.rel, r.maxabs,
            r.state == 1 ? "ok" : r.state == 2 ? "wrong" : r.state == 0 ? "not run" : "failed");
  }
  fclose(f);
  // Short table: cuBLAS (the faster of two turns) and the three best at each shape.
  for (size_t s = 0; s < shapes.size(); s++) {
    float lib = 1e9;
    std::vector<std::pair<float, int>> best;
    int wrong = 0;
    for (size_t j = 0; j < jobs.size(); j++) {
      if (jobs[j].shape != (int)s) continue;
      auto& r = shared[j];
      if (r.state == 2) wrong++;
      if (r.state != 1) continue;
      if (jobs[j].variant == -1) lib = std::min(lib, r.us);
      else if (jobs[j].variant >= 0 && !VARIANTS[jobs[j].variant].abl) best.push_back({r.us, jobs[j].variant});
    }
    std::sort(best.begin(), best.end());
    if (best.empty()) continue;
    printf("%s %5dx%d M=%-4d cublas %6.2f |", shapes[s].kn ? "kn" : shapes[s].int4 ? "int4" : "bf16", shapes[s].N, shapes[s].K, shapes[s].M, lib);
    for (size_t i = 0; i < best.size() && i < 3; i++)
      printf(" %6.2f %s (%.2f)", best[i].first, VARIANTS[best[i].second].name.c_str(), lib / best[i].first);
    printf("%s%s\n", wrong ? " WRONG: " : "", wrong ? std::to_string(wrong).c_str() : "");
  }
  fprintf(stderr, "%.1f s\n", now() - start);
  return 0;
}
