// Copies of boxes of a matrix to shared memory (PTX ISA, "cp.async.bulk.tensor"): where each byte of
// a box goes, and zeros for what is outside of the matrix. They fly as other bulk copies do.
#include <string.h>

#include <algorithm>

#include "../schedule/lanes.h"

namespace emu {
namespace {
static_assert(sizeof(EmuTensorMap) == 128, "what a kernel has for it");

EmuTensorMap map_at(const void *p) {
  const uint64_t at = (uint64_t)p, stack = (uint64_t)self->stack;
  if (at % 64) emu_fault("a tensor map at an address that is no multiple of 64");
  // Parameters are on the lane's stack.
  if (self->block->window.has(at)) emu_fault("a tensor map in the block's memory");
  if (at - stack >= STACK) touch_global(p, sizeof(EmuTensorMap), EMU_CONSTANT, now(*self));
  EmuTensorMap m;
  memcpy(&m, p, sizeof m);
  if (m.magic != EMU_TENSOR_MAP) emu_fault("a copy by what is no tensor map");
  if (!m.emulated) emu_fault("a tensor map that is not of two dimensions, dense and filled with zeros: that is not emulated");
  if (m.swizzle && m.box_columns * m.element_bytes != 16u << m.swizzle)
    emu_fault("boxes of %u bytes a row in a swizzle of %u: that is not emulated", m.box_columns * m.element_bytes, 16u << m.swizzle);
  return m;
}

// Chunks of 16 bytes trade places within rows, by the 128-byte line of their shared address.
unsigned swizzled(unsigned at, unsigned swizzle) { return at ^ (at >> 7 & ((1u << swizzle) - 1)) << 4; }
}  // namespace
}  // namespace emu

using namespace emu;

void emu_copy_tile(unsigned to, const void *map, int column, int row, unsigned barrier, unsigned ranks, int told) {
  if (to % 128) emu_fault("a copy of a box to shared address %u, which is no multiple of 128", to);
  self->time++;
  const EmuTensorMap m = map_at(map);
  // Not in PTX's manual: Hopper ends with an illegal instruction (triton-lang/triton#7385).
  const int64_t start = (int64_t)column * m.element_bytes;
  if (start % 16) emu_fault("a box that starts %lld bytes into a row, which is no multiple of 16", (long long)start);
  const unsigned bytes = m.box_columns * m.element_bytes;
  std::vector<unsigned char> box(bytes * m.box_rows), line(bytes);
  // The part of a row that is in the matrix, which begins `skipped` bytes into the box.
  const int64_t first = std::max<int64_t>(column, 0), end = std::min<int64_t>((int64_t)column + m.box_columns, m.columns);
  const int64_t skipped = (first - column) * m.element_bytes, there = (end - first) * m.element_bytes;
  for (unsigned i = 0; i < m.box_rows; i++) {
    const int64_t r = (int64_t)row + i;
    std::fill(line.begin(), line.end(), 0);
    if (r >= 0 && r < (int64_t)m.rows && there > 0) {
      const void *from = (const void *)(m.at + r * m.row_bytes + first * m.element_bytes);
      touch_global(from, there, 0, now(*self));
      memcpy(&line[skipped], from, there);
    }
    for (unsigned at = 0; at < bytes; at += 16) memcpy(&box[swizzled(to + i * bytes + at, m.swizzle) - to], &line[at], 16);
  }
  send_to_all(ranks, offset_of(to), told, offset_of(barrier), box);
}
