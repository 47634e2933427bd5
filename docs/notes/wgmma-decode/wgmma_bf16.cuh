// wgmma of bf16 operands with fp32 sums, 64 x N x 16: A from shared memory (descriptor) or from
// registers. The macros list the accumulator operands; N is the number of tokens of the tile.
#pragma once
#include <stdint.h>

template <int N> __device__ __forceinline__ void wgmma_ss(float (&d)[N / 2], uint64_t a, uint64_t b);
// A is [k][64] in shared memory instead of [64][k].
template <int N> __device__ __forceinline__ void wgmma_ts(float (&d)[N / 2], uint64_t a, uint64_t b);
template <int N>
__device__ __forceinline__ void wgmma_rs(float (&d)[N / 2], const uint32_t* a, uint64_t b);

#define WD32 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define WR32 \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),  \
  "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),  \
  "+f"(d[14]), "+f"(d[15])
#define WD64 WD32 "," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WR64 WR32, \
  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]),  \
  "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]),  \
  "+f"(d[30]), "+f"(d[31])
#define WD96 WD64 "," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define WR96 WR64, \
  "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]),  \
  "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]),  \
  "+f"(d[46]), "+f"(d[47])
#define WD128 WD96 "," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WR128 WR96, \
  "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]),  \
  "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]),  \
  "+f"(d[62]), "+f"(d[63])
#define WD160 WD128 "," \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define WR160 WR128, \
  "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]),  \
  "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]),  \
  "+f"(d[78]), "+f"(d[79])
#define WD176 WD160 "," \
  "%80,%81,%82,%83,%84,%85,%86,%87"
#define WR176 WR160, \
  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]),  \
  "+f"(d[87])
#define WD192 WD176 "," \
  "%88,%89,%90,%91,%92,%93,%94,%95"
#define WR192 WR176, \
  "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]),  \
  "+f"(d[95])
#define WD256 WD192 "," \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113," \
  "%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define WR256 WR192, \
  "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]),  \
  "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]),  \
  "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]),  \
  "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),  \
  "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]),  \
  "+f"(d[126]), "+f"(d[127])

#define WGMMA(N, F, F1, F2, F3, F4)                                                             \
  template <>                                                                                   \
  __device__ __forceinline__ void wgmma_ss<N>(float (&d)[N / 2], uint64_t a, uint64_t b) {      \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                       \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" WD##N "}, %" #F   \
                 ", %" #F1 ", p, 1, 1, 0, 0; }" : WR##N : "l"(a), "l"(b));                      \
  }                                                                                             \
  template <>                                                                                   \
  __device__ __forceinline__ void wgmma_ts<N>(float (&d)[N / 2], uint64_t a, uint64_t b) {      \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                       \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" WD##N "}, %" #F   \
                 ", %" #F1 ", p, 1, 1, 1, 0; }" : WR##N : "l"(a), "l"(b));                      \
  }                                                                                             \
  template <>                                                                                   \
  __device__ __forceinline__ void wgmma_rs<N>(float (&d)[N / 2], const uint32_t* a, uint64_t b) { \
    asm volatile("{ .reg .pred p; setp.eq.s32 p, 0, 0;\n"                                       \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" WD##N "}, {%" #F  \
                 ", %" #F1 ", %" #F2 ", %" #F3 "}, %" #F4 ", p, 1, 1, 0; }"                     \
                 : WR##N : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                 \
  }
WGMMA(32, 16, 17, 18, 19, 20)
WGMMA(64, 32, 33, 34, 35, 36)
WGMMA(96, 48, 49, 50, 51, 52)
WGMMA(128, 64, 65, 66, 67, 68)
WGMMA(160, 80, 81, 82, 83, 84)
WGMMA(176, 88, 89, 90, 91, 92)
WGMMA(192, 96, 97, 98, 99, 100)
WGMMA(256, 128, 129, 130, 131, 132)
