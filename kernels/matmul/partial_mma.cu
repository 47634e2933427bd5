// The partial products of K slices on tensor cores, 16-bit operands, fp32 sums.
//
// Idea: with M and N far below K, output tiles alone leave most of the GPU idle; slices of K
// become blocks too, each writing its own fp32 product, summed by a second kernel. Within a
// tile too small for its warps, warps take turns on the k16 steps.
//
//   A [M, K], rows lda apart   B [K, N] (nn) or [N, K] (nt), rows ldb apart
//   P [K / slice, M, N] fp32   block 32 * WARPS, STAGES * (BM + BN) * BK * 2 bytes
//
// PTX ISA: "ldmatrix", "mma.m16n8k16 with floating point type" (fragment layouts).
#include "partial.cuh"

template <class T> __device__ void mma(Pack<float, 2>& top, Pack<float, 2>& low,
                                       const unsigned (&a)[4], const unsigned* b);
#define MMA(T, NAME)                                                                           \
  template <> __device__ inline void mma<T>(Pack<float, 2>& top, Pack<float, 2>& low,          \
                                            const unsigned (&a)[4], const unsigned* b) {       \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." NAME "." NAME ".f32 "                         \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                      \
        : "+f"(top.at[0]), "+f"(top.at[1]), "+f"(low.at[0]), "+f"(low.at[1])                   \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                   \
  }
MMA(bf16, "bf16")
MMA(f16, "f16")

// Four 8 x 8 matrices; lane l gives the address of row l % 8 of matrix l / 8.
template <bool TRANSPOSED>
__device__ inline void ldmatrix(unsigned (&r)[4], unsigned from) {
  if (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}

// A warp's WM x WN of sums. A slot is two columns of a row.
struct Product {
  using TileB = Tile<NT ? BN : BK, NT ? BK : BN>;
  using Vec = Pack<float, 2>;
  static constexpr int MT = WM / 16, NT8 = WN / 8, SLOTS = MT * NT8 * 2;
  Vec part[SLOTS] = {};
  int m, n, k, lane;

  __device__ Product(int m, int n, int k, int lane) : m(m), n(n), k(k), lane(lane) {}

  __device__ void step(unsigned a, unsigned b) {
    static_assert(BK % (16 * WK) == 0, "every warp has k16 steps");
#pragma unroll
    for (int i = 0; i < BK / 16 / WK; i++) {
      int k16 = i * WK + k;
      unsigned fa[MT][4], fb[NT8 / 2][4];
#pragma unroll
      for (int t = 0; t < MT; t++)
        ldmatrix<false>(fa[t], a + TileA::at(m + t * 16 + lane % 16, k16 * 2 + lane / 16));
#pragma unroll
      for (int t = 0; t < NT8 / 2; t++) {
        int col = n + t * 16;
        ldmatrix<!NT>(fb[t], b + (NT ? TileB::at(col + lane % 8 + lane / 16 * 8,
                                                 k16 * 2 + lane / 8 % 2)
                                     : TileB::at(k16 * 16 + lane % 16, col / 8 + lane / 16)));
      }
#pragma unroll
      for (int t = 0; t < MT; t++)
#pragma unroll
        for (int u = 0; u < NT8; u++) {
          Vec* c = part + (t * NT8 + u) * 2;
          mma<TYPE>(c[0], c[1], fa[t], fb[u / 2] + u % 2 * 2);
        }
    }
  }

  __device__ int row(int slot) const {
    return m + slot / 2 / NT8 * 16 + slot % 2 * 8 + lane / 4;
  }
  __device__ int col(int slot) const { return n + slot / 2 % NT8 * 8 + lane % 4 * 2; }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
partial_mma(const TYPE* A, const TYPE* B, float* P, int M, int N, int slice, int lda, int ldb,
            int groups, int whole) {
  partial<Product>(A, B, P, M, N, slice, lda, ldb, groups, whole);
}
