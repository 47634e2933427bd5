// The list of compiled variants and the rule that maps a shape to a grid.
#pragma once
#include <string>
#include <vector>
#include "gemm.cuh"

typedef CUresult (*PFN_encode)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                               const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

struct Variant {
  std::string name;
  bool int4;
  int R, BN, CM, S, red, abl, cluster, threads, smem, kt, kn;
  const void* kernel;
};
template <class C> Variant variant() {
  // rows x tokens, cM: multicast group, sS: split (stream-K: sk), d: mailboxes, i: decoding
  // between products, tKT: sets that take turns along K (b: two operands, o: products in turns),
  // mDEC: decoding warpgroups write to shared memory, kn: x W
  std::string name = (C::INT4 ? "q-" : "f-") + std::to_string(C::R) + "x" + std::to_string(C::BN) + (C::MT == 2 && C::WGS == 1 ? "w1" : "") + "-c" + std::to_string(C::CM) +
                     (C::S == 0 ? "-sk" : "-s" + std::to_string(C::S)) + (C::RED ? "d" : "") + (C::INTER ? "-i" : "") +
                     (C::TURNS ? "-t" + std::to_string(C::KT) + (C::BUF == 2 ? "b" : "") + (C::ORD ? "o" : "") : "") +
                     (C::DEC ? "-m" + std::to_string(C::DEC) : "") + (C::KN ? "-kn" : "") +
                     (C::ABL ? "-abl" + std::to_string(C::ABL) : "") + (C::STAMPS ? "-stamps" : "");
  return {name, C::INT4, C::R, C::BN, C::CM, C::S, C::RED, C::STAMPS ? 3 : C::ABL, C::CLUSTER, C::THREADS, C::SMEM, C::TURNS ? C::KT : 0, C::KN, (const void*)gemm<C>};
}
extern std::vector<Variant> VARIANTS;

struct Plan { int token_tiles, tiles, items, G, grid; };
inline bool plan_for(const Variant& v, int M, int N, int K, Plan& p) {
  const int SMS = 132;
  // Tiles with more than twice the tokens that there are, or half of them, are left out.
  if (v.BN >= 2 * M && v.BN > 32) return false;
  int row_tiles = (N + v.R - 1) / v.R;
  if (row_tiles < v.CM) return false;
  p.token_tiles = (M + v.BN - 1) / v.BN;
  p.tiles = (row_tiles + v.CM - 1) / v.CM * p.token_tiles;
  if (p.token_tiles > 1 && v.BN < 64 && !(M <= 256 && N <= 512) && !(v.kt && M <= 128)) return false;
  if (v.BN == 64 && M > 512) return false;
  // The sums of the sets lie where x was: one tile a block.
  if (v.kt > 1 && v.S == 1 && p.tiles > SMS) return false;
  int KS = K / 64, most = SMS / v.CM;
  if (v.S == 0) {
    p.items = 0, p.G = most;
    if (p.tiles * KS < 2 * p.G || p.tiles % p.G == 0) return false;
    // Fewer than a third of the steps of a tile: the sums would cost too much.
    if (p.tiles * 3 < p.G) return false;
  } else if (v.S == 1) {
    p.items = p.tiles, p.G = p.tiles < most ? p.tiles : most;
    if (p.tiles * v.CM < 40) return false;
    // Time stamps are of blocks with one tile: they wait for the first stage's first phase.
    if (v.abl == 3 && p.tiles > p.G) return false;
  } else {
    p.items = p.tiles * (v.red ? 1 : v.S), p.G = p.items;
    // Clusters that an H200 holds at once, by cudaOccupancyMaxActiveClusters.
    int fits = v.cluster == 1 ? 132 : v.cluster == 2 ? 66 : v.cluster == 3 ? 39 : v.cluster == 4 ? 30 : v.cluster == 6 ? 17 : 15;
    if (p.G > fits || KS / v.S < (v.kt > 3 ? v.kt : 3)) return false;
    if (p.G * v.cluster < 44) return false;
  }
  p.grid = p.G * v.cluster;
  return true;
}
