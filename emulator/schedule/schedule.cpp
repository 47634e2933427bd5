// Draws the next lane to run, the next block to start and the next copy to arrive.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "lanes.h"

namespace emu {
uint32_t launches;
unsigned wave_size = 64;
EmuLaunch launch;

namespace {
uint64_t random_state = 1;
jmp_buf failed;
char message[512];
std::vector<std::unique_ptr<Cluster>> running;
// Turns in which nothing went on: so many, and something that may be late need not be; all hang.
constexpr uint64_t LATE = 64, HANGS = 20000;

// Runs every lane of `w` that can, in an order of its own. Whether one got further.
bool step(Wave &w) {
  bool moved = false;
  size_t first = draw(w.lanes.size());
  for (size_t i = 0; i < w.lanes.size(); i++) {
    Lane *lane = w.lanes[(first + i) % w.lanes.size()];
    if (!runnable(*lane)) continue;
    resume(lane);
    moved |= lane->state != PAUSED;
    if (lane->state == DONE) end_lane(*lane);
  }
  return release(w) || moved;
}

[[noreturn]] void stuck(const Cluster &c) {
  const Lane *a = nullptr;
  for (auto &lane : c.lanes)
    if (lane->state == AT_PHASE)
      emu_fault("thread %u of block %u waits for ever for %s", lane->thread, lane->block->id,
                describe(*lane->phase_of).c_str());
  for (auto &lane : c.lanes) {
    if (lane->state == DONE) continue;
    if (a && a->block == lane->block && (a->state != lane->state || a->barrier != lane->barrier))
      emu_fault("threads %u and %u of block %u wait for each other: one at %s, one at %s", a->thread,
                lane->thread, a->block->id, a->what, lane->what);
    a = lane.get();
  }
  if (!a) emu_fault("a block waits for ever at its end");
  emu_fault("block %u waits for ever at %s", a->block->id, a->what);
}

// Numbers of clusters, in the order in which they start.
class Queues {
 public:
  Queues(unsigned queues, uint32_t count) : count(count) {
    for (unsigned q = 0; q < queues; q++) next.push_back(q);
  }
  bool take(uint32_t &id) {
    std::vector<uint32_t *> ready;
    for (uint32_t &n : next)
      if (n < count) ready.push_back(&n);
    if (ready.empty()) return false;
    uint32_t *from = ready[draw(ready.size())];
    id = *from;
    *from += next.size();
    return true;
  }

 private:
  const uint32_t count;
  std::vector<uint32_t> next;
};

// Clusters that are on the device at once, at most: how many differs from launch to launch, as on
// a busy device, but that all of a cooperative launch are.
size_t room(uint32_t clusters) { return launch.cooperative ? clusters : 1 + draw(6); }

void run_all(const EmuKernel &k) {
  const uint32_t count = launch.grid[0] * launch.grid[1] * launch.grid[2] / launch.cluster;
  Queues queues(k.queues, count);
  const size_t resident = room(count);
  // Copies come at once, at some time, or when all wait for them.
  const uint64_t speeds[] = {2, 16, 0}, speed = speeds[draw(3)];
  uint64_t idle = 0;
  for (;;) {
    uint32_t id;
    // Where all fit, some come late.
    const bool late = resident == count && idle < LATE && !running.empty();
    while (running.size() < resident && !(late && draw(8)) && queues.take(id)) {
      running.push_back(start_cluster(id * launch.cluster, k));
      idle = 0;
    }
    if (running.empty()) return;
    if (in_flight() && (idle > LATE || (speed && !draw(speed)))) deliver(), idle = 0;
    const size_t at = draw(running.size());
    Cluster &c = *running[at];
    Block &b = *c.blocks[draw(c.blocks.size())];
    Wave &w = *b.waves[draw(b.waves.size())];
    bool moved = step(w);
    moved |= release(b, w);
    moved |= release(c);
    if (!c.living) {
      end_cluster(c);
      running.erase(running.begin() + at);
      moved = true;
    }
    idle = moved ? 0 : idle + 1;
    if (idle > HANGS) stuck(*running[draw(running.size())]);
  }
}

void check(const EmuKernel &k) {
  const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > k.threads) emu_fault("a block of %u threads, of %u at most", threads, k.threads);
  if (launch.grid[0] % launch.cluster) emu_fault("a grid of %u blocks, in clusters of %u", launch.grid[0], launch.cluster);
}
}  // namespace

uint64_t draw(uint64_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % below;
}
}  // namespace emu

using namespace emu;

const char *emu_launch(const EmuKernel *k, const EmuLaunch *l, void **params) {
  launch = *l;
  if (!launch.cluster) launch.cluster = 1;
  set_work(k, params);
  wave_size = k->wave;
  launches++;
  if (_setjmp(failed)) {
    // Fibers that were in the middle of a kernel are of no more use.
    self = nullptr;
    running.clear();
    drop_flights();
    return message;
  }
  check(*k);
  start_clock(l->grid[0] * l->grid[1] * l->grid[2]);
  start_blocks();
  run_all(*k);
  return nullptr;
}
const EmuApi *emu_table(void) {
#define X(R, NAME, PARAMETERS, ARGUMENTS) emu_##NAME,
  static const EmuApi table = {EMU_CALLS(X)};
#undef X
  return &table;
}
void emu_seed(uint64_t seed) { random_state = seed * 0x9e3779b97f4a7c15 | 1; }
unsigned emu_draw(unsigned below) { return draw(below); }
void emu_refuse(const char *what) { emu_fault("%s", what); }
void emu_launch_wait(void) { self->known.learn_lane({BEFORE, 0, 1}); }

void emu_fault(const char *format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (self)
    snprintf(message, sizeof message, "thread %u of block %u: %s", self->thread, self->block->id, text);
  else
    snprintf(message, sizeof message, "%s", text);
  _longjmp(failed, 1);
}
