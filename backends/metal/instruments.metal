// The harness's own kernels on Metal. instruments.cu has the same entries with the same parameters.
#include "../../kernels/device/msl.h"

// Launch overhead: the timer's floor.
KERNEL(256) void empty(WHERE) {}

// Keeps the cores at their clocks. Eight chains of dependent multiply-adds a lane hide each
// other's latency. They converge to 1, so the store never happens, which the compiler cannot
// know.
KERNEL(256) void filler(device float *sink [[buffer(0)]], constant int &iterations [[buffer(1)]],
                        WHERE) {
  float x[8];
  for (int i = 0; i < 8; i++) x[i] = 1.0f + tid + i;
  for (int n = 0; n < iterations; n++) {
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = x[i] * 0.5f + 0.5f;
  }
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += x[i];
  if (sum < 0) *sink = sum;
}

// Makes the loads count: one sum in 2^32 is stored, so the compiler cannot drop any.
DEVICE void keep(uint folded, device float *sink) {
  if (folded == 0x9e3779b9u) *sink = 1;
}

DEVICE uint fold(uint4 v) { return v[0] ^ v[1] ^ v[2] ^ v[3]; }

// The bytes after the last whole 16.
DEVICE uint tail(device const uchar *p, long bytes, long at) {
  at += bytes / 16 * 16;
  return at < bytes ? p[at] : 0u;
}

// Reads `bytes` from `p` and writes nothing: evicts clean lines only. Any grid of threadgroups
// of 256 will do.
KERNEL(256) void read_flush(device const uchar *p [[buffer(0)]], constant long &bytes [[buffer(1)]],
                            device float *sink [[buffer(2)]], WHERE) {
  device const uint4 *from = (device const uint4 *)p;
  const long step = blocks.x * 256l, first = block.x * 256l + tid;
  uint folded = tail(p, bytes, first);
#pragma unroll 4
  for (long i = first; i < bytes / 16; i += step) folded ^= fold(from[i]);
  keep(folded, sink);
}

// The least time that a kernel which needs `bytes` can take: one threadgroup of 128 lanes for
// each 16 KiB, eight 16-byte loads in flight a lane, nothing else.
KERNEL(128) void load_only(device const uchar *p [[buffer(0)]], constant long &bytes [[buffer(1)]],
                           device float *sink [[buffer(2)]], WHERE) {
  device const uint4 *from = (device const uint4 *)p;
  const long whole = bytes / 16, first = block.x * 1024l + tid;
  uint4 v[8];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const long at = first + i * 128;
    v[i] = uint4{0, 0, 0, 0};
    if (at < whole) v[i] = from[at];
  }
  uint folded = tail(p, bytes, first);
#pragma unroll
  for (int i = 0; i < 8; i++) folded ^= fold(v[i]);
  keep(folded, sink);
}
