// Copies to shared memory. A lane waits for its own copies by groups. A barrier in shared memory is
// told of bulk copies, of boxes too (tensor.cpp), and of stores to another block's memory: the
// scheduler says when each comes, nobody may touch the place before, and who does then must have
// waited for the barrier's phase.
#include <string.h>

#include "../schedule/lanes.h"

namespace emu {
namespace {
struct Flight {
  Block *to;
  unsigned at;
  Block *told;
  unsigned barrier;
  std::vector<unsigned char> data;
  std::function<void()> work;  // instead of a copy
  bool after = false;          // asked for once the launch before was over
};
std::vector<Flight> flights;
}  // namespace

void send(Block &to, unsigned at, Block &told, unsigned barrier, std::vector<unsigned char> data) {
  mbarrier_at(told, barrier, true);
  touch_shared(to, at, data.size(), EMU_WRITE, now(*self));
  for (unsigned i = 0; i < data.size(); i++) to.window.cells.get()[at + i].is |= ARRIVING;
  flights.push_back({&to, at, &told, barrier, std::move(data), nullptr, before({BEFORE, 0, 1}, *self)});
}
void send_to_all(unsigned ranks, unsigned at, int told, unsigned barrier, const std::vector<unsigned char> &data) {
  const unsigned blocks = self->block->cluster->blocks.size();
  if (!ranks || ranks >> blocks) emu_fault("a bulk copy to blocks %#x of a cluster of %u", ranks, blocks);
  for (unsigned rank = 0; ranks >> rank; rank++)
    if (ranks >> rank & 1) send(block_of_rank(rank), at, block_of_rank(told == EACH ? rank : told), barrier, data);
}
void fly(Block &one, Block &other, std::function<void()> work) { flights.push_back({&one, 0, &other, 0, {}, std::move(work), false}); }

bool deliver() {
  if (flights.empty()) return false;
  std::swap(flights[draw(flights.size())], flights.back());
  const Flight f = std::move(flights.back());
  flights.pop_back();
  if (f.work) {
    f.work();
    return true;
  }
  Mbarrier &m = mbarrier_at(*f.told, f.barrier, true);
  memcpy(f.to->window.base + f.at, f.data.data(), f.data.size());
  for (unsigned i = 0; i < f.data.size(); i++) {
    Cell &c = f.to->window.cells.get()[f.at + i];
    c.is = WRITTEN;
    c.write = {m.thing, 0, m.phase + 1};
  }
  visit(*f.to, {m.thing, 0, m.phase + 1});
  // Who waits for its bytes comes after that too, in whichever block it was asked for.
  if (f.after) m.arriving.learn_lane({BEFORE, 0, 1});
  count_bytes(m, f.data.size());
  return true;
}
bool in_flight() { return !flights.empty(); }
void drop_flights() { flights.clear(); }

void no_flights_to(const Block &b) {
  for (const Flight &f : flights)
    if (f.to == &b || f.told == &b) emu_fault("block %u ends while copies to its memory are under way", b.id);
}
}  // namespace emu

using namespace emu;

void emu_copy_bulk(unsigned to, const void *from, int bytes, unsigned barrier, unsigned ranks) {
  need_aligned(to, 16, EMU_WRITE);
  need_aligned((uint64_t)from, 16, 0);
  if (bytes < 0 || bytes % 16) emu_fault("a bulk copy of %d bytes, which is no multiple of 16", bytes);
  self->time++;
  touch_global(from, bytes, 0, now(*self));
  send_to_all(ranks, offset_of(to), EACH, offset_of(barrier), {(const unsigned char *)from, (const unsigned char *)from + bytes});
}

void emu_store_async(unsigned to, unsigned barrier, unsigned rank, const void *from, unsigned bytes) {
  need_aligned(to, bytes, EMU_WRITE);
  self->time++;
  send(block_of_rank(rank), offset_of(to), block_of_rank(rank), offset_of(barrier), {(const unsigned char *)from, (const unsigned char *)from + bytes});
}

void emu_copy_async(void *to, const void *from, unsigned bytes) {
  Copy copy = {(unsigned char *)to, bytes, self->group, {}};
  if (from) {
    emu_access(from, bytes, 0);
    memcpy(copy.data, from, bytes);
  }
  emu_access(to, bytes, EMU_WRITE);
  const Window &w = self->block->window;
  if (!w.has((uint64_t)to)) emu_fault("a copy to the block's memory goes elsewhere");
  for (unsigned i = 0; i < bytes; i++) w.cells.get()[copy.to - w.base + i].is |= ARRIVING;
  self->copies.push_back(copy);
}
void emu_copy_commit(void) { self->group++; }
void emu_copy_wait(unsigned left) {
  const Window &w = self->block->window;
  self->time++;  // they come now, after what the lane did before
  while (!self->copies.empty() && self->copies.front().group + left < self->group) {
    const Copy &c = self->copies.front();
    memcpy(c.to, c.data, c.bytes);
    for (unsigned i = 0; i < c.bytes; i++) {
      Cell &cell = w.cells.get()[c.to - w.base + i];
      cell.is &= ~ARRIVING;
      cell.write = now(*self);
    }
    self->copies.pop_front();
  }
}
