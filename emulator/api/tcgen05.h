// kernels/device/ptx_tcgen05.h for the lane emulator: device/tcgen05.cpp. See ptx.h.
#ifndef MNKBENCH_PTX_TCGEN05
#define MNKBENCH_PTX_TCGEN05

// Uploads are seen by every launch.
HIDDEN inline void acquire_map(const TensorMap *) {}
template <int CTA_GROUP>
HIDDEN void copy_tile_for(unsigned to, const TensorMap *map, int column, int row, unsigned bar, unsigned long long policy) {
  emu_policy(policy);
  emu_copy_tile(to, map, column, row, bar, 1u << emu_rank(), CTA_GROUP == 2 ? emu_rank() & ~1u : -1);
}

// Its bytes become known one store after the other.
HIDDEN inline void store_32_bytes(void *to, const unsigned (&x)[8]) {
  if ((unsigned long long)to % 32) emu_refuse("stores 32 bytes at an address that is no multiple of them");
  emu_access(to, 32, EMU_WRITE);
  memcpy(to, x, 32);
}

HIDDEN inline bool elect() { return emu_lane() == 0; }

template <int CTA_GROUP> HIDDEN void tensor_alloc(unsigned slot, int columns) { emu_tensor_alloc(slot, columns, CTA_GROUP == 2); }
template <int CTA_GROUP> HIDDEN void tensor_free(unsigned base, int columns) { emu_tensor_free(base, columns, CTA_GROUP == 2); }
HIDDEN inline void tensor_fence_before() { emu_tensor_fence(0); }
HIDDEN inline void tensor_fence_after() { emu_tensor_fence(1); }

template <int CTA_GROUP> HIDDEN void tensor_copy(unsigned to, unsigned long long from) { emu_tensor_copy(to, from, CTA_GROUP == 2); }
template <int CTA_GROUP>
HIDDEN void tensor_multiply(unsigned sums, unsigned long long a, unsigned long long b, unsigned instruction,
                            unsigned scales_a, unsigned scales_b, bool add) {
  const EmuTensorProduct product = {a, b, sums, instruction, scales_a, scales_b, add, CTA_GROUP == 2};
  emu_tensor_multiply(&product);
}
HIDDEN inline void tensor_commit(unsigned bar) { emu_tensor_commit(bar, 1u << emu_rank(), 0); }
template <int CTA_GROUP> HIDDEN void tensor_commit_to_all(unsigned bar, unsigned short mask) {
  emu_tensor_commit(bar, mask, CTA_GROUP == 2);
}
HIDDEN inline void tensor_load(float (&d)[16], unsigned from) { emu_tensor_load(d, from, 16); }

#endif
