// A tile of an operand in shared memory, and how a block copies it there, or a warp.
//
// Compile-time: warp_tiling.cuh's.
#ifndef MNKBENCH_TILE
#define MNKBENCH_TILE
#include "../../../common/mutant.h"
#include "../../../device/ptx_copy.h"
#include "../../../device/ptx_memory.h"
#include "warp_tiling.cuh"

// ROWS x COLS elements as stored, BOX columns after BOX columns. The chunks of a row are permuted
// by the row (XOR), so that eight rows' chunks of one column lie in different banks; rows that are
// read together may be 2^APART apart.
template <int ROWS, int COLS, int APART = 0, int BOX = COLS>
struct Tile {
  static constexpr int CHUNKS = COLS / PER, ALL = ROWS * CHUNKS, LINE = BOX / PER;
  static constexpr int BYTES = ALL * 16, TURNS = (ALL + COPIERS - 1) / COPIERS;
  static constexpr int WIDE = LINE < 8 ? LINE : 8;
  static constexpr bool POWERS = (CHUNKS & CHUNKS - 1) == 0 && (COPIERS & COPIERS - 1) == 0;
  static_assert(POWERS, "a turn adds bits to a thread's row and chunk that it has not");
  static_assert(BOX == COLS || COPIERS % CHUNKS == 0, "a thread has the same chunk in all turns");

  __host__ __device__ static constexpr unsigned flips(unsigned row) {
    return (row >> APART) / (8 / WIDE) % WIDE;
  }
  // Bytes from the start of the tile to a chunk.
  __device__ static unsigned at(unsigned row, unsigned chunk) {
    if (BOX == COLS) return (row * CHUNKS + (chunk ^ flips(row))) * 16;
    unsigned box = MUTANT(tile_one_box) ? 0 : chunk / LINE;
    unsigned flip = MUTANT(tile_no_swizzle) ? 0 : flips(row);
    return ((box * ROWS + row) * LINE + (chunk % LINE ^ flip)) * 16;
  }

  // A thread's first chunk: where it is and where it goes. All others are constants away, as the
  // first load of a block waits for what is computed before it. All threads take one row after
  // another: memory answers long runs faster than many short ones.
  struct Own {
    unsigned row, chunk, to;
    const TYPE* from;
    __device__ Own(unsigned tile, const TYPE* all, int ld)
        : row(copier() / CHUNKS), chunk(copier() % CHUNKS), to(tile + at(row, chunk)),
          from(all + below(row, ld) + chunk * PER) {}
  };

  // Starts to copy the tile `down` rows and `right` columns into the operand, `stage` bytes into
  // the ring. Of it `rows` x `cols` exist, all if EVEN; the rest is 0. WHOLE: chunks start on 16
  // bytes, and each exists wholly or not at all.
  template <bool WHOLE, bool EVEN>
  __device__ static void copy(const Own& own, unsigned stage, int down, int right, int ld, int rows,
                              int cols) {
    constexpr int UNROLL = !WHOLE ? 1 : TURNS <= 32 ? TURNS : 16;
    int left = cols - (int)own.chunk * PER, under = rows - (int)own.row;
#pragma unroll UNROLL
    for (int turn = 0; turn < TURNS; turn++) {
      int i = turn * COPIERS, row = i / CHUNKS, chunk = i % CHUNKS;
      if (ALL % COPIERS != 0 && turn == TURNS - 1 && own.row + row >= ROWS) break;
      const TYPE* p = own.from + below(down + row, ld) + right + chunk * PER;
      unsigned to = (own.to ^ flips(row) * 16) + stage + (row * LINE + chunk) * 16;
      int there = row < under || MUTANT(tile_no_row_guard) ? left - chunk * PER : 0;
      if (EVEN) {
        copy_async_16_line(to, p);
      } else if (WHOLE) {
        copy_async_16_line(to, p, there);
      } else {
        Pack<TYPE, PER> x = {};
        for (int j = 0; j < PER; j++)
          if (j < there || MUTANT(tile_no_column_guard)) x.at[j] = p[j];
        store_shared(to, *(uint4*)&x);
      }
    }
  }
};
// Of what warpgroups multiply, 128 bytes of a row lie together.
constexpr int BOX = WARPGROUPS ? 128 / sizeof(TYPE) : TILE_K;
using TileA = Tile<BM, TILE_K, 0, BOX>;

#endif
