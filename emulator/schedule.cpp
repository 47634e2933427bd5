// Which lane runs next, and when lanes that wait go on.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lanes.h"

namespace emu {
uint32_t launches;
unsigned wave_size = 64;

namespace {
uint64_t random_state = 1;
const EmuKernel *kernel;
const unsigned *blocks;  // of the grid
jmp_buf failed;
char message[512];

struct Running {
  Block block;
  std::vector<std::unique_ptr<Lane>> lanes;
};
std::vector<std::unique_ptr<Running>> running;
constexpr unsigned LDS_GUARD = 4096;

uint64_t draw(uint64_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % below;
}

std::unique_ptr<Running> start(uint32_t id, const unsigned *grid, unsigned threads,
                               unsigned shared) {
  auto r = std::make_unique<Running>();
  Block &b = r->block;
  b.id = id;
  b.at[0] = id % grid[0], b.at[1] = id / grid[0] % grid[1], b.at[2] = id / grid[0] / grid[1];
  // Memory that was never written must not look like zeros.
  b.lds_room.assign(shared + 2 * LDS_GUARD, 0xa5);
  b.lds = b.lds_room.data() + LDS_GUARD;
  b.lds += -(uintptr_t)b.lds % 1024;
  b.lds_bytes = shared;
  b.cells.resize(shared);
  for (unsigned t = 0; t < threads; t++) {
    if (t % wave_size == 0) b.waves.push_back(std::make_unique<Wave>());
    auto lane = take_lane();
    lane->block = &b;
    lane->thread = t;
    lane->id = id * 1024 + t + 1;
    lane->time = 0;
    lane->state = READY;
    lane->known.clear();
    lane->copies.clear();
    b.waves.back()->lanes.push_back(lane.get());
    r->lanes.push_back(std::move(lane));
  }
  return r;
}

bool live(const Wave &w) {
  for (Lane *lane : w.lanes)
    if (lane->state != DONE) return true;
  return false;
}

bool all(const Wave &w, State state) {
  for (Lane *lane : w.lanes)
    if (lane->state != DONE && lane->state != state) return false;
  return live(w);
}

// Lanes that are blocked together go on together. Whether anything changed.
bool release(Wave &w) {
  if (all(w, SHARING)) {
    for (Lane *lane : w.lanes) {
      if (lane->state == DONE) emu_fault("%s of a wave of which lanes have ended", w.lanes[0]->what);
      if (strcmp(lane->what, w.lanes[0]->what))
        emu_fault("lanes of a wave meet at %s and at %s", w.lanes[0]->what, lane->what);
    }
    if (w.lanes.size() < wave_size) emu_fault("%s of a wave that is not full", w.lanes[0]->what);
    w.turn ^= 1;
  } else if (all(w, AT_WAVE_BARRIER)) {
    w.epoch++;
    Knowledge together;
    for (Lane *lane : w.lanes) learn(together, lane->known);
    for (Lane *lane : w.lanes) lane->known = together;
  } else {
    return false;
  }
  for (Lane *lane : w.lanes)
    if (lane->state != DONE) lane->state = READY;
  return true;
}

bool release(Block &b) {
  bool any = false;
  for (auto &w : b.waves) {
    if (!live(*w)) continue;
    if (!all(*w, AT_BARRIER)) return false;
    any = true;
  }
  if (!any) return false;
  b.epoch++;
  for (auto &w : b.waves)
    for (Lane *lane : w->lanes) {
      learn(b.known, lane->known);
      lane->known.clear();
      if (lane->state != DONE) lane->state = READY;
    }
  return true;
}

// Runs every lane of `w` that can, in an order of its own. Whether one got further.
bool step(Wave &w) {
  bool moved = false;
  size_t first = draw(w.lanes.size());
  for (size_t i = 0; i < w.lanes.size(); i++) {
    Lane *lane = w.lanes[(first + i) % w.lanes.size()];
    if (lane->state != READY && lane->state != PAUSED) continue;
    resume(lane);
    moved |= lane->state != PAUSED;
  }
  return release(w) || moved;
}

void stuck(const Running &r) {
  const Lane *a = nullptr;
  for (auto &lane : r.lanes) {
    if (lane->state == DONE) continue;
    if (a && a->state != lane->state)
      emu_fault("threads %u and %u of block %u wait for each other: one at %s, one at %s", a->thread,
                lane->thread, r.block.id, a->what, lane->what);
    a = lane.get();
  }
  emu_fault("block %u waits for ever at %s", r.block.id, a ? a->what : "its end");
}

void run_all(const unsigned *grid, unsigned threads, unsigned shared) {
  const uint32_t count = grid[0] * grid[1] * grid[2];
  std::vector<uint32_t> next;  // of each queue
  for (unsigned q = 0; q < kernel->queues; q++) next.push_back(q);
  // How many blocks fit at once differs from launch to launch, as on a busy device.
  const size_t resident = 1 + draw(6);
  uint64_t idle_turns = 0;
  for (;;) {
    while (running.size() < resident) {
      std::vector<unsigned> ready;
      for (unsigned q = 0; q < next.size(); q++)
        if (next[q] < count) ready.push_back(q);
      if (ready.empty()) break;
      uint32_t &id = next[ready[draw(ready.size())]];
      running.push_back(start(id, grid, threads, shared));
      id += kernel->queues;
    }
    if (running.empty()) return;
    const size_t at = draw(running.size());
    Running &r = *running[at];
    bool moved = step(*r.block.waves[draw(r.block.waves.size())]);
    moved |= release(r.block);
    bool over = true;
    for (auto &w : r.block.waves) over &= !live(*w);
    if (over) {
      for (auto &lane : r.lanes) give_lane(std::move(lane));
      running.erase(running.begin() + at);
      moved = true;
    }
    idle_turns = moved ? 0 : idle_turns + 1;
    if (idle_turns > 20000) stuck(*running[draw(running.size())]);
  }
}
}  // namespace

Wave &wave_of(const Lane &lane) { return *lane.block->waves[lane.thread / wave_size]; }

Stamp now(const Lane &lane) {
  return {lane.id, lane.block->epoch, wave_of(lane).epoch, lane.time};
}
}  // namespace emu

using namespace emu;

const char *emu_launch(const EmuKernel *k, const unsigned *grid, const unsigned *block,
                       unsigned shared, void **params) {
  const unsigned threads = block[0] * block[1] * block[2];
  kernel = k;
  set_work(k, params);
  blocks = grid;
  wave_size = k->wave;
  launches++;
  start_memory(grid[0] * grid[1] * grid[2]);
  if (_setjmp(failed)) {
    // Fibers that were in the middle of a kernel are of no more use.
    self = nullptr;
    running.clear();
    return message;
  }
  if (threads > k->threads) emu_fault("a block of %u threads, of %u at most", threads, k->threads);
  if (block[1] != 1 || block[2] != 1) emu_fault("blocks of more than one dimension are not emulated");
  run_all(grid, threads, shared);
  return nullptr;
}
const EmuApi *emu_table(void) {
#define X(R, NAME, PARAMETERS, ARGUMENTS) emu_##NAME,
  static const EmuApi table = {EMU_CALLS(X)};
#undef X
  return &table;
}
void emu_seed(uint64_t seed) { random_state = seed * 0x9e3779b97f4a7c15 | 1; }

unsigned emu_thread(void) { return self->thread; }
unsigned emu_block(int axis) { return self->block->at[axis]; }
unsigned emu_grid(int axis) { return blocks[axis]; }
unsigned char *emu_lds(void) { return self->block->lds; }
void emu_barrier(void) { wait_as(AT_BARRIER, "a barrier"); }
void emu_wave_barrier(void) { wait_as(AT_WAVE_BARRIER, "a wave barrier"); }
void emu_pause(void) { wait_as(PAUSED, "a loop that waits"); }

const void *emu_share(const char *what, const void *mine, unsigned bytes) {
  Wave &w = wave_of(*self);
  auto &all = w.shared[w.turn];
  memcpy(all[self->thread % wave_size], mine, bytes);
  wait_as(SHARING, what);
  return all;
}

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
