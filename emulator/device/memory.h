// Shadow memory: the last accesses to each byte, and its state.
#ifndef EMULATOR_MEMORY_H
#define EMULATOR_MEMORY_H
#include <stddef.h>
#include <stdlib.h>

#include <memory>
#include <vector>

#include "../schedule/clock.h"

namespace emu {
struct Block;

// A byte of memory in this launch.
enum : uint8_t {
  WRITTEN = 1,    // by somebody
  BY_ATOMIC = 2,  // the last write
  ARRIVING = 4,   // a copy to it is under way
  PLAIN = 8,      // the last write was not by a copy that tensor cores and bulk copies see
  COUNTING = 16,  // of a barrier
};
struct Cell {
  Stamp write, reads[2];
  uint32_t launch = 0;
  uint8_t is = 0;
};

// More ways to touch memory than emulator.h's: as a barrier; as tensor cores and bulk copies do.
enum { AS_BARRIER = 64, AS_TENSOR = 128 };

// A block's memory: what the launch asked for, from `start` on, and behind it what the kernel
// itself declares. Offsets count from `base`, and are what kernels call shared addresses.
struct Window {
  std::vector<unsigned char> room;
  unsigned char *base = nullptr;
  std::unique_ptr<Cell, void (*)(void *)> cells{nullptr, free};
  void make();
  bool has(uint64_t at) const { return at - (uint64_t)room.data() < room.size(); }
};

// The offsets of what the launch asked for and of what the kernel itself declares, the same in
// all blocks; whether the kernel declared what is at `offset`.
extern unsigned lds_start, first_declared;
bool declared(uint64_t offset, unsigned bytes);

// The calling lane touches memory of `block`, which another block of its cluster may be, as
// `mine`: bounds, races and the rest are looked at.
void touch_shared(Block &block, uint64_t offset, unsigned bytes, int how, const Stamp &mine);
void touch_global(const void *p, unsigned bytes, int how, const Stamp &mine);
// Reads or writes at a multiple of its size.
void need_aligned(uint64_t at, unsigned bytes, int how);

}  // namespace emu
#endif
