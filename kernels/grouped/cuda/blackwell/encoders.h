/* The numbers that tcgen05 reads, and where things lie: descriptors, the swizzle, the columns of
 * tensor memory, the phases of the ring. For CUDA and, so that tests may check them without a GPU,
 * for C.
 *
 * PTX ISA: "tcgen05 matrix descriptors" (tables of the shared memory descriptor and of the
 * instruction descriptor for .kind::mxf4nvf4), "Canonical layouts", "Block scaling".
 */
#ifndef BLACKWELL_ENCODERS_H
#define BLACKWELL_ENCODERS_H
#include "../../../common/mutant.h"

#ifdef __cplusplus
#ifndef __CUDACC__
#define __device__
#endif
#define ENCODER static constexpr __device__ inline
#else
#define ENCODER static inline __attribute__((unused))
#endif

enum {
  ROWS = 128,  /* of weights, of a product: the only number that FP4 has in a block */
  SLAB = 64,   /* elements of K of a product: 32 bytes of a row, four scales */
  SLABS = 4,   /* of a step: a row of them is a row of the swizzle */
  LINE = 128,  /* bytes of that row */
  ATOM = 512,  /* bytes of the scales of 128 rows and a slab, as stored */
  ATOM_COLUMNS = 4, /* of tensor memory */
  BARRIER = 8
};

/* An address or a stride: 18 bits in units of 16 bytes. */
ENCODER unsigned long long descriptor_field(unsigned bytes) { return (bytes & 0x3ffff) >> 4; }

/* Rows of 128 bytes, swizzled by 128 bytes, K innermost: 8 rows are 1024 bytes. The leading
 * dimension is not used, and 1 by convention. `stage`: shared address, a multiple of 1024. */
ENCODER unsigned long long operand_descriptor(unsigned stage, int slab) {
  return descriptor_field(stage + slab * 32) | 1ull << 16 | descriptor_field(8 * LINE) << 32 |
         1ull << 46 /* always */ | 2ull << 61 /* the swizzle */;
}
/* Where chunk `chunk` of 16 bytes of a row goes: bits 4-6 of an address, xor bits 7-9. */
ENCODER int operand_offset(int row, int chunk) {
  return row * LINE + ((chunk ^ row % (8 >> MUTANT(blackwell_half_swizzle))) << 4);
}

/* An atom of scales as stored: 32 rows of 16 bytes, of which 8 are 128 bytes; no swizzle. */
ENCODER unsigned long long scale_descriptor(unsigned address) {
  return descriptor_field(address) | descriptor_field(8 * 16) << 32 | 1ull << 46;
}

/* E2M1 by E2M1 (1 each), scales UE4M3 (0) whose four bytes are all used (ids 0), dense, K = 64. */
ENCODER unsigned instruction_descriptor(int rows, int cols) {
  return 1u << 7 | 1u << 10 | (unsigned)cols >> 3 << 17 | (unsigned)rows >> 7 << 27;
}

/* Lane and column of tensor memory, from what was allocated. */
ENCODER unsigned tensor_address(unsigned base, int lane, int column) {
  return base + ((unsigned)lane << 16) + column;
}

/* Atoms of token scales: tiles of more than 64 tokens start where an atom does, or end there. */
ENCODER int token_atoms(int maxn) { return (maxn + 127) / 128; }

/* A stage of a block, of `group` that have a tile: weights, its part of the tokens, scales of weights by slab, scales of tokens by atom, then slab. */
ENCODER int tokens_offset(void) { return ROWS * LINE; }
ENCODER int weight_scales_offset(int maxn, int group, int slab) {
  return tokens_offset() + maxn / group * LINE + slab * ATOM;
}
ENCODER int token_scales_offset(int maxn, int group, int atom, int slab) {
  return weight_scales_offset(maxn, group, SLABS) + (atom * SLABS + slab) * ATOM;
}
ENCODER int stage_bytes(int maxn, int group) { return token_scales_offset(maxn, group, token_atoms(maxn), 0); }

/* Shared memory: the stages, two barriers for each, one for the sums, an address. */
ENCODER int full_offset(int maxn, int group, int stages, int index) {
  return stages * stage_bytes(maxn, group) + index * BARRIER;
}
ENCODER int empty_offset(int maxn, int group, int stages, int index) {
  return full_offset(maxn, group, stages, stages + index);
}
ENCODER int done_offset(int maxn, int group, int stages) { return full_offset(maxn, group, stages, 2 * stages); }
ENCODER int address_offset(int maxn, int group, int stages) { return done_offset(maxn, group, stages) + BARRIER; }
ENCODER int shared_bytes(int maxn, int group, int stages) { return address_offset(maxn, group, stages) + BARRIER; }

/* Tensor memory: a column for each token's sums, then the scales of each stage. They are written
 * once the products of the stage's last use are done, as its shared memory is: the order of a
 * product and a copy to tensor memory after it is not defined. Row r's scales of a slab are in
 * lane r % 32, column r / 32, so that the atoms of a slab must lie side by side. */
ENCODER int stage_columns(int maxn) { return SLABS * ATOM_COLUMNS * (1 + token_atoms(maxn)); }
ENCODER int weight_scales_column(int maxn, int index, int slab) {
  return maxn + index * stage_columns(maxn) + slab * ATOM_COLUMNS;
}
ENCODER int token_scales_column(int maxn, int index, int slab, int atom) {
  return weight_scales_column(maxn, index, SLABS) +
         (slab * token_atoms(maxn) + atom) * ATOM_COLUMNS;
}
/* Columns before a tile's first token in its first atom: 0 or 2, as tiles start at 64s. */
ENCODER int token_shift(int token) { return token % 128 / (32 << MUTANT(blackwell_half_shift)); }
/* What is allocated: a power of two, 32 at least. */
ENCODER int tensor_columns(int maxn, int stages) {
  int all = maxn + stages * stage_columns(maxn), columns = 32;
  while (columns < all) columns *= 2;
  return columns;
}

/* The ring: where step `step` is, and the parities of the phases that it waits for. A barrier that
 * was just made is in phase 0, so that parity 1 counts as over: the first stages are free. */
ENCODER int ring_index(int step, int stages) { return step % stages; }
ENCODER int full_parity(int step, int stages) { return step / stages % 2; }
ENCODER int empty_parity(int step, int stages) { return full_parity(step, stages) ^ 1; }

#endif
