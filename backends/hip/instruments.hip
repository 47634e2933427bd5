// The harness's own kernels on HIP. instruments.cu has the same entries with the same parameters.
#include "../../kernels/device/gfx.h"

// Launch overhead: the timer's floor.
KERNEL(256) void empty() {}

// Keeps the compute units at their clocks. Eight chains of dependent multiply-adds a lane
// hide each other's latency. They converge to 1, so the store never happens, which the
// compiler cannot know.
KERNEL(256) void filler(float *sink, int iterations) {
  float x[8];
  for (int i = 0; i < 8; i++) x[i] = 1.0f + thread_x() + i;
  for (int n = 0; n < iterations; n++) {
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = x[i] * 0.5f + 0.5f;
  }
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += x[i];
  if (sum < 0) *sink = sum;
}

// Makes the loads count: one sum in 2^32 is stored, so the compiler cannot drop any.
DEVICE void keep(unsigned folded, float *sink) {
  if (folded == 0x9e3779b9u) *sink = 1;
}

DEVICE unsigned fold(u32x4 v) { return v[0] ^ v[1] ^ v[2] ^ v[3]; }

// The bytes after the last whole 16.
DEVICE unsigned tail(const void *p, long long bytes, long long thread) {
  const long long at = bytes / 16 * 16 + thread;
  return at < bytes ? static_cast<const unsigned char *>(p)[at] : 0u;
}

// Reads `bytes` from `p` and writes nothing: evicts clean lines only. Any grid of blocks of
// 256 will do.
KERNEL(256) void read_flush(const void *p, long long bytes, float *sink) {
  const u32x4 *from = static_cast<const u32x4 *>(p);
  const long long step = grid_x() * 256ll;
  const long long thread = block_x() * 256ll + thread_x();
  unsigned folded = tail(p, bytes, thread);
#pragma unroll 4
  for (long long i = thread; i < bytes / 16; i += step) folded ^= fold(from[i]);
  keep(folded, sink);
}

// The least time that a kernel which needs `bytes` can take: one block of 128 lanes for each
// 16 KiB, eight 16-byte loads in flight a lane, nothing else.
KERNEL(128) void load_only(const void *p, long long bytes, float *sink) {
  const u32x4 *from = static_cast<const u32x4 *>(p);
  const long long whole = bytes / 16;
  const long long first = block_x() * 1024ll + thread_x();
  u32x4 v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const long long at = first + i * 128;
    v[i] = at < whole ? from[at] : u32x4{0, 0, 0, 0};
  }
  unsigned folded = tail(p, bytes, first);
#pragma unroll
  for (int i = 0; i < 8; i++) folded ^= fold(v[i]);
  keep(folded, sink);
}
