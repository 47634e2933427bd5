// What torch_matmul.cpp takes of PyTorch's CUDA headers, on the emulated driver: tensors of the CPU whose
// memory is the driver's. A test puts this folder before PyTorch's.
#pragma once
#include <ATen/ATen.h>
#include <dlfcn.h>

struct CUstream_st;
typedef CUstream_st* cudaStream_t;

namespace emulated {
template <typename F>
F* named(const char* name) {
  static void* library = dlopen(MNK_CUDA_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  void* found = library ? dlsym(library, name) : nullptr;
  TORCH_CHECK(found, "no ", name, " in ", MNK_CUDA_LIBRARY);
  return reinterpret_cast<F*>(found);
}
// Whether calls are being recorded; a test sets it.
inline bool& capturing() {
  static bool is = false;
  return is;
}
}  // namespace emulated

inline int cudaFree(void*) {
  return emulated::named<int(unsigned)>("cuInit")(0) + emulated::named<int(uint64_t)>("cuCtxSetCurrent")(77);
}
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
inline int cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* to) {
  *to = emulated::capturing() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return 0;
}
#define C10_CUDA_CHECK(call) TORCH_CHECK((call) == 0, #call)

namespace c10::cuda {
struct CUDAStream {
  cudaStream_t made;
  cudaStream_t stream() const { return made; }
  DeviceIndex device_index() const { return 0; }
};
inline CUDAStream getCurrentCUDAStream(DeviceIndex) {
  static cudaStream_t made = [] {
    cudaStream_t to = nullptr;
    emulated::named<int(cudaStream_t*, unsigned)>("cuStreamCreate")(&to, 1);
    return to;
  }();
  return {made};
}
}  // namespace c10::cuda
