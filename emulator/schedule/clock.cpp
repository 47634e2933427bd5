// The happens-before relation. See lanes.h.
#include <algorithm>
#include <unordered_map>

#include "lanes.h"

namespace emu {
namespace {
uint32_t things;
std::unordered_map<uint64_t, Knowledge> published;  // by the address of an atomic
}  // namespace

uint32_t new_thing() { return THING | ++things; }
uint32_t wave_number(uint32_t lane) { return (lane - 1) / wave_size; }

const Knowledge::Entry *Knowledge::find(const std::vector<Entry> &in, uint32_t key) {
  auto it = std::lower_bound(in.begin(), in.end(), key, [](const Entry &e, uint32_t k) { return e.key < k; });
  return it != in.end() && it->key == key ? &*it : nullptr;
}

bool Knowledge::has(const Stamp &s) const {
  if (!(s.lane & THING)) {
    const Entry *wave = find(waves, wave_number(s.lane));
    if (wave && wave->value > s.epoch) return true;
  }
  const Entry *lane = find(lanes, s.lane);
  return lane && lane->value >= s.time;
}

void Knowledge::merge(std::vector<Entry> &to, const Entry *from, size_t count) {
  if (!count) return;
  static std::vector<Entry> both;
  both.clear();
  both.reserve(to.size() + count);
  const Entry *end = from + count;
  for (const Entry &e : to) {
    while (from < end && from->key < e.key) both.push_back(*from++);
    if (from < end && from->key == e.key) {
      both.push_back(from->value > e.value ? *from : e);
      from++;
    } else {
      both.push_back(e);
    }
  }
  both.insert(both.end(), from, end);
  to.swap(both);
}

// Forgets lanes of which the wave says as much.
void Knowledge::prune() {
  lanes.erase(std::remove_if(lanes.begin(), lanes.end(),
                             [&](const Entry &e) {
                               if (e.key & THING) return false;
                               const Entry *wave = find(waves, wave_number(e.key));
                               return wave && wave->value > e.epoch;
                             }),
              lanes.end());
}

void Knowledge::learn(const Knowledge &from) {
  merge(waves, from.waves.data(), from.waves.size());
  merge(lanes, from.lanes.data(), from.lanes.size());
  if (lanes.size() > 16) prune();
}
void Knowledge::learn_wave(uint32_t wave, uint32_t epoch) {
  const Entry e = {wave, epoch, 0};
  merge(waves, &e, 1);
}
void Knowledge::learn_lane(const Stamp &s) {
  const Entry e = {s.lane, s.time, s.epoch};
  merge(lanes, &e, 1);
}
void Knowledge::learn_things(const Knowledge &from) {
  for (const Entry &e : from.lanes)
    if (e.key & THING) learn_lane({e.key, e.epoch, e.value});
}

Stamp now(const Lane &lane) { return {lane.id, wave_of(lane).epoch, lane.time}; }

bool before(const Stamp &s, const Lane &lane) {
  if (s.lane == 0 || s.lane == lane.id) return true;
  const Block &b = *lane.block;
  if (!(s.lane & THING) && (s.lane - 1) / MOST_THREADS == b.id) {
    const Wave &its = *b.waves[(s.lane - 1) % MOST_THREADS / wave_size], &mine = wave_of(lane);
    if (s.epoch < its.met || (&its == &mine && s.epoch < its.synced)) return true;
  }
  return lane.known.has(s) || wave_of(lane).known.has(s) || b.known.has(s);
}

Knowledge known_to(const Lane &lane) {
  Knowledge all = lane.block->known;
  all.learn(wave_of(lane).known);
  all.learn(lane.known);
  all.learn_wave(wave_number(lane.id), wave_of(lane).synced);
  all.learn_lane(now(lane));
  return all;
}

void start_clock(uint32_t blocks) {
  if (blocks > THING / MOST_THREADS - 1) emu_fault("a grid of %u blocks is too large for the emulator", blocks);
  things = 0;
  published.clear();
}
}  // namespace emu

using namespace emu;

void emu_order(const void *p, int order, int store) {
  const uint64_t at = (uint64_t)p;
  if (order & EMU_FENCED) {
    self->atomic = at;
    order = self->fenced ? EMU_ACQUIRE | EMU_RELEASE : EMU_RELAXED;
  }
  if (order & EMU_ACQUIRE) {
    auto it = published.find(at);
    if (it != published.end()) self->known.learn(it->second);
  }
  if (!store) return;
  if (!(order & EMU_RELEASE)) {
    // A plain store ends what a release before it published; a sum carries it on.
    if (store > 1) published.erase(at);
    return;
  }
  if (store > 1) published[at] = known_to(*self);
  else published[at].learn(known_to(*self));
}
void emu_fence(void) {
  self->fenced = true;
  auto it = published.find(self->atomic);
  if (it != published.end()) self->known.learn(it->second);
}
