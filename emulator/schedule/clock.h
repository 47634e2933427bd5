// The happens-before relation: stamps of accesses, and the stamps that lanes know of.
//
// A lane's time is counted in its own accesses, a wave's in epochs: one ends whenever the wave's
// lanes meet in a way that may order what they did. Things tell lanes something too (a barrier
// in shared memory: that bytes have come); they have numbers like lanes', and a time.
#ifndef EMULATOR_CLOCK_H
#define EMULATOR_CLOCK_H
#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace emu {
struct Lane;

// `lane`: 1 + its number in the grid, a thing's number, or 0 for nobody.
struct Stamp {
  uint32_t lane = 0, epoch = 0, time = 0;
  bool operator==(const Stamp &o) const { return lane == o.lane && epoch == o.epoch && time == o.time; }
};
constexpr uint32_t THING = 1u << 31;
uint32_t new_thing();
// The launch before, whose time is 1 once it is over.
constexpr uint32_t BEFORE = THING;

// A vector clock: of waves up to an epoch, and of lanes and things up to a time.
class Knowledge {
 public:
  bool has(const Stamp &s) const;
  void learn(const Knowledge &from);
  void learn_wave(uint32_t wave, uint32_t epoch);
  void learn_lane(const Stamp &s);
  void clear() { waves.clear(), lanes.clear(); }

 private:
  struct Entry {
    uint32_t key, value, epoch;
  };
  std::vector<Entry> waves, lanes;  // by their keys
  static void merge(std::vector<Entry> &to, const Entry *from, size_t count);
  static const Entry *find(const std::vector<Entry> &in, uint32_t key);
  void prune();
};

// The number of the wave that the lane of number `lane` is in.
uint32_t wave_number(uint32_t lane);
// The present of a lane.
Stamp now(const Lane &lane);
// Returns whether the stamped access happened before the present of `lane`.
bool before(const Stamp &s, const Lane &lane);
// All that `lane` knows now, its own doings among it.
Knowledge known_to(const Lane &lane);
void start_clock(uint32_t blocks);

}  // namespace emu
#endif
