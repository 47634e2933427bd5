// A barrier in shared memory that counts arrivals and bytes.
#ifndef EMULATOR_MBARRIER_H
#define EMULATOR_MBARRIER_H
#include <stdint.h>

#include <string>

#include "../schedule/clock.h"

namespace emu {
struct Block;

struct Mbarrier {
  uint32_t thing = 0;  // whose time is the number of phases that are over
  uint32_t phase = 0;
  unsigned count = 0, missing = 0;  // arrivals of a phase
  long long bytes = 0;              // that are still to come
  uint32_t maker = 0;               // the lane that made it, until that is seen by all
  Knowledge known, arriving;
  bool over(int parity) const { return (phase & 1) != (unsigned)parity; }
};
// That of `block` at `at`, for the calling lane; `far`: other blocks and copies use it.
Mbarrier &mbarrier_at(Block &block, unsigned at, bool far);
// Bytes have come for the phase that it is in.
void count_bytes(Mbarrier &m, unsigned bytes);
std::string describe(const Mbarrier &m);

}  // namespace emu
#endif
