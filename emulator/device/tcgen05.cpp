// Tensor memory and asynchronous products of tcgen05 (PTX ISA, "tcgen05"): E2M1 by E2M1 with scales
// of blocks of 16, of one block or of a pair of blocks. Copies to tensor memory and products are made
// when their commit arrives, in the order of their issue, from the memory as it is then.
//
// PTX's text was not found to say two things that published kernels rely on: in a pair, a copy to
// tensor memory reads each block's own shared memory, and both are allocated the same columns.
#include <string.h>

#include <functional>

#include "../schedule/lanes.h"

namespace emu {
namespace {
constexpr unsigned LANES = 128, WIDTH = 512, ROWS = 128, DEPTH = 64;
typedef std::function<void()> Work;

// What a thread has committed.
struct Group {
  std::vector<Work> work;
  std::vector<Block *> told;
  unsigned barrier;
  Stamp done;
  Knowledge before;  // copies that its products have read from
};
// What a thread issues, in order.
struct Pipe {
  uint32_t thing = new_thing(), group = 1;
  std::vector<Work> issued;
  std::deque<Group> committed;
};
// In the argument of a meeting, where lanes must agree: where its address goes or is, and its size.
struct Allocation {
  unsigned at, columns, pair;
  explicit Allocation(uint64_t x) : at(x), columns(x >> 32 & 0xffff), pair(x >> 48) {}
  static uint64_t pack(unsigned at, unsigned columns, int pair) { return at | (uint64_t)(columns & 0xffff) << 32 | (uint64_t)pair << 48; }
};
}  // namespace

struct TensorMemory {
  unsigned cells[LANES][WIDTH];
  Cell marks[4][WIDTH];  // a warp has a quarter of the lanes
  unsigned base = 0, columns = 0;
  bool pair = false;
  std::map<uint32_t, Pipe> pipes;
  unsigned &at(unsigned address, unsigned lane, unsigned column) {
    const unsigned l = (address >> 16) + lane, c = (address & 0xffff) + column;
    if (l >= LANES || c < base || c >= base + columns)
      emu_fault("tensor memory at lane %u, column %u: columns %u to %u are allocated", l, c, base, base + columns);
    return cells[l][c];
  }
};

namespace {
// The blocks that an operation is about: that of the lane, or both of its pair, the even one first.
std::vector<Block *> blocks_of(int pair) {
  if (!pair) return {self->block};
  const unsigned even = self->block->rank & ~1u;
  return {&block_of_rank(even), &block_of_rank(even + 1)};
}

TensorMemory &tensor_of(const Block &b, int pair) {
  if (!b.tensor || !b.tensor->columns) emu_fault("tensor memory of block %u is used, and none is allocated", b.id);
  if (b.tensor->pair != !!pair) emu_fault("tensor memory that was allocated for %s is used for %s", pair ? "one block" : "a pair", pair ? "a pair" : "one block");
  return *b.tensor;
}

void need_order(const Lane &lane) {
  if (!lane.tensor_ordered) emu_fault("tensor memory is used without tcgen05.fence::after_thread_sync since the barrier before");
}

// The lane, or its pipe where `mine` is a thing's stamp, accesses a column of a quarter of the lanes.
// What `own` wrote is in order before that, and with `in_order` what it read.
void mark(TensorMemory &t, unsigned quarter, unsigned column, bool write, const Stamp &mine, bool in_order) {
  t.at(quarter * 32 << 16, 0, column);
  Cell &c = t.marks[quarter][column];
  const uint32_t own = mine.lane & THING ? mine.lane : 0;
  auto need = [&](const Stamp &s, bool ordered, const char *then) {
    if (!(ordered && own && s.lane == own) && !before(s, *self))
      emu_fault("a race in tensor memory at column %u: it was %s before, and nothing orders that and this", column - t.base, then);
  };
  need(c.write, true, "written");
  if (!write) {
    if (c.reads[0].lane && !(c.reads[0] == mine)) c.reads[1] = c.reads[0];
    c.reads[0] = mine;
    return;
  }
  for (Stamp &s : c.reads) need(s, in_order, "read"), s = {};
  c.write = mine;
}
void mark_all(TensorMemory &t, unsigned address, unsigned columns, bool write, const Stamp &mine, bool in_order) {
  for (unsigned quarter = 0; quarter < 4; quarter++)
    for (unsigned i = 0; i < columns; i++) mark(t, quarter, (address & 0xffff) + i, write, mine, in_order);
}

void allocate(Wave &w, uint64_t argument) {
  const Allocation a(argument);
  if (a.columns < 32 || a.columns > WIDTH || a.columns & (a.columns - 1)) emu_fault("allocates %u columns of tensor memory", a.columns);
  Block &b = *self->block;
  if (!b.tensor) b.tensor = std::make_shared<TensorMemory>();
  TensorMemory &t = *b.tensor;
  if (t.columns) emu_fault("allocates tensor memory twice");
  memset(t.cells, 0xff, sizeof t.cells);
  // Other blocks of the multiprocessor may have the first columns.
  t.base = draw(WIDTH / a.columns) * a.columns;
  for (Block *other : blocks_of(a.pair))
    if (other->tensor && other->tensor->columns) t.base = other->tensor->base;
  t.columns = a.columns, t.pair = a.pair;
  self->time++;
  touch_shared(b, a.at, 4, EMU_WRITE, now(*self));
  memcpy(b.window.base + a.at, &t.base, 4);
  for (Lane *lane : w.lanes) lane->tensor_used = true;
}
void free_all(Wave &w, uint64_t argument) {
  const Allocation a(argument);
  TensorMemory &t = tensor_of(*self->block, a.pair);
  for (Lane *lane : w.lanes) need_order(*lane);
  if (a.at != t.base || a.columns != t.columns) emu_fault("frees %u columns of tensor memory at %u, and %u at %u are allocated", a.columns, a.at, t.columns, t.base);
  self->time++;
  mark_all(t, t.base, t.columns, true, now(*self), false);
  t.columns = 0;
}
void together(Wave &, uint64_t) {}

unsigned field(uint64_t x, int from, int bits) { return x >> from & ((1ull << bits) - 1); }

// Where the 16 bytes of half `half` of a row's 64 elements are: K innermost, 128-byte swizzle.
unsigned chunk_of(uint64_t d, unsigned row, unsigned half) {
  const unsigned at = (field(d, 0, 14) << 4) + row / 8 * (field(d, 32, 14) << 4) + row % 8 * 128 + half * 16;
  return at ^ (at >> 7 & 7) << 4;
}
float element(const Block &b, uint64_t d, unsigned row, unsigned k) {
  static const float e2m1[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  const unsigned code = b.window.base[chunk_of(d, row, k / 32) + k % 32 / 2] >> k % 2 * 4 & 15;
  return code & 8 ? -e2m1[code & 7] : e2m1[code];
}
// Row r's scales are in lane r % 32 of each quarter, column r / 32.
float scale(TensorMemory &t, unsigned address, unsigned row, unsigned block) {
  const unsigned code = t.at(address, row % 32, row / 32) >> 8 * block & 0x7f;
  if (code == 0x7f) return __builtin_nanf("");
  return code < 8 ? code / 512.f : (8 + code % 8) / 1024.f * (1 << (code >> 3));
}

void multiply(const std::vector<Block *> &blocks, const EmuTensorProduct &p, unsigned cols) {
  static float x[ROWS][DEPTH], y[256][DEPTH];
  const unsigned each = cols / blocks.size();
  for (Block *b : blocks) {
    TensorMemory &t = *b->tensor;
    for (unsigned r = 0; r < ROWS; r++)
      for (unsigned k = 0; k < DEPTH; k++) x[r][k] = element(*b, p.a, r, k) * scale(t, p.scales_a, r, k / 16);
    // A block of a pair has half of the second operand's rows, and the scales of all.
    for (unsigned c = 0; c < cols; c++)
      for (unsigned k = 0; k < DEPTH; k++) y[c][k] = element(*blocks[c / each], p.b, c % each, k) * scale(t, p.scales_b, c, k / 16);
    for (unsigned r = 0; r < ROWS; r++)
      for (unsigned c = 0; c < cols; c++) {
        float sum = 0;
        if (p.add) memcpy(&sum, &t.at(p.sums, r, c), 4);
        for (unsigned k = 0; k < DEPTH; k++) sum += x[r][k] * y[c][k];
        memcpy(&t.at(p.sums, r, c), &sum, 4);
      }
  }
}

Pipe &pipe_of(int pair) { return tensor_of(*self->block, pair).pipes[self->id]; }

// The first group of `pipe` is done.
void finish(Pipe &pipe) {
  const Group g = std::move(pipe.committed.front());
  pipe.committed.pop_front();
  for (const Work &work : g.work) work();
  for (Block *b : g.told) {
    if (!b->living) emu_fault("products tell the barrier of block %u, which has ended", b->id);
    Mbarrier &m = mbarrier_at(*b, g.barrier, true);
    m.arriving.learn(g.before);
    visit(*b, g.done);
    arrive_as(m, g.done);
  }
}
}  // namespace

void no_tensor_memory(const Block &b) {
  if (b.tensor && b.tensor->columns) emu_fault("block %u ends, and its tensor memory is under way to nobody: it was not freed", b.id);
}
void sync_tensor(Lane &lane) {
  if (lane.tensor_used) emu_fault("arrives at a barrier without tcgen05.fence::before_thread_sync since tensor memory was used");
}
}  // namespace emu

using namespace emu;

void emu_tensor_alloc(unsigned slot, unsigned columns, int pair) {
  meet("tcgen05.alloc", allocate, Allocation::pack(offset_of(slot), columns, pair));
}
void emu_tensor_free(unsigned base, unsigned columns, int pair) {
  meet("tcgen05.dealloc", free_all, Allocation::pack(base, columns, pair));
}
void emu_tensor_fence(int after) { (after ? self->tensor_ordered : self->tensor_used) = after; }

void emu_tensor_copy(unsigned to, uint64_t from, int pair) {
  need_order(*self);
  if (field(from, 46, 3) != 1 || field(from, 49, 15) || field(from, 14, 2)) emu_fault("scales described by %#llx: only those without a swizzle are emulated", (unsigned long long)from);
  Pipe &pipe = pipe_of(pair);
  const Stamp mine = {pipe.thing, 0, pipe.group};
  const unsigned start = field(from, 0, 14) << 4, stride = field(from, 32, 14) << 4;
  self->time++;
  for (Block *b : blocks_of(pair)) {
    for (unsigned i = 0; i < 4; i++) touch_shared(*b, start + i * stride, 128, AS_TENSOR, mine);
    mark_all(tensor_of(*b, pair), to, 4, true, mine, false);
    pipe.issued.push_back([=] {
      for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned j = 0; j < 4; j++)
          memcpy(&b->tensor->at(to, lane, j), b->window.base + start + lane % 32 / 8 * stride + lane % 8 * 16 + 4 * j, 4);
    });
  }
}

void emu_tensor_multiply(const EmuTensorProduct *product) {
  need_order(*self);
  const EmuTensorProduct p = *product;
  for (uint64_t d : {p.a, p.b})
    if (field(d, 46, 3) != 1 || field(d, 49, 12) || field(d, 61, 3) != 2 || field(d, 0, 14) & 0x38)
      emu_fault("a matrix described by %#llx: only the 128-byte swizzle without a base offset is emulated", (unsigned long long)d);
  const unsigned i = p.instruction, cols = field(i, 17, 6) * 8, rows = field(i, 27, 2) * 128;
  if (field(i, 7, 3) != 1 || field(i, 10, 3) != 1 || field(i, 0, 7) || field(i, 13, 4) || field(i, 23, 4) || field(i, 29, 3))
    emu_fault("a product described by %#x: only E2M1 with UE4M3 scales is emulated", i);
  const std::vector<Block *> blocks = blocks_of(p.pair);
  if (rows != ROWS * blocks.size() || cols > 256 || !cols || cols % (16 * blocks.size()))
    emu_fault("a product of %u rows and %u columns by %u blocks", rows, cols, (unsigned)blocks.size());
  if (p.scales_a % 2 || p.scales_b % 2) emu_fault("scales of a product at an odd column");
  Pipe &pipe = pipe_of(p.pair);
  const Stamp mine = {pipe.thing, 0, pipe.group};
  self->time++;
  for (Block *b : blocks) {
    TensorMemory &t = tensor_of(*b, p.pair);
    for (unsigned half = 0; half < 2; half++) {
      for (unsigned r = 0; r < ROWS; r++) touch_shared(*b, chunk_of(p.a, r, half), 16, AS_TENSOR | EMU_UNWRITTEN, mine);
      for (unsigned c = 0; c < cols / blocks.size(); c++) touch_shared(*b, chunk_of(p.b, c, half), 16, AS_TENSOR | EMU_UNWRITTEN, mine);
    }
    mark_all(t, p.scales_a, 4, false, mine, true);
    mark_all(t, p.scales_b, (cols + 31) / 32, false, mine, true);
    mark_all(t, p.sums, cols, true, mine, true);
  }
  pipe.issued.push_back([=] { multiply(blocks, p, cols); });
}

void emu_tensor_commit(unsigned barrier, unsigned ranks, int pair) {
  Pipe &pipe = pipe_of(pair);
  Group g;
  g.work.swap(pipe.issued);
  g.barrier = offset_of(barrier);
  for (unsigned rank = 0; ranks >> rank; rank++)
    if (ranks >> rank & 1) g.told.push_back(&block_of_rank(rank));
  for (Block *b : g.told) mbarrier_at(*b, g.barrier, true);
  g.done = {pipe.thing, 0, pipe.group++};
  g.before.learn_things(known_to(*self));
  pipe.committed.push_back(std::move(g));
  const std::vector<Block *> used = blocks_of(pair);
  fly(*used.front(), *used.back(), [&pipe] { finish(pipe); });
}

void emu_tensor_load(float *d, unsigned from, unsigned columns) {
  meet("tcgen05.ld", together, from);
  need_order(*self);
  TensorMemory &t = tensor_of(*self->block, self->block->tensor && self->block->tensor->pair);
  const unsigned quarter = self->thread / 32 % 4;
  if (from >> 16 != quarter * 32) emu_fault("warp %u loads lane %u of tensor memory, and has those from %u on", self->thread / 32, from >> 16, quarter * 32);
  self->tensor_used = true;
  self->time++;
  for (unsigned i = 0; i < columns; i++) {
    mark(t, quarter, (from & 0xffff) + i, false, now(*self), false);
    memcpy(d + i, &t.at(from, self->thread % 32, i), 4);
  }
}
