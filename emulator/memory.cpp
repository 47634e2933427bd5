// What lanes do to memory: bounds, alignment, values never written, and races.
#include <string.h>
#include <sys/mman.h>

#include <unordered_map>

#include "lanes.h"

namespace emu {
namespace {
struct Region {
  uint64_t at, bytes;
  Cell *cells;
};
std::map<uint64_t, Region> regions;  // global memory, by its start
const Region *recent;
std::unordered_map<uint64_t, Knowledge> published;  // by the address of an atomic

bool knows(const Knowledge &k, uint32_t block, const Stamp &s) {
  auto it = k.find(block);
  if (it == k.end()) return false;
  if (it->second.epoch > s.epoch) return true;
  auto lane = it->second.lanes.find(s.lane);
  return it->second.epoch == s.epoch && lane != it->second.lanes.end() && lane->second >= s.time;
}

// Whether what was stamped happened before what `lane` does now.
bool before(const Stamp &s, const Lane &lane) {
  if (s.lane == 0 || s.lane == lane.id) return true;
  const uint32_t block = (s.lane - 1) / 1024, thread = (s.lane - 1) % 1024;
  if (block == lane.block->id) {
    if (s.epoch < lane.block->epoch) return true;
    if (thread / wave_size == lane.thread / wave_size && s.wave < wave_of(lane).epoch) return true;
  }
  return knows(lane.known, block, s) || knows(lane.block->known, block, s);
}

[[noreturn]] void race(const char *place, uint64_t offset, const Stamp &s, const char *then,
                       const char *now) {
  emu_fault("a race in %s at byte %llu: thread %u of block %u %s it, this one %s it, and nothing orders them",
            place, (unsigned long long)offset, (s.lane - 1) % 1024, (s.lane - 1) / 1024, then, now);
}

void touch(Cell &c, const char *place, uint64_t offset, int how) {
  if (c.launch != launches) {
    c.write = c.reads[0] = c.reads[1] = {};
    c.atomic = 0;
    c.launch = launches;
  }
  const bool atomic = how & EMU_ATOMIC;
  if (c.arriving) emu_fault("byte %llu of %s is used while a copy to it is under way", (unsigned long long)offset, place);
  // Atomics do not race with one another.
  if (!(atomic && c.atomic) && !before(c.write, *self))
    race(place, offset, c.write, c.atomic ? "changed" : "wrote", how & EMU_WRITE ? "writes" : "reads");
  if (how & EMU_WRITE) {
    for (const Stamp &read : c.reads)
      if (!before(read, *self)) race(place, offset, read, "read", "writes");
    c.write = now(*self);
    c.atomic = atomic;
    c.reads[0] = c.reads[1] = {};
  } else if (!atomic) {
    // Of readers that nothing orders, two are kept.
    if (!before(c.reads[0], *self)) c.reads[1] = c.reads[0];
    c.reads[0] = now(*self);
  }
}

const Region *region_of(uint64_t at) {
  if (recent && at >= recent->at && at < recent->at + recent->bytes) return recent;
  auto it = regions.upper_bound(at);
  if (it == regions.begin()) return nullptr;
  const Region &r = (--it)->second;
  if (at >= r.at + r.bytes) return nullptr;
  return recent = &r;
}
}  // namespace

void learn(Knowledge &to, const Knowledge &from) {
  for (const auto &[block, seen] : from) {
    Seen &mine = to[block];
    if (seen.epoch > mine.epoch) mine = seen;
    else if (seen.epoch == mine.epoch)
      for (const auto &[lane, time] : seen.lanes) {
        uint32_t &t = mine.lanes[lane];
        if (time > t) t = time;
      }
  }
}

void start_memory(unsigned blocks) {
  if (blocks > (1u << 22) - 1) emu_fault("a grid of %u blocks is too large for the emulator", blocks);
  published.clear();
}
}  // namespace emu

using namespace emu;

void emu_allow(uint64_t at, uint64_t bytes) {
  // Pages that nobody touches cost nothing.
  void *cells = mmap(nullptr, (bytes + 1) * sizeof(Cell), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (cells == MAP_FAILED) cells = nullptr;
  regions[at] = {at, bytes, (Cell *)cells};
  recent = nullptr;
}
void emu_forbid(uint64_t at) {
  auto it = regions.find(at);
  if (it == regions.end()) return;
  if (it->second.cells) munmap(it->second.cells, (it->second.bytes + 1) * sizeof(Cell));
  regions.erase(it);
  recent = nullptr;
}

void emu_access(const void *p, unsigned bytes, int how) {
  if (!self) return;
  const uint64_t at = (uint64_t)p, stack = (uint64_t)self->stack;
  if (at >= stack && at < stack + STACK) return;
  const char *verb = how & EMU_WRITE ? "writes" : "reads";
  if (bytes <= 16 && at % bytes) emu_fault("%s %u bytes at an address that is no multiple of it", verb, bytes);
  self->time++;
  Block &b = *self->block;
  const uint64_t room = (uint64_t)b.lds_room.data(), lds = (uint64_t)b.lds;
  if (at >= room && at < room + b.lds_room.size()) {
    if (at < lds || at + bytes > lds + b.lds_bytes)
      emu_fault("%s bytes %lld to %lld of the block's %u bytes of memory", verb, (long long)(at - lds),
                (long long)(at - lds + bytes), b.lds_bytes);
    for (uint64_t i = at - lds; i < at - lds + bytes; i++) {
      touch(b.cells[i], "the block's memory", i, how);
      if (how & EMU_WRITE) b.cells[i].written = 1;
      else if (!b.cells[i].written) emu_fault("reads byte %llu of the block's memory, which nobody wrote", (unsigned long long)i);
    }
    return;
  }
  const Region *r = region_of(at);
  if (!r || at + bytes > r->at + r->bytes) {
    if (r) emu_fault("%s %u bytes across the end of global memory of %llu bytes", verb, bytes, (unsigned long long)r->bytes);
    emu_fault("%s %u bytes at %#llx, which is no memory of the kernel's", verb, bytes, (unsigned long long)at);
  }
  for (uint64_t i = at - r->at; i < at - r->at + bytes; i++) touch(r->cells[i], "global memory", i, how);
}

void emu_order(const void *p, int order, int store) {
  const uint64_t at = (uint64_t)p;
  if (order & EMU_ACQUIRE) {
    auto it = published.find(at);
    if (it != published.end()) learn(self->known, it->second);
  }
  if (!store) return;
  if (!(order & EMU_RELEASE)) {
    // A plain store ends what a release before it published; a sum carries it on.
    if (store > 1) published.erase(at);
    return;
  }
  Knowledge mine = self->known;
  learn(mine, self->block->known);
  learn(mine, {{self->block->id, {self->block->epoch, {{self->id, self->time}}}}});
  if (store > 1) published[at] = mine;
  else learn(published[at], mine);
}

void emu_copy_async(void *to, const void *from, unsigned bytes) {
  emu_access(from, bytes, 0);
  emu_access(to, bytes, EMU_WRITE);
  Block &b = *self->block;
  for (unsigned i = 0; i < bytes; i++) b.cells[(unsigned char *)to - b.lds + i].arriving = 1;
  Copy copy = {(unsigned char *)to, bytes, {}};
  memcpy(copy.data, from, bytes);
  self->copies.push_back(copy);
}
void emu_copy_wait(unsigned left) {
  Block &b = *self->block;
  while (self->copies.size() > left) {
    const Copy &c = self->copies.front();
    memcpy(c.to, c.data, c.bytes);
    for (unsigned i = 0; i < c.bytes; i++) {
      Cell &cell = b.cells[c.to - b.lds + i];
      cell.arriving = 0;
      cell.write = now(*self);
    }
    self->copies.pop_front();
  }
}
