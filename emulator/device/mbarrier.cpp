// Barriers in shared memory that count arrivals and bytes (PTX ISA, "mbarrier").
//
// The memory of one is touched as a barrier's alone, so that who uses it without knowing of its
// making races with that. What stays in its 8 bytes says nothing.
#include <stdio.h>

#include "../schedule/lanes.h"

namespace emu {
namespace {
constexpr long long MOST = (1 << 20) - 1;  // arrivals, and bytes

// Begins the next phase if this one is over; returns whether it was.
void settle(Mbarrier &m) {
  if (m.missing) return;
  if (m.bytes < 0)
    emu_fault("%lld bytes more than were expected have come when the last arrival of a phase did", -m.bytes);
  if (m.bytes) return;
  m.phase++;
  m.missing = m.count;
  m.known.learn(m.arriving);
  m.known.learn_lane({m.thing, 0, m.phase});
  m.arriving.clear();
}
}  // namespace

Mbarrier &mbarrier_at(Block &b, unsigned at, bool far) {
  need_aligned(at, 8, 0);
  auto it = b.mbarriers.find(at);
  if (it == b.mbarriers.end()) emu_fault("the barrier at byte %u of block %u's memory was never made", at - task->lds_start, b.id);
  Mbarrier &m = it->second;
  if (self) {
    self->time++;
    touch_shared(b, at, 8, EMU_ATOMIC | AS_BARRIER, now(*self));
  }
  if (far && m.maker) emu_fault("the barrier at byte %u is used by another block or a copy without a fence after its making", at - task->lds_start);
  return m;
}

void count_bytes(Mbarrier &m, unsigned bytes) {
  m.bytes -= bytes;
  if (m.bytes < -MOST) emu_fault("a barrier counts %lld bytes, %lld at most", m.bytes, MOST);
  settle(m);
}

void arrive_as(Mbarrier &m, const Stamp &done) {
  if (!m.missing) emu_fault("a commit arrives at a barrier of %u arrivals once more than that in a phase", m.count);
  m.missing--;
  m.arriving.learn_lane(done);
  settle(m);
}

std::string describe(const Mbarrier &m) {
  char text[120];
  snprintf(text, sizeof text, "phase %u of a barrier, which %u arrivals of %u and %lld bytes are missing from", m.phase, m.missing, m.count, m.bytes);
  return text;
}
}  // namespace emu

using namespace emu;

void emu_mbarrier_init(unsigned address, int count) {
  const unsigned at = offset_of(address);
  need_aligned(at, 8, EMU_WRITE);
  if (count < 1 || count > MOST) emu_fault("a barrier of %d arrivals", count);
  Block &b = *self->block;
  self->time++;
  if (b.mbarriers.count(at)) emu_fault("the barrier at byte %u is made again", at - task->lds_start);
  touch_shared(b, at, 8, EMU_WRITE, now(*self));
  for (unsigned i = 0; i < 8; i++) b.window.cells.get()[at + i].is |= COUNTING;
  Mbarrier &m = b.mbarriers[at];
  m.thing = new_thing();
  m.count = m.missing = count;
  m.maker = self->id;
}
void emu_mbarrier_made(void) {
  for (auto &[at, m] : self->block->mbarriers)
    if (m.maker == self->id) m.maker = 0, self->made = now(*self);
}

void emu_mbarrier_arrive(unsigned at, unsigned rank, int bytes) {
  Block &b = block_of_rank(rank);
  Mbarrier &m = mbarrier_at(b, offset_of(at), &b != self->block);
  if (&b != self->block) visit(b, now(*self));
  if (bytes < 0) emu_fault("a barrier expects %d bytes", bytes);
  m.bytes += bytes;
  if (m.bytes > MOST) emu_fault("a barrier counts %lld bytes, %lld at most", m.bytes, MOST);
  if (!m.missing) emu_fault("arrives at a barrier of %u arrivals once more than that in a phase", m.count);
  sync_tensor(*self);
  m.missing--;
  m.arriving.learn(known_to(*self));
  settle(m);
}

void emu_mbarrier_wait(unsigned at, int parity) {
  Mbarrier &m = mbarrier_at(*self->block, offset_of(at), false);
  if (parity & ~1) emu_fault("waits for a phase of parity %d", parity);
  self->phase_of = &m;
  self->parity = parity;
  while (!m.over(parity)) wait_as(AT_PHASE, "a barrier's phase");
  self->known.learn(m.known);
  self->tensor_ordered = false;
}
