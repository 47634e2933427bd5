// Starts and ends blocks, and tells their lanes where they are.
#include <string.h>

#include <map>

#include "lanes.h"

namespace emu {
namespace {
constexpr unsigned GUARD = 4096, ALIGN = 1024;
// Behind what the launch asked for: what the kernel declares, as its lanes come to it.
constexpr unsigned MOST_DECLARED = 48 << 10;

bool known_in(const Block &b, const Stamp &s) {
  for (auto &wave : b.waves)
    for (const Lane *lane : wave->lanes)
      if (before(s, *lane)) return true;
  return false;
}

unsigned round_up(unsigned x, unsigned to) { return (x + to - 1) / to * to; }
}  // namespace

bool declared(uint64_t offset, unsigned bytes) { return offset >= task->first_declared && offset + bytes <= task->end_declared; }

void Window::make() {
  const unsigned bytes = task->first_declared + MOST_DECLARED;
  // Memory that was never written must not look like zeros: these bits are NaN in most types.
  room.assign(bytes + ALIGN + 2 * GUARD, 0xff);
  base = room.data() + GUARD;
  base += -(uintptr_t)base % ALIGN;
  // Fresh pages are zeros that cost nothing before they are touched.
  cells.reset((Cell *)calloc(bytes, sizeof(Cell)));
  if (!cells) emu_fault("no memory for a block's memory");
}

void start_blocks(Task &t) { t.first_declared = t.end_declared = round_up(t.launch.shared, ALIGN) + 2 * ALIGN; }

std::unique_ptr<Cluster> start_cluster(Task &t, uint32_t id) {
  auto c = std::make_unique<Cluster>();
  const EmuLaunch &launch = t.launch;
  const unsigned *grid = launch.grid, threads = launch.block[0] * launch.block[1] * launch.block[2];
  const uint32_t first = id * launch.cluster;
  c->task = task = &t;
  c->thing = new_thing();
  for (unsigned rank = 0; rank < launch.cluster; rank++) {
    c->blocks.push_back(std::make_unique<Block>());
    Block &b = *c->blocks.back();
    b.cluster = c.get();
    b.rank = rank;
    const uint32_t at = first + rank;
    // No other block that runs has its number.
    b.id = t.first_block + at;
    b.at[0] = at % grid[0], b.at[1] = at / grid[0] % grid[1], b.at[2] = at / grid[0] / grid[1];
    b.window.make();
    b.living = threads;
    c->living += threads;
    for (unsigned thread = 0; thread < threads; thread++) {
      if (thread % wave_size == 0) b.waves.push_back(std::make_unique<Wave>());
      auto lane = take_lane();
      lane->block = &b;
      lane->thread = thread;
      lane->id = b.id * MOST_THREADS + thread + 1;
      lane->time = lane->group = lane->arrived = lane->waited = 0;
      lane->state = READY;
      lane->known.clear();
      lane->made = {};
      lane->atomic = 0, lane->fenced = false;
      lane->copies.clear();
      lane->shown.clear();
      lane->tensor_used = lane->tensor_ordered = false;
      b.waves.back()->lanes.push_back(lane.get());
      c->lanes.push_back(std::move(lane));
    }
  }
  return c;
}

void end_lane(Lane &lane) {
  Block &b = *lane.block;
  b.living--;
  b.cluster->living--;
  if (lane.arrived > b.cluster->phase) b.cluster->arrived--;
  if (b.living) return;
  no_flights_to(b);
  no_tensor_memory(b);
  for (auto &wave : b.waves) no_products(*wave);
  for (auto &[who, stamp] : b.visits)
    if (!known_in(b, stamp)) emu_fault("block %u ends, and others may still use its memory: nothing orders the two", b.id);
}

void visit(Block &b, const Stamp &s) { b.visits[s.lane] = s; }

void end_cluster(Cluster &cluster) {
  for (auto &lane : cluster.lanes) give_lane(std::move(lane));
}

// As on an H200: the block's rank in its cluster is in an address's bits from here on.
constexpr unsigned RANK_SHIFT = 24;
unsigned offset_of(unsigned address) {
  const unsigned rank = address >> RANK_SHIFT;
  if (rank != self->block->rank) emu_fault("shared address %#x is of block %u of the cluster, and is used as one of block %u's own", address, rank, self->block->rank);
  return address & ((1u << RANK_SHIFT) - 1);
}

Wave &wave_of(const Lane &lane) { return *lane.block->waves[lane.thread / wave_size]; }
}  // namespace emu

using namespace emu;

unsigned emu_thread(void) { return self->thread; }
unsigned emu_thread_at(int axis) {
  const unsigned *size = task->launch.block;
  return axis == 0 ? self->thread % size[0] : axis == 1 ? self->thread / size[0] % size[1] : self->thread / size[0] / size[1];
}
unsigned emu_size(int axis) { return task->launch.block[axis]; }
unsigned emu_block(int axis) { return self->block->at[axis]; }
unsigned emu_grid(int axis) { return task->launch.grid[axis]; }
unsigned emu_rank(void) { return self->block->rank; }

unsigned char *emu_lds(void) { return self->block->window.base + task->lds_start; }
// At a multiple of `align` and of no more, as far as it can be seen: what needs more must say so.
unsigned char *emu_lds_at(unsigned align) {
  if (!task->lds_start) task->lds_start = align > ALIGN ? ALIGN : align;
  if (task->lds_start % align) emu_fault("the block's memory is declared at %u bytes, and before at %u", align, task->lds_start);
  return emu_lds();
}
unsigned char *emu_lds_static(const void *key, unsigned bytes, unsigned align) {
  auto it = task->declarations.find(key);
  if (it == task->declarations.end()) {
    it = task->declarations.emplace(key, round_up(task->end_declared, align)).first;
    task->end_declared = it->second + bytes;
    if (task->end_declared > task->first_declared + MOST_DECLARED)
      emu_fault("the kernel declares %u bytes of the block's memory, of %u at most", task->end_declared - task->first_declared, MOST_DECLARED);
  }
  return self->block->window.base + it->second;
}
unsigned emu_address(const void *p) {
  const Window &w = self->block->window;
  if (!w.has((uint64_t)p)) emu_fault("an address that is not of the block's memory is taken for one");
  return (unsigned char *)p - w.base + (self->block->rank << RANK_SHIFT);
}
unsigned char *emu_pointer(unsigned address) {
  const Window &w = self->block->window;
  unsigned char *p = w.base + offset_of(address);
  if (!w.has((uint64_t)p)) emu_fault("a shared address of %u, which is beyond the block's memory", address);
  return p;
}
