// Collectives and barriers: lanes of a wave, and waves of a block, wait for one another.
#include <string.h>

#include "lanes.h"

namespace emu {
namespace {
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
Lane *first_of(const Wave &w) {
  for (Lane *lane : w.lanes)
    if (lane->state != DONE) return lane;
  return nullptr;
}

void same_place(const Wave &w) {
  const Lane *first = first_of(w);
  for (Lane *lane : w.lanes)
    if (lane->state != DONE && (strcmp(lane->what, first->what) || lane->argument != first->argument))
      emu_fault("lanes of a wave meet at %s and at %s", first->what,
                strcmp(lane->what, first->what) ? lane->what : "another of these");
}

// Merges what the lanes of `w` know into the wave's knowledge.
void pool(Wave &w) {
  for (Lane *lane : w.lanes) {
    w.known.learn(lane->known);
    lane->known.clear();
  }
}

// Waves at a barrier of the block go on; `whole`: they are all that there are.
void pass(Block &b, const std::vector<Wave *> &waves, bool whole) {
  Knowledge together;
  for (Wave *w : waves) {
    pool(*w);
    w->synced = ++w->epoch;
    if (whole) w->met = w->epoch;
    together.learn(w->known);
    together.learn_wave(wave_number(w->lanes[0]->id), w->epoch);
    for (Lane *lane : w->lanes)
      if (lane->state != DONE) lane->state = READY;
  }
  if (whole) b.known.learn(together);
  for (Wave *w : waves)
    if (whole) w->known.clear();
    else w->known.learn(together);
}
}  // namespace

bool runnable(const Lane &lane) {
  switch (lane.state) {
    case READY:
    case PAUSED: return true;
    case AT_PHASE: return lane.phase_of->over(lane.parity);
    case AT_CLUSTER: return lane.block->cluster->phase >= lane.arrived;
    default: return false;
  }
}

// Lanes that are blocked together go on together.
bool release(Wave &w) {
  if (all(w, SHARING)) {
    for (Lane *lane : w.lanes)
      if (lane->state == DONE) emu_fault("%s of a wave of which lanes have ended", first_of(w)->what);
    same_place(w);
    if (w.lanes.size() < wave_size) emu_fault("%s of a wave that is not full", w.lanes[0]->what);
    w.turn ^= 1;
  } else if (all(w, MEETING)) {
    same_place(w);
    self = first_of(w);
    self->meeting(w, self->argument);
    self = nullptr;
  } else if (all(w, AT_WAVE_BARRIER)) {
    pool(w);
    w.synced = ++w.epoch;
  } else {
    return false;
  }
  for (Lane *lane : w.lanes)
    if (lane->state != DONE) lane->state = READY;
  return true;
}

// Waves that stand at barriers of the block: all at one, or as many as another asks for. It may
// be so because of `last`, which has run.
bool release(Block &b, const Wave &last) {
  if (live(last) && !all(last, AT_BARRIER)) return false;
  std::map<unsigned, std::vector<Wave *>> at;
  bool whole = true;
  for (auto &w : b.waves) {
    if (!live(*w)) continue;
    if (!all(*w, AT_BARRIER)) {
      whole = false;
      continue;
    }
    const Lane *first = first_of(*w);
    for (Lane *lane : w->lanes)
      if (lane->state != DONE && (lane->barrier != first->barrier || lane->count != first->count))
        emu_fault("lanes of a wave meet at barriers %u and %u of the block", first->barrier, lane->barrier);
    at[first->barrier].push_back(w.get());
  }
  for (auto &[barrier, waves] : at) {
    const unsigned count = first_of(*waves[0])->count;
    unsigned there = 0;
    for (Wave *w : waves) {
      if (first_of(*w)->count != count)
        emu_fault("barrier %u is of %u threads and of %u", barrier, count, first_of(*w)->count);
      there += w->lanes.size();
    }
    if (count ? there < count : !whole || at.size() > 1) continue;
    if (count && there > count) emu_fault("%u threads are at barrier %u, which is of %u", there, barrier, count);
    if (!count) {
      // Those that have ended count as arrived, with what they did.
      waves.clear();
      for (auto &w : b.waves) waves.push_back(w.get());
    }
    pass(b, waves, !count);
    return true;
  }
  return false;
}

void meet(const char *what, Meeting *meeting, uint64_t argument) {
  self->meeting = meeting;
  self->argument = argument;
  wait_as(MEETING, what);
  self->argument = 0;
}
}  // namespace emu

using namespace emu;

void emu_barrier(void) { emu_barrier_of(0, 0); }
void emu_barrier_of(unsigned barrier, unsigned threads) {
  if (barrier > 15 || threads % wave_size) emu_fault("barrier %u of %u threads: there are 16, of whole waves", barrier, threads);
  sync_tensor(*self);
  self->barrier = barrier;
  self->count = threads;
  wait_as(AT_BARRIER, "a barrier");
  self->tensor_ordered = false;
}
void emu_wave_barrier(void) { wait_as(AT_WAVE_BARRIER, "a wave barrier"); }
void emu_pause(void) { wait_as(PAUSED, "a loop that waits"); }
// The same, of what is no loop; only now and then.
void emu_yield(void) {
  if (draw(4) == 0) wait_as(READY, "");
}

const void *emu_share(const char *what, const void *mine, unsigned bytes) {
  Wave &w = wave_of(*self);
  auto &all = w.shared[w.turn];
  memcpy(all[self->thread % wave_size], mine, bytes);
  wait_as(SHARING, what);
  return all;
}
