// kernels/device/ptx_mma.h for the lane emulator: the same names, on a CPU. See cuda.h.
//
// Lane maps: PTX ISA, "mma.m16n8k16 with floating point type", "ldmatrix", "stmatrix".
// backends/cuda/lanes_test.ts compares them with one-hot matrices.
#ifndef MNKBENCH_PTX_MMA
#define MNKBENCH_PTX_MMA
#include "ptx.h"

// A row of a matrix of 8 x 8, as it lies in memory.
struct EmuRow {
  unsigned short at[8];
};
// Every lane reads the row that it has the address of.
template <bool TRANSPOSED> HIDDEN void ldmatrix(unsigned (&r)[4], unsigned from) {
  EmuRow mine;
  const void *p = emu_pointer(from);
  emu_access(p, 16, EMU_UNWRITTEN);
  memcpy(&mine, p, 16);
  auto all = (const unsigned char(*)[64])emu_share(TRANSPOSED ? "ldmatrix.trans" : "ldmatrix", &mine, 16);
  unsigned lane = emu_lane();
  for (int i = 0; i < 4; i++) {
    unsigned short x[2];
    for (int h = 0; h < 2; h++) {
      unsigned across = lane / 4, along = lane % 4 * 2 + h;
      unsigned row = TRANSPOSED ? along : across, col = TRANSPOSED ? across : along;
      x[h] = ((const EmuRow *)all[8 * i + row])->at[col];
    }
    r[i] = emu_pair(x[0], x[1]);
  }
}
// Every lane writes the row that it has the address of.
HIDDEN inline void stmatrix_transposed(unsigned to, const unsigned (&r)[4]) {
  auto all = (const unsigned char(*)[64])emu_share("stmatrix.trans", r, 16);
  unsigned lane = emu_lane(), matrix = lane / 8, row = lane % 8;
  EmuRow mine;
  for (unsigned col = 0; col < 8; col++) {
    // The elements of a register are consecutive rows of a column.
    unsigned word = ((const unsigned *)all[4 * col + row / 2])[matrix];
    mine.at[col] = word >> 16 * (row % 2);
  }
  void *p = emu_pointer(to);
  emu_access(p, 16, EMU_WRITE);
  memcpy(p, &mine, 16);
}

struct EmuFragments {
  unsigned a[4], b[2];
};
template <float (*WIDEN)(unsigned short)>
HIDDEN void emu_mma(const char *what, float *top, float *low, const unsigned *a, const unsigned *b) {
  EmuFragments mine;
  memcpy(mine.a, a, 16), memcpy(mine.b, b, 8);
  auto all = (const unsigned char(*)[64])emu_share(what, &mine, sizeof mine);
  unsigned lane = emu_lane();
  float left[2][16], right[2][16];
  for (unsigned k = 0; k < 16; k++) {
    // Four lanes have a row or a column; pairs of k in the same half are 8 apart in registers.
    unsigned of = k % 8 / 2, half = k / 8, shift = 16 * (k % 2);
    for (unsigned i = 0; i < 2; i++) {
      left[i][k] = WIDEN(((const EmuFragments *)all[lane / 4 * 4 + of])->a[i + 2 * half] >> shift);
      right[i][k] = WIDEN(((const EmuFragments *)all[(lane % 4 * 2 + i) * 4 + of])->b[half] >> shift);
    }
  }
  for (unsigned i = 0; i < 4; i++) {
    double sum = 0;
    for (unsigned k = 0; k < 16; k++) sum += (double)left[i / 2][k] * right[i % 2][k];
    float &to = i < 2 ? top[i] : low[i - 2];
    to = (float)(to + sum);
  }
}
DEVICE void mma_f16(float *top, float *low, const unsigned *a, const unsigned *b) {
  emu_mma<emu_from_f16>("mma_f16", top, low, a, b);
}
DEVICE void mma_bf16(float *top, float *low, const unsigned *a, const unsigned *b) {
  emu_mma<emu_from_bf16>("mma_bf16", top, low, a, b);
}

#endif
