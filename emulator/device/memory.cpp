// Checks accesses to memory: bounds, alignment, unwritten values, and races.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "../schedule/lanes.h"

namespace emu {
namespace {
struct Region {
  uint64_t at, bytes;
  Cell *cells;
  bool sealed;
};
std::map<uint64_t, Region> regions;  // global memory, by its start
const Region *recent;

const char *verb(int how) { return how & EMU_WRITE ? "writes" : "reads"; }

[[noreturn]] void race(const char *place, uint64_t offset, const Stamp &s, const char *then, int how) {
  if (s.lane & THING)
    emu_fault("a race in %s at byte %llu: a copy or a product %s it, this one %s it, and nothing orders them",
              place, (unsigned long long)offset, then, verb(how));
  emu_fault("a race in %s at byte %llu: thread %u of block %u %s it, this one %s it, and nothing orders them",
            place, (unsigned long long)offset, (s.lane - 1) % MOST_THREADS, (s.lane - 1) / MOST_THREADS, then,
            verb(how));
}

// The first touch in this launch.
void renew(Cell &c, const char *place, uint64_t offset, int how) {
  if (task->launch.overlap && c.launch == launches - 1 && (c.write.lane || (how & EMU_WRITE && c.reads[0].lane)) &&
      !before({BEFORE, 0, 1}, *self))
    emu_fault("%s byte %llu of %s, which the launch before %s, without waiting for its end", verb(how),
              (unsigned long long)offset, place, c.write.lane ? "wrote" : "read");
  c = {};
  c.launch = launches;
}

// Looks at `count` bytes and leaves `mine` there. Neighbours were mostly touched alike, so what
// was found of one is taken for the next.
void touch(Cell *c, unsigned count, const char *place, uint64_t offset, int how, const Stamp &mine) {
  Stamp write, reads[2];  // that happened before
  Stamp apart;            // a read that nothing orders before this one
  const bool atomic = how & EMU_ATOMIC;
  for (; count; count--, c++, offset++) {
    if (c->launch != launches) renew(*c, place, offset, how);
    if (c->is & ARRIVING)
      emu_fault("byte %llu of %s is used while a copy to it is under way", (unsigned long long)offset, place);
    if (!(how & AS_BARRIER) != !(c->is & COUNTING))
      emu_fault(how & AS_BARRIER ? "byte %llu of %s is used as a barrier, which it is not"
                                 : "byte %llu of %s, which is a barrier's, is used as memory",
                (unsigned long long)offset, place);
    if (how & EMU_CONSTANT && c->write.lane)
      emu_fault("reads byte %llu of %s as what no kernel at work writes, and this one wrote it",
                (unsigned long long)offset, place);
    // Atomics do not race with one another.
    if (!(atomic && c->is & BY_ATOMIC) && !(c->write == write)) {
      if (!before(c->write, *self)) race(place, offset, c->write, c->is & BY_ATOMIC ? "changed" : "wrote", how);
      write = c->write;
    }
    if (how & EMU_WRITE) {
      for (int i = 0; i < 2; i++)
        if (!(c->reads[i] == reads[i])) {
          if (!before(c->reads[i], *self)) race(place, offset, c->reads[i], "read", how);
          reads[i] = c->reads[i];
        }
      c->write = mine;
      c->is = (c->is & ~BY_ATOMIC) | (atomic ? BY_ATOMIC : 0) | PLAIN;
      c->reads[0] = c->reads[1] = {};
    } else if (!atomic) {
      // Of readers that nothing orders, two are kept.
      if (c->reads[0] == apart) {
        c->reads[1] = apart;
      } else if (!(c->reads[0] == reads[0])) {
        if (before(c->reads[0], *self)) reads[0] = c->reads[0];
        else c->reads[1] = apart = c->reads[0];
      }
      c->reads[0] = mine;
    }
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

const char *memory_of(const Block &b) {
  static char text[40];
  snprintf(text, sizeof text, "block %u's memory", b.id);
  return text;
}
}  // namespace

// Returns whether the lane that wrote to `b` at `s` fenced its proxies since, and this lane knows.
bool shown(const Block &b, const Stamp &s) {
  if (s.lane == 0 || s.lane & THING || (s.lane - 1) / MOST_THREADS != b.id) return false;
  const unsigned thread = (s.lane - 1) % MOST_THREADS;
  const std::vector<Stamp> &fences = b.waves[thread / wave_size]->lanes[thread % wave_size]->shown;
  // The first that came after: whoever knows of a later one knows of it.
  auto it = std::lower_bound(fences.begin(), fences.end(), s.time, [](const Stamp &f, uint32_t time) { return f.time < time; });
  return it != fences.end() && before(*it, *self);
}

void need_aligned(uint64_t at, unsigned bytes, int how) {
  if (at % bytes) emu_fault("%s %u bytes at an address that is no multiple of it", verb(how), bytes);
}

void touch_shared(Block &b, uint64_t offset, unsigned bytes, int how, const Stamp &mine) {
  const bool own = declared(offset, bytes);
  const char *place = &b != self->block ? memory_of(b) : own ? "the kernel's shared variables" : "the block's memory";
  if (!b.living) emu_fault("%s %s, and that block has ended", verb(how), place);
  const long long at = (long long)offset - (own ? task->first_declared : task->lds_start);
  if (!own && (at < 0 || at + bytes > task->launch.shared))
    emu_fault("%s bytes %lld to %lld of the block's %u bytes of memory", verb(how), at, at + bytes, task->launch.shared);
  Cell *cells = b.window.cells.get() + offset;
  touch(cells, bytes, place, at, how, mine);
  for (unsigned i = 0; i < bytes; i++) {
    if (how & EMU_WRITE) cells[i].is |= WRITTEN;
    else if (!(how & (EMU_UNWRITTEN | AS_BARRIER) || cells[i].is & WRITTEN))
      emu_fault("reads byte %llu of %s, which nobody wrote", (unsigned long long)(at + i), place);
    else if (how & AS_TENSOR && cells[i].is & PLAIN && !shown(b, cells[i].write))
      emu_fault("byte %llu of %s, written by a plain store or copy, is read by a product without a fence of proxies",
                (unsigned long long)(at + i), place);
  }
}

void touch_global(const void *p, unsigned bytes, int how, const Stamp &mine) {
  const uint64_t at = (uint64_t)p;
  const Region *r = region_of(at);
  if (!r || at + bytes > r->at + r->bytes) {
    if (r) emu_fault("%s %u bytes across the end of global memory of %llu bytes", verb(how), bytes, (unsigned long long)r->bytes);
    emu_fault("%s %u bytes at %#llx, which is no memory of the kernel's", verb(how), bytes, (unsigned long long)at);
  }
  if (r->sealed && how & EMU_WRITE)
    emu_fault("writes %u bytes to global memory that is read-only, at byte %llu", bytes, (unsigned long long)(at - r->at));
  touch(r->cells + (at - r->at), bytes, "global memory", at - r->at, how, mine);
}
}  // namespace emu

using namespace emu;

void emu_allow(uint64_t at, uint64_t bytes) {
  // Pages that nobody touches cost nothing.
  void *cells = mmap(nullptr, (bytes + 1) * sizeof(Cell), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (cells == MAP_FAILED) cells = nullptr;
  regions[at] = {at, bytes, (Cell *)cells, false};
  recent = nullptr;
}
void emu_seal(uint64_t at) { regions.at(at).sealed = true; }
void emu_forbid(uint64_t at) {
  auto it = regions.find(at);
  if (it == regions.end()) return;
  if (it->second.cells) munmap(it->second.cells, (it->second.bytes + 1) * sizeof(Cell));
  regions.erase(it);
  recent = nullptr;
}

void emu_show_products(void) {
  self->time++;
  self->shown.push_back(now(*self));
}

void emu_access(const void *p, unsigned bytes, int how) {
  if (!self) return;
  const uint64_t at = (uint64_t)p, stack = (uint64_t)self->stack;
  if (at - stack < STACK) return;
  if (bytes <= 16) need_aligned(at, bytes, how);
  self->time++;
  Block &b = *self->block;
  if (b.window.has(at)) touch_shared(b, at - (uint64_t)b.window.base, bytes, how, now(*self));
  else touch_global(p, bytes, how, now(*self));
}
