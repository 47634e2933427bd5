// kernels/device/ptx_tcgen05.h for the lane emulator: device/tcgen05.cpp. See ptx.h.
#ifndef MNKBENCH_PTX_TCGEN05
#define MNKBENCH_PTX_TCGEN05

HIDDEN inline bool elect() { return emu_lane() == 0; }

template <int GROUP> HIDDEN void tensor_alloc(unsigned slot, int columns) { emu_tensor_alloc(slot, columns, GROUP == 2); }
template <int GROUP> HIDDEN void tensor_free(unsigned base, int columns) { emu_tensor_free(base, columns, GROUP == 2); }
HIDDEN inline void tensor_fence_before() { emu_tensor_fence(0); }
HIDDEN inline void tensor_fence_after() { emu_tensor_fence(1); }

template <int GROUP> HIDDEN void tensor_copy(unsigned to, unsigned long long from) { emu_tensor_copy(to, from, GROUP == 2); }
template <int GROUP>
HIDDEN void tensor_multiply(unsigned sums, unsigned long long a, unsigned long long b, unsigned instruction,
                            unsigned scales_a, unsigned scales_b, bool add) {
  const EmuTensorProduct product = {a, b, sums, instruction, scales_a, scales_b, add, GROUP == 2};
  emu_tensor_multiply(&product);
}
template <int GROUP> HIDDEN void tensor_commit(unsigned bar, unsigned short mask) {
  emu_tensor_commit(bar, GROUP == 2 ? mask : 1u << emu_rank(), GROUP == 2);
}
HIDDEN inline void tensor_load(float (&d)[16], unsigned from) { emu_tensor_load(d, from, 16); }

#endif
