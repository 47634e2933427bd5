// What the emulator's own files share.
#ifndef EMULATOR_LANES_H
#define EMULATOR_LANES_H
#include <setjmp.h>
#include <stddef.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "emulator.h"

namespace emu {

// When a lane did something: enough to tell whether it happened before something else.
struct Stamp {
  uint32_t lane = 0;   // 1 + its number in the grid; 0 is nobody
  uint32_t epoch = 0;  // barriers that its block had met at
  uint32_t wave = 0;   // wave barriers that its wave had met at
  uint32_t time = 0;   // accesses of the lane itself
};

// What a lane knows of a block: all before `epoch`, and in it some lanes up to a time.
struct Seen {
  uint32_t epoch = 0;
  std::map<uint32_t, uint32_t> lanes;
};
using Knowledge = std::map<uint32_t, Seen>;  // by block
void learn(Knowledge &to, const Knowledge &from);

// A byte of memory: who touched it last in this launch.
struct Cell {
  Stamp write, reads[2];
  uint32_t launch = 0;
  uint8_t written = 0, atomic = 0, arriving = 0;
};

enum State { READY, SHARING, AT_BARRIER, AT_WAVE_BARRIER, PAUSED, DONE };

struct Block;
struct Copy {
  unsigned char *to;
  unsigned bytes;
  unsigned char data[16];
};
struct Lane {
  Block *block = nullptr;
  unsigned thread = 0;
  uint32_t id = 0, time = 0;
  State state = DONE;
  const char *what = "";
  Knowledge known;  // since the block's last barrier
  std::deque<Copy> copies;
  // The fiber.
  jmp_buf at;
  unsigned char *stack = nullptr;
  bool started = false;
  Lane();
  ~Lane();
};
struct Wave {
  std::vector<Lane *> lanes;
  uint32_t epoch = 0;
  unsigned turn = 0;
  alignas(64) unsigned char shared[2][64][64];
};
struct Block {
  uint32_t id = 0;
  unsigned at[3] = {};
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<unsigned char> lds_room;
  unsigned char *lds = nullptr;
  unsigned lds_bytes = 0;
  std::vector<Cell> cells;
  uint32_t epoch = 0;
  Knowledge known;
};

constexpr size_t STACK = 128 << 10;
extern Lane *self;        // the lane that runs, or none
extern uint32_t launches;  // the number of this launch
extern unsigned wave_size;

// What lanes run, and how one goes on until it waits or ends.
void set_work(const EmuKernel *k, void **params);
void resume(Lane *lane);
void wait_as(State state, const char *what);
std::unique_ptr<Lane> take_lane();
void give_lane(std::unique_ptr<Lane> lane);

Stamp now(const Lane &lane);
// Forgets what a launch before this one left behind.
void start_memory(unsigned blocks);
Wave &wave_of(const Lane &lane);

}  // namespace emu
#endif
