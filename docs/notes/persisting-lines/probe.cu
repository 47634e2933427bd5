// 1. What absorbs the cost of cuCtxResetPersistingL2Cache before a graph launch.
// 2. Whether lines read with evict_last survive a flush, with and without the reset.
#include <cuda.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <vector>
#include <functional>
__global__ void empty() {}
__device__ int sink;
template <int LAST> __global__ void readk(const uint4* p, int n) {
  unsigned s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint4 v;
    if (LAST) asm volatile("{ .reg .b64 q; createpolicy.fractional.L2::evict_last.b64 q, 1.0; ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], q; }" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + i));
    else asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + i));
    s += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (s == 12345) sink = s;
}
__global__ void fill(uint4* p, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = make_uint4(i * 2654435761u, i, i * 7, i * 13); }
static cudaStream_t s; static char* buf; static uint4* data; static uint4* sweep;
template <class F> cudaGraphExec_t make(F f) { cudaGraph_t g; cudaGraphExec_t e; cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); f(); cudaStreamEndCapture(s, &g); cudaGraphInstantiate(&e, g, 0); cudaGraphUpload(e, s); cudaStreamSynchronize(s); return e; }
double median(const std::function<void(int)>& before, const std::function<void()>& run, int n = 256) {
  std::vector<cudaEvent_t> a(n), b(n);
  for (int i = 0; i < n; i++) { cudaEventCreate(&a[i]); cudaEventCreate(&b[i]); }
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) { before(i); cudaEventRecord(a[i], s); run(); cudaEventRecord(b[i], s); }
  cudaDeviceSynchronize();
  std::vector<float> t;
  for (int i = 0; i < n; i++) { float x; cudaEventElapsedTime(&x, a[i], b[i]); if (i > 8) t.push_back(x); cudaEventDestroy(a[i]); cudaEventDestroy(b[i]); }
  std::sort(t.begin(), t.end());
  return t[t.size() / 2] * 1e3;
}
int main() {
  cudaFree(0); cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaMalloc(&buf, 512 << 20); cudaMalloc(&data, 64 << 20); cudaMalloc(&sweep, 256 << 20);
  fill<<<264, 256, 0, s>>>(data, 64 << 16); fill<<<264, 256, 0, s>>>(sweep, 256 << 16); cudaDeviceSynchronize();
  auto g = make([] { empty<<<1, 32, 0, s>>>(); }), other = make([] { empty<<<1, 32, 0, s>>>(); });
  auto fg = make([] { cudaMemsetAsync(buf, 0, 256 << 20, s); });
  auto flush = [] { cudaMemsetAsync(buf, 0, 256 << 20, s); };
  auto readflush = [] { readk<0><<<264, 512, 0, s>>>(sweep, 256 << 16); };
  auto reset = [] { cuCtxResetPersistingL2Cache(); };
  auto run = [&] { cudaGraphLaunch(g, s); };
  for (int i = 0; i < 2; i++) {
    printf("plain                          %.2f us\n", median([&](int) { flush(); }, run));
    printf("reset, flush                   %.2f\n", median([&](int) { reset(); flush(); }, run));
    printf("reset, other graph, flush      %.2f\n", median([&](int) { reset(); cudaGraphLaunch(other, s); flush(); }, run));
    printf("other graph, flush             %.2f\n", median([&](int) { cudaGraphLaunch(other, s); flush(); }, run));
    printf("reset, same graph, flush       %.2f\n", median([&](int) { reset(); cudaGraphLaunch(g, s); flush(); }, run));
    printf("reset, kernel, flush           %.2f\n", median([&](int) { reset(); empty<<<1, 32, 0, s>>>(); flush(); }, run));
    printf("reset, flush in a graph        %.2f\n", median([&](int) { reset(); cudaGraphLaunch(fg, s); }, run));
    printf("flush in a graph               %.2f\n", median([&](int) { cudaGraphLaunch(fg, s); }, run));
    printf("flush, reset                   %.2f\n", median([&](int) { flush(); reset(); }, run));
    printf("reset each 8th, flush          %.2f\n", median([&](int i) { if (i % 8 == 0) reset(); flush(); }, run));
    printf("reset each 32nd, flush         %.2f\n", median([&](int i) { if (i % 32 == 0) reset(); flush(); }, run));
  }
  size_t lim; cuCtxGetLimit(&lim, CU_LIMIT_PERSISTING_L2_CACHE_SIZE); printf("persisting limit %zu bytes\n", lim);
  for (int mb : {1, 4, 8, 16, 24}) {
    auto g0 = make([&] { readk<0><<<132, 512, 0, s>>>(data, mb << 16); }), g1 = make([&] { readk<1><<<132, 512, 0, s>>>(data, mb << 16); });
    auto r0 = [&] { cudaGraphLaunch(g0, s); }; auto r1 = [&] { cudaGraphLaunch(g1, s); };
    printf("%2d MiB: warm %.2f | memset flush: normal %.2f evict_last %.2f", mb, median([&](int) { flush(); r0(); }, r0), median([&](int) { flush(); }, r0), median([&](int) { flush(); }, r1));
    printf(" evict_last+reset+graph %.2f (normal so %.2f)", median([&](int) { reset(); cudaGraphLaunch(other, s); flush(); }, r1), median([&](int) { reset(); cudaGraphLaunch(other, s); flush(); }, r0));
    printf(" | 512 MiB memset evict_last %.2f", median([&](int) { cudaMemsetAsync(buf, 0, 512 << 20, s); }, r1));
    printf(" | read flush: normal %.2f evict_last %.2f\n", median([&](int) { readflush(); }, r0), median([&](int) { readflush(); }, r1));
    fflush(stdout);
  }
  // With an access-policy window and a set-aside.
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 30 << 20); cuCtxGetLimit(&lim, CU_LIMIT_PERSISTING_L2_CACHE_SIZE); printf("persisting limit %zu bytes\n", lim);
  for (int mb : {4, 16}) {
    auto g0 = make([&] { readk<0><<<132, 512, 0, s>>>(data, mb << 16); }), g1 = make([&] { readk<1><<<132, 512, 0, s>>>(data, mb << 16); });
    auto r1 = [&] { cudaGraphLaunch(g1, s); };
    printf("%2d MiB, set-aside: normal %.2f evict_last %.2f", mb, median([&](int) { flush(); }, [&] { cudaGraphLaunch(g0, s); }), median([&](int) { flush(); }, r1));
    printf(" evict_last+reset+graph %.2f\n", median([&](int) { reset(); cudaGraphLaunch(other, s); flush(); }, r1));
    cudaStreamAttrValue v = {}; v.accessPolicyWindow.base_ptr = data; v.accessPolicyWindow.num_bytes = (size_t)mb << 20; v.accessPolicyWindow.hitRatio = 1; v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting; v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);
    auto k0 = [&] { readk<0><<<132, 512, 0, s>>>(data, mb << 16); };
    printf("  window: %.2f", median([&](int) { flush(); }, k0)); printf(" window+reset %.2f\n", median([&](int) { reset(); flush(); }, k0));
    v.accessPolicyWindow.num_bytes = 0; cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v); reset();
    printf("  no window: %.2f\n", median([&](int) { flush(); }, k0));
  }
}
