#pragma once
#include <c10/cuda/CUDAStream.h>
namespace c10::cuda {
inline bool isStreamCapturingMayInitCtx(cudaStream_t) { return emulated::capturing(); }
}  // namespace c10::cuda
