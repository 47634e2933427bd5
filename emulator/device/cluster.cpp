// The barrier of a cluster's blocks, which one arrives at before one waits, and plain stores to
// their memory.
#include <string.h>

#include "../schedule/lanes.h"

namespace emu {
namespace {
// All that the wave did and knows is known to who waits: nobody can before all its lanes came. Where
// it does not release, that is the making of barriers that were fenced (and, more than on a GPU, what
// their maker did before).
void arrive(Wave &w, uint64_t order) {
  Cluster &c = *self->block->cluster;
  if (order & EMU_RELEASE) {
    c.arriving.learn(self->block->known);
    c.arriving.learn(w.known);
    c.arriving.learn_wave(wave_number(self->id), ++w.epoch);
  }
  for (Lane *lane : w.lanes) {
    if (lane->state == DONE) continue;
    if (lane->arrived != lane->waited) emu_fault("arrives at the cluster's barrier again without having waited");
    lane->arrived++;
    c.arrived++;
    if (order & EMU_RELEASE) c.arriving.learn(lane->known);
    else if (lane->made.lane) c.arriving.learn_lane(lane->made);
  }
}
void start_to_wait(Wave &w, uint64_t) {
  for (Lane *lane : w.lanes)
    if (lane->state != DONE && lane->arrived == lane->waited)
      emu_fault("waits at the cluster's barrier without having arrived");
}
}  // namespace

bool release(Cluster &c) {
  if (!c.arrived || c.arrived < c.living) return false;
  c.arrived = 0;
  c.phase++;
  c.known.learn(c.arriving);
  c.arriving.clear();
  return true;
}

Block &block_of_rank(unsigned rank) {
  Cluster &c = *self->block->cluster;
  if (rank >= c.blocks.size()) emu_fault("block %u of a cluster of %u", rank, (unsigned)c.blocks.size());
  Block &b = *c.blocks[rank];
  if (!b.living) emu_fault("block %u's memory is used, and that block has ended", b.id);
  return b;
}

void need_started(const Block &b) {
  if (&b != self->block && !before({b.cluster->thing, 0, 1}, *self))
    emu_fault("block %u's memory is used before it is known to have started", b.id);
}
}  // namespace emu

using namespace emu;

void emu_cluster_arrive(int order) {
  sync_tensor(*self);
  meet(order & EMU_RELEASE ? "barrier.cluster.arrive" : "barrier.cluster.arrive.relaxed", arrive, order);
}
void emu_cluster_wait(void) {
  meet("barrier.cluster.wait", start_to_wait, 0);
  Cluster &c = *self->block->cluster;
  while (c.phase < self->arrived) wait_as(AT_CLUSTER, "the cluster's barrier");
  self->waited = self->arrived;
  self->tensor_ordered = false;
  self->known.learn(c.known);
  // Whoever came has started.
  self->known.learn_lane({c.thing, 0, 1});
}

void emu_store_far(unsigned address, unsigned rank, const void *from, unsigned bytes) {
  const unsigned to = offset_of(address);
  need_aligned(to, bytes, EMU_WRITE);
  Block &b = block_of_rank(rank);
  need_started(b);
  self->time++;
  touch_shared(b, to, bytes, EMU_WRITE, now(*self));
  visit(b, now(*self));
  memcpy(b.window.base + to, from, bytes);
}
