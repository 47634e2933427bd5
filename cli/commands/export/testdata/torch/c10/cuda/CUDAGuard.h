#pragma once
#include <c10/cuda/CUDAStream.h>
namespace c10::cuda {
struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(DeviceIndex) {}
};
}  // namespace c10::cuda
