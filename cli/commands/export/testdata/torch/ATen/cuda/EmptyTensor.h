#pragma once
#include <c10/cuda/CUDAStream.h>
namespace at::detail {
inline Tensor empty_cuda(IntArrayRef sizes, ScalarType type, std::optional<Device>, std::optional<c10::MemoryFormat>) {
  size_t bytes = c10::elementSize(type);
  for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
  uint64_t at = 0;
  TORCH_CHECK(!emulated::named<int(uint64_t*, uint64_t)>("cuMemAlloc_v2")(&at, bytes), "cuMemAlloc");
  const auto release = [](void* memory) { emulated::named<int(uint64_t)>("cuMemFree_v2")(reinterpret_cast<uint64_t>(memory)); };
  return from_blob(reinterpret_cast<void*>(at), sizes, release, TensorOptions().dtype(type));
}
}  // namespace at::detail
