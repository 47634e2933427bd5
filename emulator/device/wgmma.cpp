// Asynchronous products of a warpgroup on NVIDIA's tensor cores (PTX ISA, "wgmma.mma_async").
//
// A wave's 16 rows are its own business, so that warpgroups need not be seen together. Products
// are made when their group is waited for: from the registers and the memory as they are then.
// Until then the sums' registers hold NaN, and what overwrites the memory races with the product.
#include <string.h>

#include "../api/floats.h"
#include "../schedule/lanes.h"

namespace emu {
namespace {
constexpr unsigned POISON = 0x7fffdead;

// The sums of a wave that products under way add to.
struct Sums {
  float *at[32];
  unsigned cols, under_way = 0;
  std::vector<float> values[32];
};
struct Product {
  std::shared_ptr<Sums> sums;
  const unsigned *a[32];  // registers, or none
  // Offsets of the chunks of 16 bytes: by rows of the wave, and by columns of the product. Of an operand
  // that is stored by rows of K: by eights of these, each of 16 rows of K.
  unsigned left[16][2], right[8 * 32][2];
  int type;
  bool first, left_by_rows, by_rows;
  uint32_t group;
};
// A lane's operands.
struct Part {
  float *sums;
  EmuFactor a;
  unsigned cols;
  int by_rows;
};
}  // namespace

struct Products {
  uint32_t thing = new_thing(), group = 1;  // that is being filled
  bool fenced = false;
  std::deque<Product> all;
};

namespace {
Products &products_of(Wave &w) {
  if (!w.products) w.products = std::make_shared<Products>();
  return *w.products;
}

constexpr uint64_t RESERVED = 0x3ffull << 52 | 7ull << 46 | 3ull << 30 | 3ull << 14;

unsigned start_of(uint64_t described) {
  const unsigned start = (described & 0x3fff) << 4;
  if (described >> 62 != 1 || described >> 49 & 7 || described & RESERVED)
    emu_fault("a matrix described by %#llx: only the 128-byte swizzle without a base offset is emulated", (unsigned long long)described);
  if (start & 0x380) emu_fault("a swizzled matrix at %u, which is not where an atom of 1024 bytes starts", start);
  return start;
}

// Rows of 128 bytes, swizzled, along which K lies: of the first operand, or columns of the second.
// The product `p` reads `count` of them from `first` on.
void locate(const Product &p, unsigned (*to)[2], uint64_t described, unsigned first, unsigned count) {
  const unsigned start = start_of(described), stride = (described >> 32 & 0x3fff) << 4;
  for (unsigned i = 0; i < count; i++)
    for (unsigned half = 0; half < 2; half++) {
      const unsigned row = first + i, at = start + row / 8 * stride + row % 8 * 128 + half * 16;
      to[i][half] = at ^ (at >> 3 & 0x70);
      touch_shared(*self->block, to[i][half], 16, AS_TENSOR, {products_of(wave_of(*self)).thing, 0, p.group});
    }
}

// 16 rows of K of an operand that is stored by them: of 64 columns each, swizzled, then of the next 64. Of
// the first operand, columns are rows of the product. Eights are what is read at once: `cols` from `first` on.
void locate_rows(const Product &p, unsigned (*to)[2], uint64_t described, unsigned first, unsigned cols) {
  const unsigned start = start_of(described), apart = (described >> 16 & 0x3fff) << 4, eight = (described >> 32 & 0x3fff) << 4;
  const unsigned into = start & 0x7f, all = first + cols, line = all > 64 ? 64 : all;
  if (into + line * 2 > 128) emu_fault("%u columns from %u bytes into a line of 128 on: that is not emulated", all, into);
  for (unsigned k = 0; k < 16; k++)
    for (unsigned i = 0; i < cols / 8; i++) {
      const unsigned part = first / 8 + i, at = start + part / 8 * apart + k / 8 * eight + k % 8 * 128 + part % 8 * 16;
      unsigned &there = to[i * 8 + k / 2][k % 2] = at ^ (at >> 3 & 0x70);
      touch_shared(*self->block, there, 16, AS_TENSOR, {products_of(wave_of(*self)).thing, 0, p.group});
    }
}

std::shared_ptr<Sums> sums_of(const Products &ps, const Part *parts[32]) {
  for (const Product &p : ps.all)
    if (p.sums->at[0] == parts[0]->sums) {
      if (p.sums->cols != parts[0]->cols) emu_fault("products of %u and %u columns add to the same sums at once", p.sums->cols, parts[0]->cols);
      return p.sums;
    }
  auto sums = std::make_shared<Sums>();
  sums->cols = parts[0]->cols;
  for (unsigned l = 0; l < 32; l++) {
    float *d = sums->at[l] = parts[l]->sums;
    sums->values[l].assign(d, d + sums->cols / 2);
    for (unsigned i = 0; i < sums->cols / 2; i++) memcpy(d + i, &POISON, 4);
  }
  return sums;
}

void start(Wave &w, uint64_t b) {
  Products &ps = products_of(w);
  if (!ps.fenced) emu_fault("a product without wgmma.fence since the group before");
  const Part *parts[32];
  for (Lane *lane : w.lanes)
    if (lane->state == DONE) emu_fault("a product of a wave of which lanes have ended");
  for (unsigned l = 0; l < 32; l++) parts[l] = (const Part *)w.shared[w.turn][l];
  Product p;
  p.group = ps.group;
  p.sums = sums_of(ps, parts);
  p.sums->under_way++;
  for (unsigned l = 0; l < 32; l++) p.a[l] = parts[l]->a.registers;
  const EmuFactor &a = parts[0]->a;
  p.type = a.type, p.first = a.first;
  p.left_by_rows = a.by_rows, p.by_rows = parts[0]->by_rows;
  auto find = [&](bool by_rows) { return by_rows ? locate_rows : locate; };
  if (!a.registers) find(a.by_rows)(p, p.left, a.described, self->thread / 32 % 4 * 16, 16);
  find(p.by_rows)(p, p.right, b, 0, p.sums->cols);
  ps.all.push_back(p);
}

void make(const Product &p, const Block &b) {
  const unsigned cols = p.sums->cols, bytes = p.type == EMU_E4M3 ? 1 : 2, depth = 32 / bytes, per = 16 / bytes;
  static float right[256][32], left[16][32];
  auto widen = [&](unsigned short x) { return p.type == EMU_BF16 ? emu_from_bf16(x) : emu_from_f16(x); };
  auto read_rows = [&](float (*to)[32], const unsigned (*from)[2], unsigned count) {
    for (unsigned i = 0; i < count; i++)
      for (unsigned k = 0; k < 16; k++) {
        unsigned short x;
        memcpy(&x, b.window.base + from[i / 8 * 8 + k / 2][k % 2] + i % 8 * 2, 2);
        to[i][k] = widen(x);
      }
  };
  auto read = [&](float (*to)[32], const unsigned (*from)[2], unsigned count, bool by_rows) {
    if (by_rows) return read_rows(to, from, count);
    for (unsigned i = 0; i < count; i++)
      for (unsigned k = 0; k < depth; k++) {
        unsigned short x = 0;
        memcpy(&x, b.window.base + from[i][k / per] + k % per * bytes, bytes);
        to[i][k] = widen(p.type == EMU_E4M3 ? emu_e4m3_to_f16(x) : x);
      }
  };
  read(right, p.right, cols, p.by_rows);
  if (!p.a[0]) read(left, p.left, 16, p.left_by_rows);
  // Lane l has columns 2 (l % 4) + {0, 1}, rows l / 4 and 8 on, and both again 8 columns on.
  for (unsigned l = 0; l < 32 && p.a[l]; l++)
    for (unsigned i = 0; i < 4; i++)
      for (unsigned h = 0; h < 2; h++)
        left[l / 4 + i % 2 * 8][l % 4 * 2 + h + i / 2 * 8] = widen(p.a[l][i] >> 16 * h);
  for (unsigned l = 0; l < 32; l++)
    for (unsigned i = 0; i < cols / 2; i++) {
      const float *x = left[l / 4 + i / 2 % 2 * 8], *y = right[i / 4 * 8 + l % 4 * 2 + i % 2];
      float sum[4] = {};
      for (unsigned k = 0; k < depth; k += 4)
        for (unsigned j = 0; j < 4; j++) sum[j] += x[k + j] * y[k + j];
      float &to = p.sums->values[l][i];
      to = (p.first ? 0 : to) + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

void give_back(const Sums &s) {
  for (unsigned l = 0; l < 32; l++)
    for (unsigned i = 0; i < s.cols / 2; i++) {
      unsigned bits;
      memcpy(&bits, s.at[l] + i, 4);
      if (bits != POISON) emu_fault("sums were written to while products that add to them were under way");
      s.at[l][i] = s.values[l][i];
    }
}

void fence(Wave &w, uint64_t) { products_of(w).fenced = true; }
void commit(Wave &w, uint64_t) {
  products_of(w).group++;
  products_of(w).fenced = false;
}
void wait(Wave &w, uint64_t left) {
  Products &ps = products_of(w);
  while (!ps.all.empty() && ps.all.front().group + left < ps.group) {
    const Product &p = ps.all.front();
    make(p, *self->block);
    if (!--p.sums->under_way) give_back(*p.sums);
    w.known.learn_lane({ps.thing, 0, p.group});
    ps.all.pop_front();
  }
}
}  // namespace

void no_products(const Wave &w) {
  if (w.products && !w.products->all.empty()) emu_fault("a wave ends while products of its are under way");
}
}  // namespace emu

using namespace emu;

void emu_wgmma(float *sums, unsigned cols, const EmuFactor *a, uint64_t b, int by_rows) {
  const Part part = {sums, *a, cols, by_rows};
  Wave &w = wave_of(*self);
  if (w.lanes.size() < 32 || self->thread / 128 * 4 + 4 > self->block->waves.size()) emu_fault("a product of a warpgroup that is not whole");
  memcpy(w.shared[w.turn][self->thread % 32], &part, sizeof part);
  meet("wgmma", start, b);
}
void emu_wgmma_fence(void) { meet("wgmma.fence", fence, 0); }
void emu_wgmma_commit(void) { meet("wgmma.commit_group", commit, 0); }
void emu_wgmma_wait(unsigned left) { meet("wgmma.wait_group", wait, left); }
