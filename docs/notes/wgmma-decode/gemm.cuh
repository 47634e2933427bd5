// out[token][n] = sum over k of x[token][k] * W[n][k] on sm_90a, computed as out^T = W x^T:
// rows of W are the M side of wgmma, tokens are its N side (up to 256).
//
//   INT4 = true   W is MLX affine 4-bit, groups of 64: q uint32 [N][K/8], s and b bf16 [N][K/64].
//                 Codes are decoded in registers and are wgmma's register operand A. Neither W
//                 nor x is repacked before the kernel.
//   INT4 = false  W is bf16 [N][K]; both operands are read from shared memory.
//
// Roles: WGS consumer warpgroups, each with MT x 64 rows and all BN tokens of the tile; one more
// warpgroup of which two threads issue TMA copies. CM blocks of a cluster have adjacent row tiles
// and the same tokens; each loads 1/CM of the x tile and multicasts it.
//
// How K is divided (S):
//   S = 1  persistent: whole tiles, one after another
//   S > 1  a tile has S blocks, each with 1/S of K; afterwards each block sums 1/S of the tokens
//          (reduce-scatter), through global memory (RED = 0) or, if the S blocks are a cluster,
//          through mailboxes in one another's shared memory (RED = 1)
//   S = 0  stream-K: each block has an equal, contiguous range of (tile, k) steps. The block that
//          has the first step of a tile adds the partial sums of the others.
//
// KT > 0 selects the second 4-bit loop (sums_turns): KT sets of WGS warpgroups hold the same rows and
// tokens and take every KT-th step of 64 of K; their sums are added in shared memory. BUF is the
// number of decoded operands that a warpgroup holds. ORD = 1 makes the warpgroups issue their products
// in turns (named barriers), so that one decodes while another multiplies.
//
// DEC > 0: DEC more warpgroups decode into shared memory, and both operands of wgmma are there.
// KN = 1 (with DEC): W is [K][N], q uint32 [K][N/8], s and b bf16 [K][N/64]; the product is x W.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <stdint.h>
#include "wgmma_bf16.cuh"

#define DEV __device__ __forceinline__

// ---- PTX ----------------------------------------------------------------------------------------
DEV uint32_t smem_u32(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
DEV void mbar_init(uint32_t bar, int n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(n) : "memory");
}
DEV void mbar_expect(uint32_t bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
DEV void mbar_arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
DEV void mbar_arrive_at(uint32_t bar, uint32_t rank) {
  asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [far]; }" ::"r"(bar), "r"(rank)
               : "memory");
}
DEV bool mbar_try(uint32_t bar, uint32_t parity) {
  uint32_t ok;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(bar), "r"(parity) : "memory");
  return ok;
}
// A barrier that never completes ends the kernel with a trap instead of a hang.
DEV void mbar_wait(uint32_t bar, uint32_t parity) {
  if (mbar_try(bar, parity)) return;
#pragma unroll 1
  for (int i = 0; !mbar_try(bar, parity); i++)
    if (i > (1 << 21)) __trap();
}
DEV void tma(uint32_t to, const CUtensorMap* map, int col, int row, uint32_t bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(col), "r"(row), "r"(bar)
               : "memory");
}
DEV void tma_multicast(uint32_t to, const CUtensorMap* map, int col, int row, uint32_t bar,
                       uint16_t mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map),
               "r"(col), "r"(row), "r"(bar), "h"(mask) : "memory");
}
DEV uint32_t cluster_rank() {
  uint32_t r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
// No data passes by these barriers, only the news that mbarriers exist or that blocks are done: a
// release would be a fence of all memory.
DEV void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
DEV void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DEV void prefetch_map(const CUtensorMap* m) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(m) : "memory");
}
DEV unsigned long long now_ns() {
  unsigned long long v;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v)::"memory");
  return v;
}
DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEV void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// K-major operand in rows of 128 bytes with 128-byte swizzle, groups of eight rows 1024 bytes apart;
// `k16` selects 16 of the 64 elements of a row.
DEV uint64_t descriptor(uint32_t address, int k16) {
  return 1ull << 62 | 64ull << 32 | ((address >> 4) + (1 << 16) + 2 * k16);
}
DEV void lds128(uint32_t (&w)[4], uint32_t a) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(a) : "memory");
}
DEV uint32_t lds_u16(uint32_t a) {
  uint16_t v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(a) : "memory");
  return v;
}
DEV uint32_t hfma2(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
DEV uint32_t hmul2(uint32_t a, uint32_t b) {
  uint32_t d;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
DEV uint32_t pack(float lo, float hi) {
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}

// ---- configuration ------------------------------------------------------------------------------
template <bool INT4_, int MT_, int WGS_, int BN_, int CM_, int S_, int RED_ = 0, int ABL_ = 0,
          int INTER_ = 0, int KT_ = 0, int BUF_ = 1, int ORD_ = 0, int DEC_ = 0,
          int KN_ = 0>
struct Cfg {
  static constexpr bool INT4 = INT4_;
  static constexpr int MT = MT_, WGS = WGS_, BN = BN_, CM = CM_, S = S_, RED = RED_;
  // 1: registers get the codes without decoding; 2: nor are codes read; 3: as 0, with time stamps.
  static constexpr int ABL = ABL_ == 3 ? 0 : ABL_;
  static constexpr bool STAMPS = ABL_ == 3;
  // 1: the next operand is decoded in quarters between the products of this one, not after them.
  static constexpr int INTER = INTER_;
  static constexpr bool TURNS = KT_ > 0;
  static constexpr int KT = KT_ ? KT_ : 1, BUF = BUF_, ORD = ORD_;
  // WARPS: of a set. NWG: consumer warpgroups of all sets.
  static constexpr int NWG = WGS * KT, DEC = DEC_, KN = KN_;
  static constexpr int R = 64 * MT * WGS, WARPS = 4 * WGS, THREADS = 128 * (NWG + DEC) + 128;
  static constexpr int NB = BN / 8;
  static constexpr int CLUSTER = CM * (RED && S > 1 ? S : 1);
  // A stage of x: 64 of K; with bf16 weights these too. A stage of codes: 256 of K, a row is
  // 128 bytes. A stage of scales and biases: 512 of K from a multiple of 512 on, 16 bytes a row
  // of each.
  static constexpr int XB = BN * 128, SB = XB + (INT4 ? 0 : R * 128);
  // KN: a stage of codes or of scales is of 64 of K, and a row is one k.
  static constexpr int WB = !INT4 ? 0 : KN ? R * 32 : R * 128, CB = !INT4 ? 0 : KN ? 2048 : R * 32;
  static constexpr int FEW = R >= 256 || BN >= 192 || (NWG == 4 && R * BN > 8192) || DEC ? 2 : 3;
  static constexpr int WST = !INT4 ? 0 : KN ? 6 : FEW, CST = !INT4 ? 0 : KN ? 6 : 2;
  // Stages of decoded weights.
  static constexpr int DB = R * 128, DST = DEC ? (BN >= 192 ? 3 : 4) : 0;
  static constexpr int PATCH = 4 * NWG * 4 * 16 * 48;
  // Pairs of eights of tokens, and mailboxes for those that a block sums.
  static constexpr int PAIRS = NB / 2, CHUNK = S > 1 ? (PAIRS + S - 1) / S : 0;
  static constexpr int MAIL = RED && S > 1 ? (S - 1) * CHUNK * 2 * MT * 128 * WGS * 16 : 0;
  static constexpr int ROOM = 232448 - 1024 - 512 - PATCH - WST * WB - CST * CB - DST * DB - MAIL;
  static constexpr int XST = ROOM / SB > 12 ? 12 : ROOM / SB;
  static constexpr int SMEM = 1024 + WST * WB + CST * CB + DST * DB + XST * SB + MAIL + PATCH + 512;
  static_assert(XST >= 2, "no room");
  static_assert(KT == 1 || XST * SB >= KT * R * BN * 4, "no room for the sums of the sets");
  static_assert(!(TURNS || DEC) || MT == 1, "");
  static_assert(!DEC || WGS % DEC == 0, "each decoding warpgroup has rows");
};

struct Args {
  __nv_bfloat16* y;
  float4* ws;       // partial sums
  unsigned* flags;  // zeros between launches
  unsigned long long* stamps;
  int M, N, KS;     // KS: steps of 64 of K
  int step;         // of the codes' tensor map: its elements for a step of 64
  int token_tiles, tiles, items, G;  // G: clusters
};

struct Work { int tile, k0, n, part; };

// The pieces of work of a cluster; all its warps, and the producer, walk through the same list.
template <class C> struct Walk {
  const Args& a;
  int at, end;
  DEV Walk(const Args& a) : a(a) {
    int cid = blockIdx.x / C::CLUSTER;
    if (C::S == 0) {
      at = a.tiles * a.KS * cid / a.G, end = a.tiles * a.KS * (cid + 1) / a.G;
    } else at = cid, end = a.items;
  }
  DEV bool get(Work& w) {
    if (at >= end) return false;
    if constexpr (C::S == 0) {
      w.tile = at / a.KS, w.k0 = at % a.KS, w.n = min(a.KS - w.k0, end - at), w.part = 0;
      at += w.n;
    } else {
      if (C::RED && C::S > 1) w.tile = at, w.part = cluster_rank() / C::CM;
      else w.tile = at / C::S, w.part = at % C::S;
      w.k0 = a.KS * w.part / C::S, w.n = a.KS * (w.part + 1) / C::S - w.k0;
      at += a.G;
    }
    return true;
  }
};
template <class C> DEV int row_of(const Args& a, const Work& w) {
  return (w.tile / a.token_tiles * C::CM + blockIdx.x % C::CM) * C::R;
}
template <class C> DEV int token_of(const Args& a, const Work& w) {
  return w.tile % a.token_tiles * C::BN;
}

// Addresses in shared memory.
template <class C> struct Shared {
  uint32_t base;
  DEV uint32_t w(int s) const { return base + s * C::WB; }
  DEV uint32_t c(int s) const { return base + C::WST * C::WB + s * C::CB; }
  DEV uint32_t dec(int s) const { return c(0) + C::CST * C::CB + s * C::DB; }
  DEV uint32_t x(int s) const { return dec(C::DST) + s * C::SB; }
  DEV uint32_t mail() const { return x(C::XST); }
  DEV uint32_t patch() const { return mail() + C::MAIL; }
  DEV uint32_t bars() const { return patch() + C::PATCH; }
  DEV uint32_t xfull(int s) const { return bars() + 8 * s; }
  DEV uint32_t xempty(int s) const { return bars() + 8 * (C::XST + s); }
  DEV uint32_t wfull(int s) const { return bars() + 8 * (2 * C::XST + s); }
  DEV uint32_t wempty(int s) const { return wfull(C::WST + s); }
  DEV uint32_t cfull(int s) const { return wempty(C::WST + s); }
  DEV uint32_t cempty(int s) const { return cfull(C::CST + s); }
  DEV uint32_t dfull(int s) const { return cempty(C::CST + s); }
  DEV uint32_t dempty(int s) const { return dfull(C::DST + s); }
  DEV uint32_t posted() const { return dempty(C::DST); }
};
template <int STAGES> struct Ring {
  int s = 0, phase = 0;
  DEV void skip(int n) {
    s += n;
    if (s >= STAGES) s -= STAGES, phase ^= 1;
  }
  DEV void next() { if (++s == STAGES) s = 0, phase ^= 1; }
  DEV int before() const { return s ? s - 1 : STAGES - 1; }
};

// ---- producer -----------------------------------------------------------------------------------
template <class C>
DEV void produce_x(const Args& a, Shared<C> sh, const CUtensorMap* mx, const CUtensorMap* mw) {
  Ring<C::XST> ring;
  Walk<C> walk(a);
  Work w;
  constexpr int PART = C::BN / C::CM;
  uint32_t rank = C::CLUSTER > 1 ? cluster_rank() : 0, cm = rank % C::CM;
  uint16_t mask = ((1 << C::CM) - 1) << (rank / C::CM * C::CM);
  while (walk.get(w)) {
    int row = row_of<C>(a, w), token = token_of<C>(a, w);
    for (int k = w.k0; k < w.k0 + w.n; k++, ring.next()) {
      mbar_wait(sh.xempty(ring.s), ring.phase ^ 1);
      uint32_t bar = sh.xfull(ring.s), to = sh.x(ring.s);
      mbar_expect(bar, C::SB);
      if (!C::INT4) tma(to + C::XB, mw, k * 64, row, bar);
      if (C::CM == 1) tma(to, mx, k * 64, token, bar);
      else tma_multicast(to + cm * PART * 128, mx, k * 64, token + cm * PART, bar, mask);
    }
  }
}
template <class C> DEV void produce_w(const Args& a, Shared<C> sh, const CUtensorMap* mw) {
  Ring<C::WST ? C::WST : 1> ring;
  Walk<C> walk(a);
  Work w;
  while (walk.get(w)) {
    int row = row_of<C>(a, w);
    for (int k = w.k0; k < w.k0 + w.n; k += C::KN ? 1 : 4, ring.next()) {
      mbar_wait(sh.wempty(ring.s), ring.phase ^ 1);
      mbar_expect(sh.wfull(ring.s), C::WB);
      if (C::KN) tma(sh.w(ring.s), mw, row / 4, k * 64, sh.wfull(ring.s));
      else tma(sh.w(ring.s), mw, k * a.step, row, sh.wfull(ring.s));
    }
  }
}
// The first coordinate of a copy must be a multiple of 16 bytes: scales come eight at a time.
template <class C>
DEV void produce_scales(const Args& a, Shared<C> sh, const CUtensorMap* ms, const CUtensorMap* mb) {
  Ring<C::CST ? C::CST : 1> ring;
  Walk<C> walk(a);
  Work w;
  while (walk.get(w)) {
    int row = row_of<C>(a, w);
    for (int k = C::KN ? w.k0 : w.k0 / 8 * 8; k < w.k0 + w.n; k += C::KN ? 1 : 8, ring.next()) {
      mbar_wait(sh.cempty(ring.s), ring.phase ^ 1);
      uint32_t bar = sh.cfull(ring.s), to = sh.c(ring.s);
      mbar_expect(bar, C::CB);
      int col = C::KN ? row / 512 * 8 : k, line = C::KN ? k * 64 : row;
      tma(to, ms, col, line, bar);
      tma(to + C::CB / 2, mb, col, line, bar);
    }
  }
}

// ---- decode -------------------------------------------------------------------------------------
// A lane's part of a step of 64 of K of a 64-row tile: rows r and r + 8, all 32 bytes of each. In
// the order in which MLX packs, word m has k = 8 m .. 8 m + 7, and wgmma's fragment has for lane
// c = lane % 4 columns 2 c and 2 c + 1 of each eight: byte c of every word. So each lane of four
// reads the same words and takes a byte of each.
struct Raw {
  uint32_t top[8], low[8];
  uint32_t s0, b0, s1, b1;
  // step: of the four in a stage of codes; group: of the eight in a stage of scales.
  DEV void load(uint32_t row, uint32_t swizzle, int step, uint32_t scale, uint32_t bias, int group) {
    uint32_t c0 = row + ((2 * step * 16) ^ swizzle), c1 = row + (((2 * step + 1) * 16) ^ swizzle);
    lds128(*(uint32_t(*)[4])top, c0);
    lds128(*(uint32_t(*)[4])low, c0 + 8 * 128);
    lds128(*(uint32_t(*)[4])(top + 4), c1);
    lds128(*(uint32_t(*)[4])(low + 4), c1 + 8 * 128);
    s0 = lds_u16(scale + 2 * group), s1 = lds_u16(scale + 2 * group + 128);
    b0 = lds_u16(bias + 2 * group), b1 = lds_u16(bias + 2 * group + 128);
  }
};
// A byte has two codes. As bits 0-3 of the low and bits 4-7 of the high half they are the bf16
// numbers q 2^-133 and q 2^-129 (bf16 is linear from 0 to 2^-125, subnormal or not), so that one
// fma with s 2^101 and s 2^97 makes w 2^-32 = (q s + b) 2^-32, rounded once, as bf16(q s + b) is.
// The sums are multiplied by 2^32 at the end. Exact for |s| < 2^26 and |w| > 2^-94.
constexpr uint32_t SCALE_UP = 0x70007200, BIAS_DOWN = 0x2f802f80;
constexpr float UNSCALE = 4294967296.f;
template <int ABL> DEV uint32_t decode(uint32_t word, uint32_t select, uint32_t s, uint32_t b) {
  if (ABL) return word & 0x3fff3fff;
  return hfma2(__byte_perm(word, 0, select) & 0x00f0000f, s, b);
}
// The scales of a lane's two rows, as fma takes them.
struct Scales {
  uint32_t s0, s1, b0, b1;
  DEV Scales(const Raw& raw) {
    s0 = hmul2(__byte_perm(raw.s0, 0, 0x1010), SCALE_UP);
    s1 = hmul2(__byte_perm(raw.s1, 0, 0x1010), SCALE_UP);
    b0 = hmul2(__byte_perm(raw.b0, 0, 0x1010), BIAS_DOWN);
    b1 = hmul2(__byte_perm(raw.b1, 0, 0x1010), BIAS_DOWN);
  }
};
// The operand of product j of four.
template <int ABL>
DEV void decode(uint32_t* a, const Raw& raw, const Scales& c, uint32_t select, int j) {
#pragma unroll
  for (int i = 2 * j; i < 2 * j + 2; i++) {
    a[2 * i] = decode<ABL>(raw.top[i], select, c.s0, c.b0);
    a[2 * i + 1] = decode<ABL>(raw.low[i], select, c.s1, c.b1);
  }
}

// ---- consumer -----------------------------------------------------------------------------------
template <class C> DEV void release_x(Shared<C> sh, int stage) {
  __syncwarp();
  int lane = threadIdx.x % 32;
  if (C::CM == 1) {
    if (lane == 0) mbar_arrive(sh.xempty(stage));
  } else if (lane < C::CM) {
    mbar_arrive_at(sh.xempty(stage), cluster_rank() / C::CM * C::CM + lane);
  }
}

// The compiler does not know that the sums change until the wait: without this it may copy them
// before. It did so where a later index was not a constant, and results were wrong.
template <class C> DEV void settle(float (&d)[C::MT][C::BN / 2]) {
#pragma unroll
  for (int mt = 0; mt < C::MT; mt++)
#pragma unroll
    for (int i = 0; i < C::BN / 2; i++) asm volatile("" : "+f"(d[mt][i])::"memory");
}
template <class C> DEV void stamp(const Args& a, int i) {
  if (C::STAMPS && threadIdx.x == 0) {
    a.stamps[blockIdx.x * 16 + i] = now_ns();
    a.stamps[blockIdx.x * 16 + 8 + i] = clock64();
  }
}

template <class C>
DEV void sums_int4(float (&d)[C::MT][C::BN / 2], int k0, int count, Shared<C> sh,
                   Ring<C::XST>& xr, Ring<C::WST ? C::WST : 1>& wr,
                   Ring<C::CST ? C::CST : 1>& cr) {
  constexpr int MT = C::MT;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int row = warp / 4 * 64 * MT + warp % 4 * 16 + lane / 4;
  uint32_t swizzle = row % 8 * 16, select = lane % 4 * 0x101 | 0x4040;
  uint32_t a[2][16];
  Raw raw;
  auto load = [&](int step, int k, int mt) {
    if (C::ABL == 2) return;
    uint32_t r = row + mt * 64, c = sh.c(cr.s) + r * 16;
    raw.load(sh.w(wr.s) + r * 128, swizzle, step, c, c + C::R * 16, k % 8);
  };
  auto dec = [&](uint32_t (&to)[16]) {
    if (C::ABL == 2) {
#pragma unroll
      for (int i = 0; i < 16; i++) to[i] = 0x3f803f80 + i * lane;
    } else {
      Scales c(raw);
#pragma unroll
      for (int j = 0; j < 4; j++) decode<C::ABL>(to, raw, c, select, j);
    }
  };
  auto wait_w = [&] {
    if (C::ABL < 2) mbar_wait(sh.wfull(wr.s), wr.phase);
  };
  auto wait_c = [&] {
    if (C::ABL < 2) mbar_wait(sh.cfull(cr.s), cr.phase);
  };
  auto release_c = [&] {
    if (C::ABL == 2) return;
    __syncwarp();
    if (lane == 0) mbar_arrive(sh.cempty(cr.s));
    cr.next();
  };
  auto release_w = [&] {
    if (C::ABL == 2) return;
    __syncwarp();
    if (lane == 0) mbar_arrive(sh.wempty(wr.s));
    wr.next();
  };
  wait_w();
  wait_c();
  load(0, k0, 0);
  dec(a[0]);
  bool first = true;
#pragma unroll 1
  for (int left = count, k = k0; left > 0; left -= 4, k += 4) {
#pragma unroll
    for (int s = 0; s < 4; s++) {
      if (s >= left) break;
      mbar_wait(sh.xfull(xr.s), xr.phase);
      uint32_t x = sh.x(xr.s);
#pragma unroll
      for (int mt = 0; mt < MT; mt++) {
        constexpr int LAST = MT - 1;
        int p = (s * MT + mt) & 1;
        wgmma_fence();
#pragma unroll
        for (int j = 0; j < (C::INTER ? 1 : 4); j++)
          wgmma_rs<C::BN>(d[mt], a[p] + 4 * j, descriptor(x, j));
        wgmma_commit();
        // While these products run, the next operand is read and decoded.
        bool more = mt < LAST || s + 1 < left;
        if (more) {
          if (mt == LAST && s == 3) {
            release_w();
            wait_w();
          }
          if (mt == LAST && (k + s + 1) % 8 == 0) {
            release_c();
            wait_c();
          }
          if (mt < LAST) load(s, k + s, mt + 1);
          else load((s + 1) % 4, k + s + 1, 0);
        }
        wgmma_wait<1>();
        if (mt == 0) {
          if (!first) release_x(sh, xr.before());
          first = false;
        }
        if (C::INTER) {
          Scales c(raw);
          decode<C::ABL>(a[p ^ 1], raw, c, select, 0);
#pragma unroll
          for (int j = 1; j < 4; j++) {
            wgmma_fence();
            wgmma_rs<C::BN>(d[mt], a[p] + 4 * j, descriptor(x, j));
            wgmma_commit();
            decode<C::ABL>(a[p ^ 1], raw, c, select, j);
          }
        } else if (more) dec(a[p ^ 1]);
      }
      xr.next();
    }
  }
  wgmma_wait<0>();
  settle<C>(d);
  release_x(sh, xr.before());
  release_w();
  release_c();
}

DEV void bar_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
DEV void bar_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// The second loop: set `turn` of KT has steps turn, turn + KT, ...
template <class C>
DEV void sums_turns(float (&d)[1][C::BN / 2], int k0, int count, Shared<C> sh, Ring<C::XST>& xr,
                    Ring<C::WST ? C::WST : 1>& wr, Ring<C::CST ? C::CST : 1>& cr) {
  constexpr int KT = C::KT, BUF = C::BUF;
  // With 112 registers, codes of the next step and 64 sums do not fit beside an operand in use.
  constexpr bool LATE = C::NWG == 4 && C::BN >= 128;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wg = warp / 4;
  int turn = KT > 1 ? wg / C::WGS : 0;
  int row = wg % C::WGS * 64 + warp % 4 * 16 + lane / 4;
  uint32_t swizzle = row % 8 * 16, select = lane % 4 * 0x101 | 0x4040;
  uint32_t a[BUF][16];
  Raw raw;
  int i = turn, was = 0, eight = k0 >> 3;
  auto release_w = [&] {
    __syncwarp();
    if (lane == 0) mbar_arrive(sh.wempty(wr.s));
    wr.next();
  };
  auto release_c = [&] {
    __syncwarp();
    if (lane == 0) mbar_arrive(sh.cempty(cr.s));
    cr.next();
  };
  // Reads the codes and scales of step i.
  auto load = [&] {
    if (C::ABL == 2) return;
    if (i >> 2 != was) {
      was = i >> 2;
      release_w();
      mbar_wait(sh.wfull(wr.s), wr.phase);
    }
    if ((k0 + i) >> 3 != eight) {
      eight = (k0 + i) >> 3;
      release_c();
      mbar_wait(sh.cfull(cr.s), cr.phase);
    }
    uint32_t c = sh.c(cr.s) + row * 16;
    raw.load(sh.w(wr.s) + row * 128, swizzle, i & 3, c, c + C::R * 16, (k0 + i) & 7);
  };
  auto dec = [&](uint32_t (&to)[16]) {
    Scales c(raw);
#pragma unroll
    for (int j = 0; j < 4; j++) decode<C::ABL>(to, raw, c, select, j);
  };
  int before = 0;
  bool first = true;
  auto products = [&](uint32_t (&from)[16]) {
    mbar_wait(sh.xfull(xr.s), xr.phase);
    uint32_t x = sh.x(xr.s);
    if (C::ORD) bar_sync(1 + wg, 256);
    wgmma_fence();
#pragma unroll
    for (int j = 0; j < 4; j++) wgmma_rs<C::BN>(d[0], from + 4 * j, descriptor(x, j));
    wgmma_commit();
    if (C::ORD) bar_arrive(1 + (wg + 1 == C::NWG ? 0 : wg + 1), 256);
  };
  if (i < count) {
    if (C::ABL < 2) {
      mbar_wait(sh.wfull(wr.s), wr.phase);
      if ((k0 + i) >> 3 == eight) mbar_wait(sh.cfull(cr.s), cr.phase);
    }
    if (KT > 1) xr.skip(turn);
    load();
    dec(a[0]);
#pragma unroll 1
    while (true) {
#pragma unroll
      for (int p = 0; p < 2; p++) {
        products(a[p % BUF]);
        i += KT;
        bool more = i < count;
        if (more && !LATE) load();
        // BUF = 2: the products before these are done, and their operand is free; else these are.
        if (BUF == 2) {
          wgmma_wait<1>();
          if (!first) release_x(sh, before);
          first = false, before = xr.s;
        } else {
          wgmma_wait<0>();
          release_x(sh, xr.s);
        }
        xr.skip(KT);
        if (!more) goto done;
        if (LATE) load();
        dec(a[(p + 1) % BUF]);
      }
    }
  done:;
  }
  wgmma_wait<0>();
  settle<C>(d);
  if (KT == 1) {
    if (BUF == 2) release_x(sh, before);
    release_w();
    release_c();
  }
}

// Decoding into shared memory: a thread decodes half a row of a step, 32 codes, into four chunks of 16
// bytes in the layout that `descriptor` names. Eight adjacent lanes have eight rows: no bank conflicts.
template <class C> DEV void decode_to_shared(const Args& a, Shared<C> sh) {
  Ring<C::WST ? C::WST : 1> wr;
  Ring<C::CST ? C::CST : 1> cr;
  Ring<C::DST ? C::DST : 1> dr;
  Walk<C> walk(a);
  Work w;
  int t = threadIdx.x - 128 * C::NWG, lane = t % 32, half = t / 64 % 2;
  while (walk.get(w)) {
    int n0 = row_of<C>(a, w);
#pragma unroll 1
    for (int i = 0; i < w.n; i++) {
      int k = w.k0 + i;
      if (C::KN || i % 4 == 0) mbar_wait(sh.wfull(wr.s), wr.phase);
      if (C::KN || i == 0 || k % 8 == 0) mbar_wait(sh.cfull(cr.s), cr.phase);
      bool waited = false;
#pragma unroll
      for (int r = t / 128; r < C::R / 64; r += C::DEC) {
        int row = r * 64 + t % 64, eight = row % 8;
        uint32_t q[4], to = sh.dec(dr.s) + row * 128, c, from;
        if (C::KN) {
          // Rows of R / 2 bytes with a swizzle as wide as they are.
          int line = t % 64;
          from = line * (C::R / 2) + ((r * 2 + half) ^ (line * (C::R / 2) / 128 % (C::R / 32))) * 16;
          c = sh.c(cr.s) + line * 16 + (n0 / 64 % 8 + r) * 2;
        } else {
          from = row * 128 + ((i % 4 * 2 + half) ^ eight) * 16;
          c = sh.c(cr.s) + row * 16 + k % 8 * 2;
        }
        lds128(q, sh.w(wr.s) + from);
        uint32_t s = hmul2(__byte_perm(lds_u16(c), 0, 0x1010), SCALE_UP);
        uint32_t b = hmul2(__byte_perm(lds_u16(c + C::CB / 2), 0, 0x1010), BIAS_DOWN);
        if (!waited) mbar_wait(sh.dempty(dr.s), dr.phase ^ 1);
        waited = true;
#pragma unroll
        for (int m = 0; m < 4; m++) {
          uint32_t v[4];
#pragma unroll
          for (int j = 0; j < 4; j++) v[j] = decode<0>(q[m], j * 0x101 | 0x4040, s, b);
          asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to + ((half * 4 + m) ^ eight) * 16),
                       "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
        }
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      bool last = C::KN || i + 1 == w.n, codes = i % 4 == 3 || last, scales = k % 8 == 7 || last;
      if (lane == 0) {
        mbar_arrive(sh.dfull(dr.s));
        if (codes) mbar_arrive(sh.wempty(wr.s));
        if (scales) mbar_arrive(sh.cempty(cr.s));
      }
      dr.next();
      if (codes) wr.next();
      if (scales) cr.next();
    }
  }
}
template <class C>
DEV void sums_shared(float (&d)[1][C::BN / 2], int count, Shared<C> sh, Ring<C::XST>& xr,
                     Ring<C::DST ? C::DST : 1>& dr) {
  int lane = threadIdx.x % 32;
  auto release = [&](int x, int w) {
    release_x(sh, x);
    if (lane == 0) mbar_arrive(sh.dempty(w));
  };
#pragma unroll 1
  for (int k = 0; k < count; k++) {
    mbar_wait(sh.xfull(xr.s), xr.phase);
    mbar_wait(sh.dfull(dr.s), dr.phase);
    uint32_t x = sh.x(xr.s), w = sh.dec(dr.s) + threadIdx.x / 128 * 64 * 128;
    wgmma_fence();
#pragma unroll
    for (int j = 0; j < 4; j++)
      if constexpr (C::KN) wgmma_ts<C::BN>(d[0], descriptor(w + j * 2048, 0), descriptor(x, j));
      else wgmma_ss<C::BN>(d[0], descriptor(w, j), descriptor(x, j));
    wgmma_commit();
    wgmma_wait<1>();
    if (k) release(xr.before(), dr.before());
    xr.next();
    dr.next();
  }
  wgmma_wait<0>();
  settle<C>(d);
  release(xr.before(), dr.before());
}

// Adds the sums of the sets. Afterwards set 0 has all sums (S > 1), or each set has those of its pairs
// of eights of tokens [lo, hi). The stages of x are free then: a block has one tile.
template <class C> DEV void add_sets(float (&d)[1][C::BN / 2], Shared<C> sh, int& lo, int& hi) {
  constexpr int KT = C::KT, P = C::PAIRS, T = 128 * C::WGS;
  int turn = threadIdx.x / T, t = threadIdx.x % T;
  lo = C::S == 1 ? P * turn / KT : turn ? P : 0;
  hi = C::S == 1 ? P * (turn + 1) / KT : P;
  bar_sync(15, 128 * C::NWG);
#pragma unroll
  for (int p = 0; p < P; p++)
    if (p < lo || p >= hi)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        float* e = d[0] + 8 * p + 4 * h;
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(
                         sh.x(0) + (((turn * P + p) * 2 + h) * T + t) * 16),
                     "f"(e[0]), "f"(e[1]), "f"(e[2]), "f"(e[3]) : "memory");
      }
  bar_sync(15, 128 * C::NWG);
#pragma unroll
  for (int p = 0; p < P; p++)
    if (p >= lo && p < hi)
#pragma unroll
      for (int r = 1; r < KT; r++) {
        int other = turn + r < KT ? turn + r : turn + r - KT;
#pragma unroll
        for (int h = 0; h < 2; h++) {
          uint32_t v[4];
          lds128(v, sh.x(0) + (((other * P + p) * 2 + h) * T + t) * 16);
          float* e = d[0] + 8 * p + 4 * h;
          for (int i = 0; i < 4; i++) e[i] += __uint_as_float(v[i]);
        }
      }
}

template <class C>
DEV void sums_bf16(float (&d)[C::MT][C::BN / 2], int count, Shared<C> sh, Ring<C::XST>& xr) {
  int wg = threadIdx.x / 128;
#pragma unroll 1
  for (int k = 0; k < count; k++) {
    mbar_wait(sh.xfull(xr.s), xr.phase);
    uint32_t x = sh.x(xr.s), w = x + C::XB + wg * C::MT * 64 * 128;
    wgmma_fence();
#pragma unroll
    for (int mt = 0; mt < C::MT; mt++)
#pragma unroll
      for (int j = 0; j < 4; j++)
        wgmma_ss<C::BN>(d[mt], descriptor(w + mt * 64 * 128, j), descriptor(x, j));
    wgmma_commit();
    wgmma_wait<1>();
    if (k) release_x(sh, xr.before());
    xr.next();
  }
  wgmma_wait<0>();
  settle<C>(d);
  release_x(sh, xr.before());
}

// ---- epilogue -----------------------------------------------------------------------------------
DEV void st_partial(float4* p, const float* d) {
  asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(d[0]), "f"(d[1]),
               "f"(d[2]), "f"(d[3]) : "memory");
}
DEV float4 ld_partial(const float4* p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p) : "memory");
  return v;
}
DEV unsigned ld_acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
DEV unsigned add_release(unsigned* p, unsigned x) {
  unsigned v;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(x)
               : "memory");
  return v;
}
DEV void spin(const unsigned* p, unsigned want) {
#pragma unroll 1
  for (int i = 0; ld_acquire(p) < want; i++)
    if (i > (1 << 22)) __trap();
}

// Stores pairs of eights of tokens [lo, hi): a warp transposes 16 rows x 16 tokens in a patch of
// shared memory of its own and writes 32 bytes of each token; four patches at a time.
template <class C>
DEV void store(float (&d)[C::MT][C::BN / 2], const Args& a, Shared<C> sh, int row0, int token0,
               int lo, int hi) {
  constexpr float SCALE = C::INT4 ? UNSCALE : 1.f;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t patch = sh.patch() + warp * 4 * 768;
  uint32_t st = patch + (lane / 16 * 8 + lane % 8) * 48 + lane / 8 % 2 * 16;
  uint32_t ld = patch + lane / 2 * 48 + lane % 2 * 16;
#pragma unroll
  for (int mt = 0; mt < C::MT; mt++) {
    int n = row0 + warp / 4 % C::WGS * 64 * C::MT + mt * 64 + warp % 4 * 16 + lane % 2 * 8;
#pragma unroll
    for (int p = 0; p < C::PAIRS; p += 4) {
      if (p + 3 < lo || p >= hi) continue;
#pragma unroll
      for (int q = 0; q < 4; q++) {
        if (p + q >= C::PAIRS) break;
        float* e = d[mt] + 8 * (p + q);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         st + q * 768), "r"(pack(e[0] * SCALE, e[1] * SCALE)),
                     "r"(pack(e[2] * SCALE, e[3] * SCALE)), "r"(pack(e[4] * SCALE, e[5] * SCALE)),
                     "r"(pack(e[6] * SCALE, e[7] * SCALE)) : "memory");
      }
      __syncwarp();
      uint32_t v[4][4];
#pragma unroll
      for (int q = 0; q < 4; q++) lds128(v[q], ld + q * 768);
#pragma unroll
      for (int q = 0; q < 4; q++) {
        int token = token0 + (p + q) * 16 + lane / 2;
        if (p + q >= lo && p + q < hi && token < a.M && n < a.N)
          *(uint4*)(a.y + (long long)token * a.N + n) =
              make_uint4(v[q][0], v[q][1], v[q][2], v[q][3]);
      }
      __syncwarp();
    }
  }
}

DEV void add4(float* d, float4 v) { d[0] += v.x, d[1] += v.y, d[2] += v.z, d[3] += v.w; }

// Reduce-scatter among the S blocks of a tile: block r sums eights of tokens [LO, HI).
template <class C, int RANK>
DEV void scatter_rank(float (&d)[C::MT][C::BN / 2], const Args& a, Shared<C> sh, const Work& w,
                      int row0, int token0) {
  constexpr int S = C::S, MT = C::MT, NB = C::NB, T = 128 * C::WGS;
  constexpr int LO = C::PAIRS * RANK / S * 2, HI = C::PAIRS * (RANK + 1) / S * 2;
  int t = threadIdx.x, cm = blockIdx.x % C::CM;
  // A warp needs only what the same warp of the other blocks has written.
  int tile = w.tile * C::CM + cm;
  float4* ws = a.ws + (long long)tile * S * (MT * NB * T) + t;
  unsigned* flag = a.flags + (tile * C::WARPS + t / 32) * 2;
#pragma unroll
  for (int i = 0; i < NB; i++)
    if (i < LO || i >= HI)
#pragma unroll
      for (int mt = 0; mt < MT; mt++)
        st_partial(ws + (RANK * MT * NB + mt * NB + i) * T, d[mt] + 4 * i);
  __syncwarp();
  if (t % 32 == 0) {
    add_release(flag, 1);
    spin(flag, S);
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < S; r++)
    if (r != RANK)
#pragma unroll
      for (int i = LO; i < HI; i++)
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
          add4(d[mt] + 4 * i, ld_partial(ws + (r * MT * NB + mt * NB + i) * T));
  __syncwarp();
  // The last to have read resets both counters for the next launch.
  if (t % 32 == 0 && atomicInc(flag + 1, S - 1) == S - 1) *flag = 0;
  store<C>(d, a, sh, row0, token0, LO / 2, HI / 2);
}
// Which block sums pair p: P r / S <= p < P (r + 1) / S.
template <class C> __host__ __device__ constexpr int owner_of(int p) {
  int r = 0;
  while (C::PAIRS * (r + 1) / C::S <= p) r++;
  return r;
}
// The same through mailboxes: no fence, and one wait. Indices are constants and the rank is not.
template <class C>
DEV void mail(float (&d)[C::MT][C::BN / 2], const Args& a, Shared<C> sh, const Work& w, int row0,
              int token0) {
  constexpr int S = C::S, MT = C::MT, T = 128 * C::WGS, P = C::PAIRS;
  int t = threadIdx.x, cm = blockIdx.x % C::CM;
  int lo = P * w.part / S, hi = P * (w.part + 1) / S;
  cluster_wait();  // all blocks have made their mailboxes' barriers
#pragma unroll
  for (int p = 0; p < P; p++) {
    if (p >= lo && p < hi) continue;
    int r = owner_of<C>(p);
    int first = P * r / S, slot = w.part < r ? w.part : w.part - 1;
    uint32_t to, bar;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to)
        : "r"(sh.mail() + (((slot * C::CHUNK + p - first) * 2 * MT) * T + t) * 16),
          "r"(r * C::CM + cm));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bar) : "r"(sh.posted()), "r"(r * C::CM + cm));
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int mt = 0; mt < MT; mt++) {
        float* e = d[mt] + 8 * p + 4 * h;
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                     "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(to + (h * MT + mt) * T * 16), "f"(e[0]),
                     "f"(e[1]), "f"(e[2]), "f"(e[3]), "r"(bar) : "memory");
      }
  }
  mbar_wait(sh.posted(), 0);
#pragma unroll
  for (int p = 0; p < P; p++)
    if (p >= lo && p < hi) {
#pragma unroll
      for (int slot = 0; slot < S - 1; slot++)
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
          for (int mt = 0; mt < MT; mt++) {
            uint32_t v[4];
            lds128(v, sh.mail() + (((slot * C::CHUNK + p - lo) * 2 * MT + h * MT + mt) * T + t) * 16);
            add4(d[mt] + 8 * p + 4 * h, make_float4(__uint_as_float(v[0]), __uint_as_float(v[1]),
                                                    __uint_as_float(v[2]), __uint_as_float(v[3])));
          }
    }
  store<C>(d, a, sh, row0, token0, lo, hi);
}
template <class C, int RANK = 0>
DEV void scatter(float (&d)[C::MT][C::BN / 2], const Args& a, Shared<C> sh, const Work& w, int row0,
                 int token0) {
  if constexpr (RANK + 1 < C::S) {
    if (w.part != RANK) return scatter<C, RANK + 1>(d, a, sh, w, row0, token0);
  }
  scatter_rank<C, RANK>(d, a, sh, w, row0, token0);
}

template <class C>
DEV void finish(float (&d)[C::MT][C::BN / 2], const Args& a, Shared<C> sh, const Work& w) {
  constexpr int MT = C::MT, NB = C::NB, T = 128 * C::WGS;
  int row0 = row_of<C>(a, w), token0 = token_of<C>(a, w), t = threadIdx.x;
  if constexpr (C::S > 1 && C::RED) {
    mail<C>(d, a, sh, w, row0, token0);
  } else if constexpr (C::S > 1) {
    scatter<C>(d, a, sh, w, row0, token0);
  } else {
    if constexpr (C::S == 0) {
      if (w.k0 > 0) {
        // A partial sum: of each block at most the first piece is one.
        float4* ws = a.ws + (long long)blockIdx.x * (MT * NB * T) + t;
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
#pragma unroll
          for (int i = 0; i < NB; i++) st_partial(ws + (mt * NB + i) * T, d[mt] + 4 * i);
        __syncwarp();
        if (t % 32 == 0) add_release(a.flags + blockIdx.x * C::WARPS + t / 32, 1);
        return;
      }
      int cid = blockIdx.x / C::CLUSTER;
#pragma unroll 1
      for (int c = cid + 1; a.tiles * a.KS * c / a.G < (w.tile + 1) * a.KS; c++) {
        int block = c * C::CLUSTER + blockIdx.x % C::CLUSTER;
        unsigned* flag = a.flags + block * C::WARPS + t / 32;
        if (t % 32 == 0) spin(flag, 1);
        __syncwarp();
        const float4* ws = a.ws + (long long)block * (MT * NB * T) + t;
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
#pragma unroll
          for (int i = 0; i < NB; i++) add4(d[mt] + 4 * i, ld_partial(ws + (mt * NB + i) * T));
        __syncwarp();
        if (t % 32 == 0) *flag = 0;
      }
    }
    store<C>(d, a, sh, row0, token0, 0, C::PAIRS);
  }
}

// ---- kernel -------------------------------------------------------------------------------------
template <class C>
__global__ void __launch_bounds__(C::THREADS, 1)
gemm(const __grid_constant__ CUtensorMap mx, const __grid_constant__ CUtensorMap mw,
     const __grid_constant__ CUtensorMap ms, const __grid_constant__ CUtensorMap mb,
     const __grid_constant__ Args a) {
  extern __shared__ unsigned char memory[];
  Shared<C> sh{(smem_u32(memory) + 1023) & ~1023u};
  int t = threadIdx.x;
  stamp<C>(a, 0);
  if (t == C::THREADS - 128) {
    for (int s = 0; s < C::XST; s++) {
      mbar_init(sh.xfull(s), 1);
      mbar_init(sh.xempty(s), C::WARPS * C::CM);
    }
    for (int s = 0; s < C::WST; s++) {
      mbar_init(sh.wfull(s), 1);
      mbar_init(sh.wempty(s), 4 * (C::DEC ? C::DEC : C::NWG));
    }
    for (int s = 0; s < C::CST; s++) {
      mbar_init(sh.cfull(s), 1);
      mbar_init(sh.cempty(s), 4 * (C::DEC ? C::DEC : C::NWG));
    }
    for (int s = 0; s < C::DST; s++) {
      mbar_init(sh.dfull(s), 4 * C::DEC);
      mbar_init(sh.dempty(s), C::WARPS);
    }
    if (C::MAIL) {
      int part = cluster_rank() / C::CM, own = C::PAIRS * (part + 1) / C::S - C::PAIRS * part / C::S;
      mbar_init(sh.posted(), 1);
      mbar_expect(sh.posted(), (C::S - 1) * own * 2 * C::MT * 128 * C::WGS * 16);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  } else if (t == 0) {
    prefetch_map(&mx);
    prefetch_map(&mw);
    if (C::INT4) prefetch_map(&ms), prefetch_map(&mb);
  }
  __syncthreads();
  if (C::CLUSTER > 1) {
    cluster_arrive();
    // Copies to other blocks need their barriers; mail is sent much later.
    if (C::CM > 1) {
      cluster_wait();
      if (C::MAIL) cluster_arrive();
    }
  }
  if (t >= C::THREADS - 128) {
    if (C::NWG + C::DEC == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (C::NWG + C::DEC == 3) asm volatile("setmaxnreg.dec.sync.aligned.u32 32;");
    if (C::NWG + C::DEC == 4) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (t == C::THREADS - 128) produce_x<C>(a, sh, &mx, &mw);
    if (C::INT4 && C::ABL < 2 && t == C::THREADS - 128 + 32) produce_w<C>(a, sh, &mw);
    if (C::INT4 && C::ABL < 2 && t == C::THREADS - 128 + 64) produce_scales<C>(a, sh, &ms, &mb);
    __syncwarp();
    if (C::MAIL) cluster_wait();
  } else if (C::DEC && t >= 128 * C::NWG) {
    if (C::NWG + C::DEC == 2) asm volatile("setmaxnreg.dec.sync.aligned.u32 96;");
    if (C::NWG + C::DEC == 3) asm volatile("setmaxnreg.dec.sync.aligned.u32 88;");
    if (C::NWG + C::DEC == 4) asm volatile("setmaxnreg.dec.sync.aligned.u32 80;");
    if constexpr (C::DEC > 0) decode_to_shared<C>(a, sh);
    __syncwarp();
    if (C::MAIL) cluster_wait();
  } else {
    if (C::NWG + C::DEC == 2) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if (C::NWG + C::DEC == 3) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::DEC ? 184 : 160));
    if (C::NWG + C::DEC == 4) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::DEC ? 144 : 112));
    if (C::ORD && t / 128 == C::NWG - 1) bar_arrive(1, 256);
    Ring<C::XST> xr;
    Ring<C::WST ? C::WST : 1> wr;
    Ring<C::CST ? C::CST : 1> cr;
    Ring<C::DST ? C::DST : 1> dr;
    Walk<C> walk(a);
    Work w;
    while (walk.get(w)) {
      float d[C::MT][C::BN / 2];
#pragma unroll
      for (int mt = 0; mt < C::MT; mt++)
#pragma unroll
        for (int i = 0; i < C::BN / 2; i++) d[mt][i] = 0;
      stamp<C>(a, 1);
      if (C::STAMPS) mbar_wait(sh.xfull(0), 0);
      stamp<C>(a, 2);
      if constexpr (C::DEC > 0) sums_shared<C>(d, w.n, sh, xr, dr);
      else if constexpr (C::TURNS) sums_turns<C>(d, w.k0, w.n, sh, xr, wr, cr);
      else if constexpr (C::INT4) sums_int4<C>(d, w.k0, w.n, sh, xr, wr, cr);
      else sums_bf16<C>(d, w.n, sh, xr);
      stamp<C>(a, 3);
      if constexpr (C::KT > 1) {
        int lo, hi;
        add_sets<C>(d, sh, lo, hi);
        if constexpr (C::S == 1) store<C>(d, a, sh, row_of<C>(a, w), token_of<C>(a, w), lo, hi);
        else if (t < 128 * C::WGS) finish<C>(d, a, sh, w);
        else if (C::MAIL) cluster_wait();
      } else finish<C>(d, a, sh, w);
      stamp<C>(a, 4);
    }
  }
  // Blocks of a cluster write to one another's memory until all are done.
  if (C::CM > 1) {
    __syncwarp();
    cluster_arrive();
    cluster_wait();
  }
}
