// Weights of x . W, where a row of W is one k: how they come, and how they are multiplied.
//
// Idea: tensor maps bring a set's columns of W, 128 of K at a time, and a warp reads its 16 by
// transposing loads of 16-bit words: a lane gets the words of rows k and k + 1 of the same columns,
// which is the pair that the register operand of wgmma wants. A word of 4-bit codes has four
// columns, rows r and r + 8 of two warps, so what is row r of a product is any column, and sums are
// put in order when they are stored. Two warps that do not multiply make the pairs of scales of a span
// once for all warps of a set.
//
// Codes of 3, 5 and 6 bits lie across words: a set of warps unpacks those of a span to 4 or 8 bits
// each, into one of two buffers.
//
// Tensor maps bring scales too where their rows are whole chunks of 16 bytes, the warp that copies does
// elsewhere.
//
// Compile-time: wgmma_decode.cuh's, PLACES (spans of a set's ring).
// flags: 1 if tensor maps bring scales
#ifndef MNKBENCH_WGMMA_COLUMNS
#define MNKBENCH_WGMMA_COLUMNS
#include "../../common/mutant.h"
#include "../../device/ptx_arrive.h"
#include "../../device/ptx_copy.h"
#include "../../device/ptx_memory.h"
#include "wgmma_decode.cuh"

constexpr int SPAN = 128, STEP = 64;
// Threads that share a ring.
constexpr int COPIERS = SET;
// Bits of a code as warps read it, and whether it is stored in fewer.
constexpr int WIDTH = BITS == 3 ? 4 : BITS == 5 || BITS == 6 ? 8 : BITS;
constexpr bool PACKED = WIDTH != BITS;
// Warps that take codes of the same words, and their columns.
constexpr int SHARE = 8 / WIDTH, ACROSS = 16 * SHARE;
// Bytes of a row's codes as warps read them, and of a row of a box of them, which is swizzled: eight
// rows that are read at once start in other banks.
constexpr int ROW_CODES = ROWS * WIDTH / 8, BOX = ROW_CODES < 128 ? ROW_CODES : 128;
constexpr int READ = SPAN * ROW_CODES, SWIZZLE = BOX / 16 - 1;
// Bytes of a row's codes as copied, and of a span's. Those of 3, 5 and 6 bits are one box, which starts
// at a multiple of 16 bytes, as boxes must.
constexpr int ROW_COPIED = PACKED ? (ROWS * BITS / 8 + 15) / 16 * 16 : ROW_CODES;
constexpr int CODES = SPAN * ROW_COPIED, BOX_COPIED = PACKED ? ROW_COPIED : BOX;
// Bytes of a row's scales, at their places in a chunk of 16, and from row to row; of a span's of one
// array. Rows of one scale are copied without gaps.
constexpr int SCALE_ROW = ROWS > GROUP ? ROWS / GROUP * SCALE_BYTES : SCALE_BYTES, CHUNK = 16;
constexpr int SCALE_PITCH = CHANNEL ? SCALE_BYTES : CHUNK;
constexpr int SCALES = SPAN * SCALE_PITCH, PLACE = CODES + ARRAYS * SCALES;
// Groups of a tile's columns; bytes of a pair of rows' scales of one, and of a span's pairs.
constexpr int GROUPS = ROWS > GROUP ? ROWS / GROUP : 1;
constexpr int FACTOR = 4 * ARRAYS, FACTORS = GROUPS * SPAN / 2 * FACTOR;
// Codes of all places, scales of all places, pairs of all places, unpacked codes of two spans; the next
// ring's codes start at a swizzle atom.
constexpr int UNPACKED = PLACES * (PLACE + FACTORS);
constexpr int RING = (UNPACKED + (PACKED ? 2 * READ : 0) + 1023) / 1024 * 1024;
// Arrivals by which scales are there.
__device__ inline int arrivals(bool chunks) { return chunks ? 1 : 32; }
static_assert(PLACES >= 2, "one span to come, and one there");
static_assert(ROWS * BITS / 8 % 16 + ROWS * BITS / 8 <= ROW_COPIED, "a box has codes from inside of 16 bytes on");
static_assert(CHANNEL || SCALE_ROW <= CHUNK, "a box has a tile's scales");

// The column, of the warpgroup's, that row lane / 4 + 8 * half of its product is.
__device__ __forceinline__ int row_of(int half) {
  int warp = threadIdx.x % 128 / 32, i = threadIdx.x % 32 / 4;
  return warp / SHARE * ACROSS + i * (16 / WIDTH) + warp % SHARE * 2 + half;
}

// Of a step: words of pairs of k, for each octet of K, and the scales of their rows.
struct Raw {
  unsigned codes[8], scales[8], biases[8];
  __device__ void decode(unsigned* a, int step, int product, const Selector&);
};

// The pair of scales of rows k and k + 1.
__device__ __forceinline__ unsigned e8m0_scales(unsigned codes) {
  if constexpr (HALF)
    return f32_to_2f16(decode_e8m0(codes & 0xff), decode_e8m0(codes >> 16));
  // 0 is subnormal, and 255 NaN.
  unsigned other = (codes + 0x00010001) & 0x00fe00fe;
  return codes << 7 | (0x01000100 - other & 0x01000100) >> 2;
}
__device__ __forceinline__ unsigned e4m3_scales(unsigned codes) {
  unsigned both = e4m3_to_2f16(codes & 0xff | codes >> 8);
  if constexpr (HALF) return multiply_2f16(both, powers(7, 7));
  return f32_to_2bf16(f16_to_f32(both) * 0x1p118f, f16_to_f32(both >> 16) * 0x1p118f);
}

// The lane's weights of rows k and k + 1 in row `half` of its product.
__device__ __forceinline__ unsigned weights(const Raw& raw, int octet, int half) {
  unsigned v = raw.codes[octet];
  // Codes stay at the places where they are if bf16 is linear up to there.
  int at = WIDTH == 8 ? 0 : half * WIDTH, before = WIDTH == 8 ? half * 8 : 0;
  if constexpr (MODE == AFFINE) {
    constexpr unsigned CODE = (1 << WIDTH) - 1;
    v = v >> before & (CODE << at) * 0x10001;
    if constexpr (HALF) {
      v = times_plus(v | 0x64006400, powers(-at, -at), 0x80008000 | powers(10 - at, 10 - at));
      return times_plus(v, raw.scales[octet], raw.biases[octet]);
    }
    unsigned scale = raw.scales[octet];
    if (at) scale = times(scale, powers(-at, -at));
    return times_plus(v, scale, raw.biases[octet]);
  } else if constexpr (WIDTH == 4) {
    return times(e2m1_pair(v << (12 - at), v << (4 - at)), raw.scales[octet]);
  } else {
    return times(e4m3_pair(v << (8 - before), v >> before), raw.scales[octet]);
  }
}

// The register operand of product `product` of four.
__device__ __forceinline__ void Raw::decode(unsigned* a, int, int product, const Selector&) {
#pragma unroll
  for (int octet = 2 * product; octet < 2 * product + 2; octet++)
#pragma unroll
    for (int half = 0; half < 2; half++) a[2 * octet + half] = weights(*this, octet, half);
}

// A ring's places: their barriers, one that codes and pairs are there, one that both were read, and one
// that scales are there.
struct Places {
  unsigned ring, bars;
  __device__ unsigned full(unsigned place) const { return bars + 24 * place; }
  __device__ unsigned empty(unsigned place) const { return full(place) + 8; }
  __device__ unsigned raw(unsigned place) const { return full(place) + 16; }
  __device__ unsigned codes(unsigned place) const { return ring + place * CODES; }
  __device__ unsigned scales(unsigned place) const {
    return ring + PLACES * CODES + place * ARRAYS * SCALES;
  }
  __device__ unsigned factors(unsigned place) const { return ring + PLACES * PLACE + place * FACTORS; }
};

// What the warp that copies is told of W.
struct Maps {
  const TensorMap *codes, *scales, *biases;
};

// Copies rows k to k + 127 of the columns from `column` on; what does not exist is 0. A whole warp.
__device__ __forceinline__ void copy_span(const Maps& maps, const Stored& from, Size size,
                                          const Places& to, unsigned place, int column, int k,
                                          bool chunks, unsigned long long policy) {
  unsigned lane = threadIdx.x % 32, full = to.full(place), raw = to.raw(place);
  unsigned scales = to.scales(place);
  int scale = column / GROUP * SCALE_BYTES;
  if (lane == 0) {
    if (chunks) {
      barrier_expect(raw, ARRAYS * SCALES);
      copy_tile(scales, maps.scales, scale / CHUNK * CHUNK, k, raw);
      if (ARRAYS == 2) copy_tile(scales + SCALES, maps.biases, scale / CHUNK * CHUNK, k, raw);
    }
    barrier_expect(full, CODES);
#pragma unroll
    for (int i = 0; i < ROW_COPIED; i += BOX_COPIED)
      copy_tile_once(to.codes(place) + i * SPAN, maps.codes, column / 8 * BITS / 16 * 16 + i, k, full,
                     policy);
  }
  if (chunks) return;
  if constexpr (CHANNEL) {
    // Two rows' at a time: K is even.
#pragma unroll
    for (int i = 0; i < SPAN; i += 64) {
      int row = k + i + 2 * lane;
      bool there = row < size.K || MUTANT(columns_no_scale_guard);
      copy_async_4(scales + (i + 2 * lane) * SCALE_BYTES, from.scales + row * SCALE_BYTES, there);
      copy_async_4(scales + SCALES + (i + 2 * lane) * SCALE_BYTES, from.biases + row * SCALE_BYTES,
                   there);
    }
    copies_arrive(raw);
    return;
  }
  constexpr int EACH = (SCALE_ROW + 3) / 4, AT_ONCE = 32 / EACH;  // words, rows
  int words = size.N / GROUP * SCALE_BYTES, row = k + lane / EACH;
  int byte = scale / 4 * 4 + lane % EACH * 4;
  long long at = (long long)row * words + byte;
  scales += lane / EACH * CHUNK + byte % CHUNK;
#pragma unroll
  for (int i = 0; i < SPAN; i += AT_ONCE) {
    bool there = (row + i < size.K || MUTANT(columns_no_row_guard)) && byte < words;
    copy_async_4(scales + i * CHUNK, from.scales + at, there);
    if (ARRAYS == 2) copy_async_4(scales + SCALES + i * CHUNK, from.biases + at, there);
    at += AT_ONCE * words;
  }
  copies_arrive(raw);
}

// The same word of two rows' scales: of row k, and of row k + 1.
struct TwoRows {
  unsigned even, odd;
  // The scales at byte `at` of the word, as two halves.
  __device__ __forceinline__ unsigned pair(unsigned at) const {
    if (ARRAYS == 2) return __byte_perm(even, odd, at * 0x1111 + 0x5410);
    return __byte_perm(even, odd, at * 0x0101 + 0x0400) & 0x00ff00ff;
  }
};

// Reads the word at `at` of row lane and of the row 32 on, so that four lanes read the same banks, not
// eight. Neighbours change one for one: an even lane gets the first two rows, an odd one the others.
__device__ __forceinline__ TwoRows two_rows(unsigned at) {
  unsigned low = load_shared_u32(at), high = load_shared_u32(at + 32 * SCALE_PITCH);
  unsigned odd = threadIdx.x % 2, other = __shfl_xor_sync(~0u, odd ? low : high, 1);
  TwoRows rows = {odd ? other : low, odd ? high : other};
  if (MUTANT(columns_same_row)) rows.odd = rows.even;
  return rows;
}

// Stores a pair of scales as `weights` takes it.
__device__ __forceinline__ void store_pair(unsigned to, unsigned scale, unsigned bias) {
  if constexpr (MODE != AFFINE)
    store_shared_u32(to, MODE == NVFP4 ? e4m3_scales(scale) : e8m0_scales(scale));
  else if (HALF) store_shared(to, uint2{scale, bias});
  else store_shared(to, uint2{times(scale, powers(101, 101)), times(bias, powers(-32, -32))});
}

// Makes the pairs of scales of a place's span. A whole warp, a step at a time.
__device__ __forceinline__ void make_pairs(const Places& places, unsigned place, int column) {
  // Groups of a word; where the first one is in it, if they are not all of it.
  constexpr int EACH = GROUPS < 4 / SCALE_BYTES ? GROUPS : 4 / SCALE_BYTES;
  unsigned lane = threadIdx.x % 32, first = column / GROUP * SCALE_BYTES % CHUNK;
  unsigned before = EACH * SCALE_BYTES < 4 ? first % 4 : 0;
#pragma unroll
  for (int step = 0; step < SPAN / STEP; step++) {
    unsigned scales = places.scales(place) + step * STEP * SCALE_PITCH;
    unsigned pairs = places.factors(place) + step * 32 * FACTOR;
    if constexpr (CHANNEL) {
      // A word is a pair.
      unsigned from = scales + lane * 4;
      store_pair(pairs + lane * FACTOR, load_shared_u32(from), load_shared_u32(from + SCALES));
      continue;
    }
    unsigned from = scales + lane * SCALE_PITCH + first / 4 * 4;
    unsigned to = pairs + (lane % 2 * 16 + lane / 2) * FACTOR;
#pragma unroll
    for (int word = 0; word < GROUPS / EACH; word++) {
      TwoRows scale = two_rows(from + 4 * word), bias = scale;
      if (ARRAYS == 2) bias = two_rows(from + 4 * word + SCALES);
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        unsigned at = before + i * SCALE_BYTES;
        store_pair(to, scale.pair(at), bias.pair(at));
        to += SPAN / 2 * FACTOR;
      }
    }
  }
}

// A set's columns, for the warps that multiply.
struct Spans {
  Places places;
  unsigned pairs;         // bytes from a place's pairs to what the lane asks for in the first step
  unsigned mine;          // bytes from a place's codes to that
  int here = -1, phase = 0;
  int packed;             // bytes from a box's row to its first code
  int unpacked = 0;       // bytes from the first unpacked codes to the last ones

  __device__ __forceinline__ Spans(const Places& places, int column) : places(places) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x % COPIERS / 32;
    unsigned group = CHANNEL ? 0 : (warp / SHARE * ACROSS + row_of(0) % ACROSS) / GROUP;
    pairs = (group * SPAN / 2 + lane % 4) * FACTOR;
    packed = column / 8 * BITS % 16;
    unsigned byte = warp / SHARE * 16, row = lane * BOX;
    mine = byte / BOX * BOX * SPAN + row + (byte % BOX ^ (row >> 7 & SWIZZLE) << 4);
  }
  // Goes on to the next span, and says that the last one was read.
  __device__ __forceinline__ void advance() {
    if (here >= 0) {
      __syncwarp();
      if (threadIdx.x % 32 == 0) barrier_arrive(places.empty(here));
    }
    if (++here == PLACES) here = 0, phase ^= 1;
    if (!MUTANT(columns_no_wait)) barrier_wait(places.full(here), phase);
    if (PACKED) unpack();
  }
  // Half `half` of step `step` of the span.
  __device__ __forceinline__ void load(Raw& raw, int step, int half) const {
    unsigned warp = threadIdx.x % COPIERS / 32;
    // A multiple of 32 rows does not change the swizzle.
    unsigned codes = PACKED ? places.ring + UNPACKED + unpacked : places.codes(here);
    unsigned from = codes + mine + (step * STEP + half * 32) * BOX;
    unsigned(&to)[4] = *(unsigned(*)[4])(raw.codes + 4 * half);
    ldmatrix<true>(to, from);
    if (SHARE > 1)
      for (int j = 0; j < 4; j++) to[j] >>= warp % SHARE * (16 / SHARE);
    unsigned factors = places.factors(here) + pairs + step * 32 * FACTOR;
#pragma unroll
    for (int octet = 4 * half; octet < 4 * half + 4; octet++) {
      unsigned at = factors + octet * 4 * FACTOR;
      if constexpr (MODE == AFFINE) {
        uint2 both;
        load_shared(both, at);
        raw.scales[octet] = both.x, raw.biases[octet] = both.y;
      } else {
        raw.scales[octet] = load_shared_u32(at);
      }
    }
  }
  // Nothing: the warps of produce_pairs() have made the pairs of the span.
  __device__ __forceinline__ void prepare(int) const {}

 private:
  // Unpacks the codes of the span to WIDTH bits each. A thread has the same eight columns of every
  // sixteenth row. One barrier is enough: behind it no warp reads the other buffer, which the next span
  // is unpacked to.
  __device__ __forceinline__ void unpack() {
    unpacked ^= READ;
    constexpr int EIGHTS = ROWS / 8, AT_ONCE = SET / EIGHTS;  // of a row; rows
    unsigned thread = threadIdx.x % SET, row = thread / EIGHTS, bits = thread % EIGHTS * 8;
    unsigned first = packed + bits / 8 * BITS, second = first % 4 + BITS > 4 ? 4 : 0, shift = first % 4 * 8;
    unsigned from = places.codes(here) + row * ROW_COPIED + first / 4 * 4;
    unsigned byte = bits / 8 * WIDTH, line = row * BOX;
    // A multiple of 16 rows does not change the swizzle.
    unsigned to = places.ring + UNPACKED + unpacked + byte / BOX * BOX * SPAN + line +
                  (byte % BOX ^ (line >> 7 & SWIZZLE) << 4);
#pragma unroll 4
    for (int i = 0; i < SPAN / AT_ONCE; i++) {
      unsigned low = load_shared_u32(from), high = load_shared_u32(from + second);
      low = __funnelshift_r(low, high, shift), high >>= shift;
      if constexpr (BITS == 3) {
        low = low & 0xfff | (low & 0xfff000) << 4;
        low = low & 0x003f003f | (low & 0x0fc00fc0) << 2;
        store_shared_u32(to, low & 0x07070707 | (low & 0x38383838) << 1);
      } else {
        store_shared(to, uint2{bytes(low), bytes(__funnelshift_r(low, high, 4 * BITS))});
      }
      from += AT_ONCE * ROW_COPIED, to += AT_ONCE * BOX;
    }
    if (!MUTANT(columns_early_read)) sync_some<SET>(2 + threadIdx.x / SET);
  }
  // Four codes of 5 or 6 bits, each in a byte.
  __device__ static __forceinline__ unsigned bytes(unsigned codes) {
    constexpr unsigned CODE = (1 << BITS) - 1, TWO = (1 << 2 * BITS) - 1;
    codes = codes & TWO | (codes & TWO << 2 * BITS) << (16 - 2 * BITS);
    return codes & CODE * 0x10001 | (codes & (CODE << BITS) * 0x10001) << (8 - BITS);
  }
};

#endif
