// kernels/device/ptx.h for the lane emulator: the same names, on a CPU. See cuda.h.
#ifndef MNKBENCH_PTX
#define MNKBENCH_PTX

#define DEVICE inline __attribute__((always_inline))
// All of the block's memory that the launch asked for.
#define SHARED_MEMORY(ALIGN) \
  HIDDEN inline unsigned char *emu_memory() { return emu_lds_at(ALIGN); }
#define memory emu_memory()
// More of it: every block has its own, which the address of a byte of the module's names.
#define SHARED(TYPE, NAME, ...) SHARED_ALIGNED(alignof(TYPE), TYPE, NAME, __VA_ARGS__)
#define SHARED_ALIGNED(ALIGN, TYPE, NAME, ...)  \
  typedef TYPE NAME##_type __VA_ARGS__;         \
  static char NAME##_key;                       \
  NAME##_type &NAME = *(NAME##_type *)emu_lds_static(&NAME##_key, sizeof(NAME##_type), ALIGN)

HIDDEN inline unsigned shared_address(const void *p) { return emu_address(p); }

DEVICE float f16_to_f32(unsigned short x) { return emu_from_f16(x); }
DEVICE void f32_to_f16(float x, unsigned short &y) { y = emu_to_f16(x); }
DEVICE void f32_to_bf16(float x, unsigned short &y) { y = emu_to_bf16(x); }
DEVICE unsigned emu_pair(unsigned short low, unsigned short high) { return low | (unsigned)high << 16; }
DEVICE unsigned f32_to_2f16(float low, float high) { return emu_pair(emu_to_f16(low), emu_to_f16(high)); }
DEVICE unsigned f32_to_2bf16(float low, float high) { return emu_pair(emu_to_bf16(low), emu_to_bf16(high)); }
DEVICE unsigned e4m3_to_2f16(unsigned x) { return emu_pair(emu_e4m3_to_f16(x), emu_e4m3_to_f16(x >> 8)); }
DEVICE void e4m3_to_4f16(unsigned (&y)[2], unsigned x) {
  y[0] = e4m3_to_2f16(x);
  y[1] = e4m3_to_2f16(x >> 16);
}
DEVICE unsigned low_half_twice(unsigned x) { return (x & 0xffff) * 0x10001; }
DEVICE unsigned high_half_twice(unsigned x) { return (x >> 16) * 0x10001; }
DEVICE unsigned multiply_2f16(unsigned a, unsigned b) {
  return emu_pair(emu_multiply_f16(a, b), emu_multiply_f16(a >> 16, b >> 16));
}
DEVICE unsigned multiply_2bf16(unsigned a, unsigned b) {
  return emu_pair(emu_multiply_bf16(a, b), emu_multiply_bf16(a >> 16, b >> 16));
}

HIDDEN inline unsigned thread_x_here() { return emu_thread_at(0); }
DEVICE void zero_here(float &x) { x = 0; }
DEVICE void zero_here(unsigned &x) { x = 0; }
template <class T> DEVICE void not_before(T &) {}

// How many registers there are is not emulated.
template <int COUNT> DEVICE void raise_registers() {
  static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "a number of registers that there can be");
}
template <int COUNT> DEVICE void lower_registers() { raise_registers<COUNT>(); }

template <int MANY> HIDDEN void sync_some(int id) {
  static_assert(MANY > 0 && MANY % 32 == 0, "whole warps");
  emu_barrier_of(id, MANY);
}

// When the next one starts is the emulator's business.
DEVICE void launch_dependents() {}
HIDDEN inline void wait_for_prerequisites() { emu_launch_wait(); }

#endif
