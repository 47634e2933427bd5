// Weights of x . W, where a row of W is one k: how they come, and how they are multiplied.
//
// Idea: a set copies its columns of W, and a warp reads its 16 by transposing loads of 16-bit
// words: a lane gets the words of rows k and k + 1 of the same columns, which is the pair that the
// register operand of wgmma wants. A word of 4-bit codes has four columns, rows r and r + 8 of two
// warps, so what is row r of a product is any column, and sums are put in order when they are
// stored. A warp makes the pairs of scales of a step once for all lanes.
//
// Compile-time: wgmma_decode.cuh's, BITS 2, 4 or 8, PLACES (spans of a set's ring).
#ifndef MNKBENCH_WGMMA_COLUMNS
#define MNKBENCH_WGMMA_COLUMNS
#include "../../common/mutant.h"
#include "../../device/ptx_memory.h"
#include "wgmma_decode.cuh"

constexpr int SPAN = 128, STEP = 64;
// Threads that copy their columns.
constexpr int COPIERS = SET;
// Warps that take codes of the same words, and their columns.
constexpr int SHARE = 8 / BITS, ACROSS = 16 * SHARE;
// Words of scales of a row of W, whole ones.
constexpr int SCALE_ROW = ROWS / GROUP * SCALE_BYTES, EACH = SCALE_ROW < 4 ? 1 : SCALE_ROW / 4;
// Bytes of a row's codes, and from row to row: eight rows that are read at once start in other banks.
constexpr int ROW_CODES = ROWS * BITS / 8, CHUNKS = ROW_CODES / 16;
constexpr int PITCH = ROW_CODES == 16 ? 16 : ROW_CODES + 16;
constexpr int SCALES = SPAN * PITCH, PLACE = SCALES + ARRAYS * SPAN * EACH * 4;
// Groups of a warp's columns; bytes of a pair of rows' scales of one, and of a warp's, of two steps.
constexpr int GROUPS = ACROSS > GROUP ? ACROSS / GROUP : 1;
constexpr int FACTOR = 4 * ARRAYS, FACTORS = 2 * GROUPS * 32 * FACTOR;
constexpr int RING = PLACES * PLACE + COPIERS / 32 * FACTORS;
static_assert(PLACES >= 2, "one span to come, and one there");
static_assert(BITS == 2 || BITS == 4 || BITS == 8, "no code is in two words");

// The column, of the warpgroup's, that row lane / 4 + 8 * half of its product is.
__device__ __forceinline__ int row_of(int half) {
  int warp = threadIdx.x % 128 / 32, i = threadIdx.x % 32 / 4;
  return warp / SHARE * ACROSS + i * (16 / BITS) + warp % SHARE * 2 + half;
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
  int at = BITS == 8 ? 0 : half * BITS, before = BITS == 8 ? half * 8 : 0;
  if constexpr (MODE == AFFINE) {
    constexpr unsigned CODE = (1 << BITS) - 1;
    v = v >> before & (CODE << at) * 0x10001;
    if constexpr (HALF) {
      v = times_plus(v | 0x64006400, powers(-at, -at), 0x80008000 | powers(10 - at, 10 - at));
      return times_plus(v, raw.scales[octet], raw.biases[octet]);
    }
    unsigned scale = raw.scales[octet];
    if (at) scale = times(scale, powers(-at, -at));
    return times_plus(v, scale, raw.biases[octet]);
  } else if constexpr (BITS == 4) {
    return times(e2m1_pair(v << (12 - before - at)), raw.scales[octet]);
  } else {
    return times(e4m3_pair(v << (8 - before)), raw.scales[octet]);
  }
}

// The register operand of product `product` of four.
__device__ __forceinline__ void Raw::decode(unsigned* a, int, int product, const Selector&) {
#pragma unroll
  for (int octet = 2 * product; octet < 2 * product + 2; octet++)
#pragma unroll
    for (int half = 0; half < 2; half++) a[2 * octet + half] = weights(*this, octet, half);
}

// A part of K of a set's columns.
struct Spans {
  const unsigned char *w, *scales, *biases;  // of the first column, where the part begins
  int codes, words;                          // bytes of a row: of all its codes, of all its scales
  int more_codes, more_scales;               // of a row, from the first column on
  int left;                                  // rows of the part, not yet asked for
  unsigned ring;
  unsigned long long policy;
  int group;                                 // bytes from a row's first word to the warp's scales
  unsigned factors;                          // where the warp's pairs are
  unsigned next = 0, here = 0;               // places: to be copied to, to be read

  __device__ __forceinline__ Spans(const Stored& from, Size size, int row, int first, int end, int,
                                   unsigned ring)
      : codes(size.N / 8 * BITS), words(size.N / GROUP * SCALE_BYTES), left(end - first),
        ring(ring), policy(evict_first()) {
    int code = row / 8 * BITS, scale = row / GROUP * SCALE_BYTES, word = scale / 4 * 4;
    long long at = (long long)first * words + word;
    w = from.w + (long long)first * codes + code;
    scales = from.scales + at;
    biases = from.biases + at;
    more_codes = codes - code;
    more_scales = words - word;
    unsigned warp = threadIdx.x % COPIERS / 32;
    group = scale - word + warp / SHARE * ACROSS / GROUP * SCALE_BYTES;
    factors = ring + PLACES * PLACE + warp * FACTORS;
  }
  // To where the next span belongs; what does not exist is 0.
  __device__ __forceinline__ void fetch() {
    if (left > 0) {
      unsigned thread = threadIdx.x % COPIERS, to = ring + next * PLACE;
#pragma unroll
      for (int i = 0; i < SPAN * CHUNKS; i += COPIERS) {
        int chunk = i + thread, k = chunk / CHUNKS, byte = chunk % CHUNKS * 16;
        bool there = (k < left || MUTANT(columns_no_row_guard)) && byte < more_codes;
        copy_async_16(to + k * PITCH + byte, w + unsigned(k * codes + byte), there, policy);
      }
#pragma unroll
      for (int i = 0; i < ARRAYS * SPAN * EACH; i += COPIERS) {
        int word = i + thread, k = word / EACH % SPAN, byte = word % EACH * 4;
        const unsigned char* from = word < SPAN * EACH ? scales : biases;
        if (ARRAYS * SPAN * EACH % COPIERS && word >= ARRAYS * SPAN * EACH) continue;
        copy_async_4(to + SCALES + word * 4, from + unsigned(k * words + byte),
                     k < left && byte < more_scales);
      }
      w += (long long)SPAN * codes;
      scales += (long long)SPAN * words;
      biases += (long long)SPAN * words;
      left -= SPAN;
    }
    commit_copies();
    next = next + 1 == PLACES ? 0 : next + 1;
  }
  __device__ __forceinline__ void open() {
#pragma unroll 1
    for (int i = 0; i < PLACES - 1; i++) fetch();
    here = PLACES - 1;
  }
  __device__ __forceinline__ void advance() {
    wait_copies<PLACES - 2 + MUTANT(columns_late_copies)>();
    // All copies of the set are there, and all have read the place that is next.
    if (!MUTANT(columns_no_barrier)) sync_some<COPIERS>(2 + threadIdx.x / COPIERS);
    fetch();
    here = here + 1 == PLACES ? 0 : here + 1;
  }
  // Half `half` of step `step` of the span.
  __device__ __forceinline__ void load(Raw& raw, int step, int half) const {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x % COPIERS / 32;
    unsigned place = ring + here * PLACE;
    unsigned from = place + (step * STEP + half * 32 + lane) * PITCH + warp / SHARE * 16;
    unsigned(&to)[4] = *(unsigned(*)[4])(raw.codes + 4 * half);
    ldmatrix<true>(to, from);
    if (SHARE > 1)
      for (int j = 0; j < 4; j++) to[j] >>= warp % SHARE * (16 / SHARE);
    unsigned mine = row_of(0) % ACROSS / GROUP;
    unsigned pairs = factors + ((step % 2 * GROUPS + mine) * 32 + lane % 4) * FACTOR;
#pragma unroll
    for (int octet = 4 * half; octet < 4 * half + 4; octet++) {
      unsigned at = pairs + octet * 4 * FACTOR;
      if constexpr (MODE == AFFINE) {
        uint2 both;
        load_shared(both, at);
        raw.scales[octet] = both.x, raw.biases[octet] = both.y;
      } else {
        raw.scales[octet] = load_shared_u32(at);
      }
    }
  }
  // Makes the pairs of scales of step `step` of the span, a lane one of two rows, as `weights` takes
  // them: for all of the warp's columns once.
  __device__ __forceinline__ void prepare(int step) const {
    unsigned lane = threadIdx.x % 32, place = ring + here * PLACE;
    unsigned word = place + SCALES + (step * STEP + lane * 2) * EACH * 4;
#pragma unroll
    for (int i = 0; i < GROUPS; i++) {
      unsigned byte = group + i * SCALE_BYTES, at = word + byte / 4 * 4, first = byte % 4;
      unsigned to = factors + ((step % 2 * GROUPS + i) * 32 + lane) * FACTOR;
      unsigned scale = pair(at, first);
      if constexpr (MODE == AFFINE) {
        unsigned bias = pair(at + SPAN * EACH * 4, first);
        if (HALF) store_shared(to, uint2{scale, bias});
        else store_shared(to, uint2{times(scale, powers(101, 101)), times(bias, powers(-32, -32))});
      } else {
        store_shared_u32(to, MODE == NVFP4 ? e4m3_scales(scale) : e8m0_scales(scale));
      }
    }
    if (!MUTANT(columns_no_warp_barrier)) __syncwarp();
  }

 private:
  // The scales of two rows, or their bytes in the low half of either half.
  __device__ static __forceinline__ unsigned pair(unsigned at, unsigned first) {
    unsigned low, high;
    if (EACH == 1) {
      uint2 both;
      load_shared(both, at);
      low = both.x, high = both.y;
    } else low = load_shared_u32(at), high = load_shared_u32(at + EACH * 4);
    if (MUTANT(columns_same_row)) high = low;
    if (SCALE_BYTES == 2) return __byte_perm(low, high, first * 0x1111 + 0x5410);
    return __byte_perm(low, high, first * 0x1111 + 0x0400) & 0x00ff00ff;
  }
};

#endif
