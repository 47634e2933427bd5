// Products of warps and of warpgroups. See ptx.h.
#ifndef MNKBENCH_PTX_MMA
#define MNKBENCH_PTX_MMA
#include "ptx.h"

// A warp's product on tensor cores, and its operands from and to shared memory.
//
// PTX ISA: "mma.m16n8k16 with floating point type" (fragment layouts), "ldmatrix", "stmatrix".

// Four 8 x 8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8,
// a multiple of 16. A lane has columns 2 (l % 4) + {0, 1} of row l / 4 of each, or, transposed,
// these rows of column l / 4.
template <bool TRANSPOSED>
DEVICE void ldmatrix(unsigned (&r)[4], unsigned from) {
  if (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(from) : "memory");
}
// The inverse of ldmatrix<true>. sm_90.
DEVICE void stmatrix_transposed(unsigned to, const unsigned (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

// 16 x 8 += 16 x 16 . 16 x 8 of 16-bit operands, fp32 sums. Lane l has columns 2 (l % 4) + {0, 1}
// of row l / 4 of the sums in `top` and of row l / 4 + 8 in `low`; of the first operand four
// pairs of k = 2 (l % 4) + {0, 1}: rows l / 4 and l / 4 + 8, and both again 8 k on; of the second,
// column l / 4, such a pair and the one 8 k on.
DEVICE void mma_f16(float* top, float* low, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(low[0]), "+f"(low[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
DEVICE void mma_bf16(float* top, float* low, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(top[0]), "+f"(top[1]), "+f"(low[0]), "+f"(low[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Asynchronous products of a warpgroup on sm_90a: 64 x N += 64 x 16 . 16 x N, 16-bit operands,
// fp32 sums. The second operand is in shared memory, the first in registers or there too.
//
// Fragments: lane l of warp w has rows r = 16 w + l / 4 and r + 8; of the first operand columns
// 2 (l % 4) + {0, 1, 8, 9} as a[0] = (r, low), a[1] = (r + 8, low), a[2] = (r, high), a[3]; of
// the sums columns 8 i + 2 (l % 4) + {0, 1} in d[4 i], d[4 i + 1] for r and the next two for
// r + 8. PTX ISA: "wgmma.mma_async" (register fragments, matrix descriptor), "fence.proxy".

// Registers that the products read or add to are not touched by the compiler across these.
DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until at most PENDING groups of products are under way, the last ones.
template <int PENDING>
DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// Products to come see what the calling thread stored to shared memory, or copied there and waited
// for, other than in bulk: each thread says so of its own, before the barrier that tells others.
DEVICE void show_products() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Describes an operand whose rows (of the second: columns) have their K side by side: 64 elements,
// 128 bytes, whose 16-byte chunks are permuted by the row (XOR with row % 8). Groups of eight rows
// follow one another, the first at a multiple of 1024 bytes. Of the 64 elements of K the product
// number `product` has 16.
DEVICE unsigned long long descriptor(unsigned address, int product) {
  return 1ull << 62 | 64ull << 32 | ((address >> 4) + (1 << 16) + 2 * product);
}

#define D8 "%0,%1,%2,%3"
#define D16 D8 ",%4,%5,%6,%7"
#define D24 D16 ",%8,%9,%10,%11"
#define D32 D24 ",%12,%13,%14,%15"
#define D40 D32 ",%16,%17,%18,%19"
#define D48 D40 ",%20,%21,%22,%23"
#define D56 D48 ",%24,%25,%26,%27"
#define D64 D56 ",%28,%29,%30,%31"
#define D72 D64 ",%32,%33,%34,%35"
#define D80 D72 ",%36,%37,%38,%39"
#define D88 D80 ",%40,%41,%42,%43"
#define D96 D88 ",%44,%45,%46,%47"
#define D104 D96 ",%48,%49,%50,%51"
#define D112 D104 ",%52,%53,%54,%55"
#define D120 D112 ",%56,%57,%58,%59"
#define D128 D120 ",%60,%61,%62,%63"
#define D136 D128 ",%64,%65,%66,%67"
#define D144 D136 ",%68,%69,%70,%71"
#define D152 D144 ",%72,%73,%74,%75"
#define D160 D152 ",%76,%77,%78,%79"
#define D168 D160 ",%80,%81,%82,%83"
#define D176 D168 ",%84,%85,%86,%87"
#define D184 D176 ",%88,%89,%90,%91"
#define D192 D184 ",%92,%93,%94,%95"
#define D200 D192 ",%96,%97,%98,%99"
#define D208 D200 ",%100,%101,%102,%103"
#define D216 D208 ",%104,%105,%106,%107"
#define D224 D216 ",%108,%109,%110,%111"
#define D232 D224 ",%112,%113,%114,%115"
#define D240 D232 ",%116,%117,%118,%119"
#define D248 D240 ",%120,%121,%122,%123"
#define D256 D248 ",%124,%125,%126,%127"
#define R8 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define R16 R8, \
  "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define R24 R16, \
  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define R32 R24, \
  "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define R40 R32, \
  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define R48 R40, \
  "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define R56 R48, \
  "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define R64 R56, \
  "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define R72 R64, \
  "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define R80 R72, \
  "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define R88 R80, \
  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define R96 R88, \
  "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define R104 R96, \
  "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define R112 R104, \
  "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define R120 R112, \
  "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define R128 R120, \
  "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define R136 R128, \
  "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define R144 R136, \
  "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define R152 R144, \
  "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define R160 R152, \
  "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define R168 R160, \
  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define R176 R168, \
  "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define R184 R176, \
  "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define R192 R184, \
  "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define R200 R192, \
  "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define R208 R200, \
  "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define R216 R208, \
  "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define R224 R216, \
  "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define R232 R224, \
  "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define R240 R232, \
  "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define R248 R240, \
  "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define R256 R248, \
  "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// `b`, and `a` where it is no registers: descriptors. The sums must have values, 0 at first: those
// that only a product's flag starts would be live, and have registers, wherever they are not.
template <int N> DEVICE void wgmma(float (&d)[N / 2], const unsigned* a, unsigned long long b);
template <int N>
DEVICE void wgmma_bf16(float (&d)[N / 2], const unsigned* a, unsigned long long b);
template <int N>
DEVICE void wgmma_f16(float (&d)[N / 2], unsigned long long a, unsigned long long b);
template <int N>
DEVICE void wgmma_bf16(float (&d)[N / 2], unsigned long long a, unsigned long long b);
// 64 x N += 64 x 32 . 32 x N of E4M3, fp32 sums of about 14 bits; where `add` is 0 what the sums
// were is dropped. A descriptor's product is 32 elements, as many bytes as of 16-bit ones.
template <int N>
DEVICE void wgmma_e4m3(float (&d)[N / 2], unsigned long long a, unsigned long long b, int add);

#define WGMMA_SHARED(N, TYPE, A, B)                                                              \
  template <>                                                                                    \
  DEVICE void wgmma_##TYPE<N>(float (&d)[N / 2], unsigned long long a, unsigned long long b) {   \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE               \
                 " {" D##N "}, %" #A ", %" #B ", p, 1, 1, 0, 0; }" : R##N : "l"(a), "l"(b));     \
  }
#define WGMMA_E4M3(N, A, B, ADD)                                                                 \
  template <>                                                                                    \
  DEVICE void wgmma_e4m3<N>(float (&d)[N / 2], unsigned long long a, unsigned long long b,       \
                            int add) {                                                           \
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %" #ADD ", 0;\n"                                \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k32.f32.e4m3.e4m3"                      \
                 " {" D##N "}, %" #A ", %" #B ", p, 1, 1; }" : R##N : "l"(a), "l"(b), "r"(add)); \
  }
#define WGMMA_REGISTERS(N, NAME, TYPE, F, F1, F2, F3, F4)                                        \
  template <>                                                                                    \
  DEVICE void wgmma##NAME<N>(float (&d)[N / 2], const unsigned* a, unsigned long long b) {       \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE               \
                 " {" D##N "}, {%" #F ", %" #F1 ", %" #F2 ", %" #F3 "}, %" #F4                   \
                 ", p, 1, 1, 0; }"                                                               \
                 : R##N                                                                          \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                          \
  }
// F: the number of the first operand after the sums.
#define WGMMA(N, F, F1, F2, F3, F4)                                                              \
  WGMMA_REGISTERS(N, , f16, F, F1, F2, F3, F4)                                                   \
  WGMMA_REGISTERS(N, _bf16, bf16, F, F1, F2, F3, F4)                                             \
  WGMMA_SHARED(N, f16, F, F1)                                                                    \
  WGMMA_SHARED(N, bf16, F, F1)                                                                   \
  WGMMA_E4M3(N, F, F1, F2)
WGMMA(8, 4, 5, 6, 7, 8)
WGMMA(16, 8, 9, 10, 11, 12)
WGMMA(24, 12, 13, 14, 15, 16)
WGMMA(32, 16, 17, 18, 19, 20)
WGMMA(40, 20, 21, 22, 23, 24)
WGMMA(48, 24, 25, 26, 27, 28)
WGMMA(56, 28, 29, 30, 31, 32)
WGMMA(64, 32, 33, 34, 35, 36)
WGMMA(72, 36, 37, 38, 39, 40)
WGMMA(80, 40, 41, 42, 43, 44)
WGMMA(88, 44, 45, 46, 47, 48)
WGMMA(96, 48, 49, 50, 51, 52)
WGMMA(104, 52, 53, 54, 55, 56)
WGMMA(112, 56, 57, 58, 59, 60)
WGMMA(120, 60, 61, 62, 63, 64)
WGMMA(128, 64, 65, 66, 67, 68)
WGMMA(136, 68, 69, 70, 71, 72)
WGMMA(144, 72, 73, 74, 75, 76)
WGMMA(152, 76, 77, 78, 79, 80)
WGMMA(160, 80, 81, 82, 83, 84)
WGMMA(168, 84, 85, 86, 87, 88)
WGMMA(176, 88, 89, 90, 91, 92)
WGMMA(184, 92, 93, 94, 95, 96)
WGMMA(192, 96, 97, 98, 99, 100)
WGMMA(200, 100, 101, 102, 103, 104)
WGMMA(208, 104, 105, 106, 107, 108)
WGMMA(216, 108, 109, 110, 111, 112)
WGMMA(224, 112, 113, 114, 115, 116)
WGMMA(232, 116, 117, 118, 119, 120)
WGMMA(240, 120, 121, 122, 123, 124)
WGMMA(248, 124, 125, 126, 127, 128)
WGMMA(256, 128, 129, 130, 131, 132)

#endif
