// How stored weights come to the warp that decodes them.
//
// Idea: a warp copies its own 16 rows into a ring of its own, by spans of 256 of K with the scales
// that belong to them: no other warp waits for them, and no barrier is told. The warps that multiply
// issue the copies, and the number of their instructions limits the kernel: with EVEN copies have no
// bounds checks.
//
// Compile-time: wgmma_decode.cuh's, PLACES (spans of a warp's ring), EVEN (all rows of the tiles exist, no
// span of a part ends behind K, and rows of w start on 16 bytes and those of scales on 4).
#ifndef MNKBENCH_WGMMA_SPANS
#define MNKBENCH_WGMMA_SPANS
#include "../../common/mutant.h"
#include "../../device/ptx_memory.h"
#include "wgmma_decode.cuh"

constexpr int SPAN = 256, STEP = 64;
// Threads that copy rows of their own.
constexpr int COPIERS = 32;
// Bytes of a row: of its codes, of its scales; and from row to row, so that eight rows that are
// read at once start in other banks.
constexpr int ROW_CODES = SPAN * BITS / 8, ROW_SCALES = SPAN / GROUP * SCALE_BYTES;
constexpr int PITCH = ROW_CODES + 16;
constexpr int SCALES = 16 * PITCH, PLACE = SCALES + ARRAYS * 16 * ROW_SCALES;
// Scales of a step that a warp decodes once for all lanes, where that is work: of a row, of a half.
constexpr int DECODED = MODE == AFFINE ? 0 : STEP / GROUP, HALF_DECODED = DECODED / 2 + !DECODED;
// Steps whose scales are decoded at once, and scales that a lane decodes.
constexpr int AT_ONCE = BITS == 4 ? 2 : 1, OF_LANE = DECODED * AT_ONCE / 2 + !DECODED;
// There is room for the decoded scales of twice as many steps.
constexpr int RING = PLACES * PLACE + 2 * AT_ONCE * 16 * DECODED * 4;
static_assert(PLACES >= 2, "one span to come, and one there");
// Chunks of 16 bytes of a row's codes, words of its scales, and words that a warp copies of all scales.
constexpr int CHUNKS = ROW_CODES / 16, EACH = ROW_SCALES / 4, ALL = ARRAYS * 16 * EACH;
// The 32 chunks of a warp's copy are so many rows, and so many bytes of the next one.
constexpr int DOWN = 32 / CHUNKS, ON = 32 % CHUNKS * 16;
// ALIKE: steps whose affine scales are in the same words (single scales of rows are loaded for each step).
// COPIES of these words: where a group starts within a step, scales of one step are still read when those
// of the next one are loaded.
constexpr int ALIKE = GROUP >= STEP && !CHANNEL ? 2 : 1, COPIES = GROUP < STEP ? 2 : 1;
__device__ constexpr int copy_of(int step) { return MUTANT(warpgroup_same_words) ? 0 : step % COPIES; }

// The row, of the warpgroup's, that is row lane / 4 + 8 * half of its product.
__device__ __forceinline__ int row_of(int half) {
  return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + half * 8;
}

// The byte of a row of a span where the scale of octet `octet` of step `step` is.
__device__ constexpr int scale_at(int step, int octet) {
  return (step * STEP + octet * 8) / GROUP * SCALE_BYTES;
}

// A lane's codes of a step, of rows r and r + 8, and the words that have their scales.
struct Raw {
  unsigned top[WORDS], low[WORDS], scales[COPIES][2], biases[COPIES][2];
  unsigned decoded[2][2][HALF_DECODED];                          // of a half, of a row

  // Of two rows, for the octet that is decoded.
  Factor factors[2];

  // The register operand of product `product` of four, of step `step` of a span.
  __device__ __forceinline__ void decode(unsigned* a, int step, int product, const Selector& s) {
#pragma unroll
    for (int octet = 2 * product; octet < 2 * product + 2; octet++) {
      if (octet * 8 % GROUP == 0) {
        int at = MUTANT(warpgroup_same_scale) ? 0 : scale_at(step, octet) % 4 / SCALE_BYTES;
#pragma unroll
        for (int h = 0; h < 2; h++) {
          if (DECODED) factors[h] = {decoded[octet / 4][h][octet % 4 * 8 / GROUP], 0};
          else factors[h] = factor(scales[copy_of(step)][h], biases[copy_of(step)][h], at, s);
        }
      }
      a[2 * octet] = weights(top, octet, s, factors[0]);
      a[2 * octet + 1] = weights(low, octet, s, factors[1]);
    }
  }
};

// A part of K of a warp's rows.
struct Spans {
  // The lane's first chunk of the span that is asked for next, and its first words of scales and biases.
  const unsigned char *w, *scales, *biases;
  int rows;                                  // that exist, of the warp's; unused with EVEN, like `flags`
  int codes, words;                          // bytes of a row: of all its codes, of all its scales
  int more_codes, more_scales;               // of the part, not yet asked for
  int flags;                                 // 1: rows of w start on 16 bytes, 2: scales on 4
  unsigned ring;
  unsigned chunk, word;                      // with EVEN: where the lane's go in place 0
  unsigned long long policy;
  unsigned next = 0, here = 0;  // bytes to places: to be copied to, to be read
  int bare = PLACES - MUTANT(warpgroup_channel_bare);  // places without the one scale of a row

  __device__ __forceinline__ Spans(const Stored& from, Size size, int row, int first, int end,
                                   int flags, unsigned ring)
      : rows(size.N - row), codes(size.K / 8 * BITS),
        words(CHANNEL ? SCALE_BYTES : size.K / GROUP * SCALE_BYTES), flags(flags), ring(ring),
        policy(evict_first()) {
    int code = first / 8 * BITS, scale = first / GROUP * SCALE_BYTES;
    long long at = (long long)row * words + (CHANNEL ? 0 : scale) + scale_from();
    w = from.w + (long long)row * codes + code + code_from();
    scales = from.scales + at;
    biases = from.biases + at;
    if (EVEN) {
      // Where a warp has one copy of scales, half of its lanes copy biases.
      if (ALL == 32 && ARRAYS == 2 && lane() >= 16) scales = biases;
      chunk = ring + lane() / CHUNKS * PITCH + lane() % CHUNKS * 16;
      word = ring + SCALES + lane() * 4;
      // nvcc 13.0 computes them again in each span.
      not_before(chunk), not_before(word);
    }
    more_codes = end / 8 * BITS - code;
    more_scales = (end + GROUP - 1) / GROUP * SCALE_BYTES - scale;
  }
  // To where the next span belongs; what does not exist is 0.
  __device__ __forceinline__ void fetch() {
    if (more_codes > 0) {
      if (EVEN) {
        fetch_chunks(chunk + next);
#pragma unroll
        for (int i = 0; i < ALL; i += 32)
          copy_async_4(word + next + i * 4, (i < 16 * EACH ? scales : biases) + scale_row(i) * words, true);
      } else {
        unsigned to = ring + next;
        if (flags & 1) fetch_chunks(to + lane() / CHUNKS * PITCH + lane() % CHUNKS * 16);
        else fetch_words(to);
        // The one scale of a row stays where it is.
        if (!CHANNEL || bare-- > 0) fetch_scales(to + SCALES);
      }
      w += ROW_CODES;
      scales += CHANNEL ? 0 : ROW_SCALES;
      biases += CHANNEL ? 0 : ROW_SCALES;
      more_codes -= ROW_CODES;
      more_scales -= ROW_SCALES;
    }
    commit_copies();
    next = after(next);
  }
  // The lane's first chunk goes to `to`.
  __device__ __forceinline__ void fetch_chunks(unsigned to) const {
    int row = lane() / CHUNKS, byte = lane() % CHUNKS * 16;
    const unsigned char* from = w;
#pragma unroll
    for (int i = 0; i < BITS; i++) {
      bool there = EVEN || (row < rows && (byte < more_codes || MUTANT(warpgroup_no_code_guard)));
      copy_async_16(to, from, there, policy);
      row += DOWN, byte += ON;
      from += DOWN * codes + ON, to += DOWN * PITCH + ON;
      if (ON == 0 || byte < ROW_CODES) continue;
      row++, byte -= ROW_CODES;
      from += codes - ROW_CODES, to += PITCH - ROW_CODES;
    }
  }
  __device__ __forceinline__ void fetch_words(unsigned to) const {
#pragma unroll 1
    for (int word = lane(); word < 128 * BITS; word += 32) {
      int row = word / (8 * BITS), byte = word % (8 * BITS) * 4;
      copy_async_4(to + row * PITCH + byte, w - code_from() + unsigned(row * codes + byte),
                   row < rows && byte < more_codes);
    }
  }
  __device__ __forceinline__ void fetch_scales(unsigned to) const {
    if (!CHANNEL && flags & 2) {
      static_assert(ALL % 32 == 0, "all lanes copy");
      int row = lane() / EACH % 16, byte = lane() % EACH * 4;
#pragma unroll
      for (int i = 0; i < ALL; i += 32) {
        const unsigned char* from = ((EACH == 1 ? lane() : i) < 16 * EACH ? scales : biases) + scale_row(i) * words;
        bool there = row + scale_row(i) < rows && (byte < more_scales || MUTANT(warpgroup_no_scale_guard));
        copy_async_4(to + (i + lane()) * 4, from, there);
      }
    } else {
      // One by one: the next __syncwarp shows them.
      constexpr int ONE = ROW_SCALES / SCALE_BYTES;
      const unsigned char *first = scales - scale_from(), *second = biases - scale_from();
#pragma unroll 1
      for (int i = lane(); i < ARRAYS * 16 * ONE; i += 32) {
        int row = i / ONE % 16, byte = i % ONE * SCALE_BYTES;
        const unsigned char* from = i < 16 * ONE ? first : second;
        from += unsigned(row * words + (CHANNEL ? 0 : byte));
        bool there = row < rows && byte < more_scales;
        if (SCALE_BYTES == 2)
          store_shared_u16(to + i * 2, there ? *(const unsigned short*)from : 0);
        else store_shared_u8(to + i, there ? *from : 0);
      }
    }
  }
  // All but one place are being filled.
  __device__ __forceinline__ void open() {
#pragma unroll 1
    for (int i = 0; i < PLACES - 1; i++) fetch();
    here = (PLACES - 1) * PLACE;
  }
  // Goes on to the next span, and asks for another in the place of the last one.
  __device__ __forceinline__ void advance() {
    wait_copies<PLACES - 2 + MUTANT(warpgroup_late_copies)>();
    // All lanes' copies are there, and all have read the place that is next.
    if (!MUTANT(warpgroup_no_warp_barrier)) __syncwarp();
    fetch();
    here = after(here);
  }
  // Half `half` of the codes of step `step` of the span, with the first one the scales.
  __device__ __forceinline__ void load(Raw& raw, int step, int half) const {
    unsigned row = threadIdx.x % 32 / 4, place = ring + here;
    unsigned from = place + row * PITCH + (2 * step + half) * 4 * BITS;
    load(raw.top + half * BITS, from);
    load(raw.low + half * BITS, from + 8 * PITCH);
    if (DECODED) {
      unsigned at = decoded(step) + (row * DECODED + half * HALF_DECODED) * 4;
#pragma unroll
      for (int h = 0; h < 2; h++, at += 8 * DECODED * 4) {
        if constexpr (HALF_DECODED == 2) {
          uint2 x;
          load_shared(x, at);
          raw.decoded[half][h][0] = x.x, raw.decoded[half][h][1] = x.y;
        } else raw.decoded[half][h][0] = load_shared_u32(at);
      }
      return;
    }
    if (half == 1 || step % ALIKE) return;
    unsigned scale = place + SCALES + row * ROW_SCALES + scale_at(step, 0) / 4 * 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      raw.scales[copy_of(step)][h] = load_shared_u32(scale + h * 8 * ROW_SCALES);
      if (ARRAYS == 2)
        raw.biases[copy_of(step)][h] = load_shared_u32(scale + (16 + h * 8) * ROW_SCALES);
    }
  }
  // Decodes the scales of steps `step` to step + AT_ONCE - 1 of the span, if `step` is a multiple of AT_ONCE.
  __device__ __forceinline__ void prepare(int step) const {
    if (!DECODED || step % AT_ONCE) return;
    constexpr int CODES = DECODED * AT_ONCE + !DECODED;  // of a row
    static_assert(!DECODED || (16 * CODES == 32 * OF_LANE && (AT_ONCE == 1 || OF_LANE == DECODED)), "one pass");
    // A loop, although it has one pass: nvcc 13.0 makes slower code of MXFP8 without.
    unsigned lane = threadIdx.x % 32, scales = ring + here + SCALES + scale_at(step, 0);
#pragma unroll
    for (int i = 0; i < 16 * CODES; i += 32 * OF_LANE) {
      unsigned row = (i + lane * OF_LANE) / CODES, at = (i + lane * OF_LANE) % CODES;
      unsigned from = scales + row * ROW_SCALES + at;
      unsigned codes = OF_LANE == 1   ? load_shared_u8(from)
                       : OF_LANE == 2 ? load_shared_u16_movable(from)
                                      : load_shared_u32(from);
      unsigned to = AT_ONCE == 1 ? decoded(step) + (i + lane) * 4
                                 : decoded(step + at / (DECODED + !DECODED)) + row * DECODED * 4;
      unsigned v[OF_LANE];
      scales_twice(codes, v);
      if constexpr (OF_LANE == 1) store_shared_u32(to, v[0]);
      else if constexpr (OF_LANE == 2) store_shared(to, uint2{v[0], v[1]});
      else store_shared(to, uint4{v[0], v[1], v[2], v[3]});
    }
    if (!MUTANT(warpgroup_early_scales)) __syncwarp();
  }

 private:
  __device__ static unsigned lane() { return threadIdx.x % 32; }
  __device__ static unsigned after(unsigned place) {
    constexpr unsigned MOST = (PLACES - 1) * PLACE;
    if (MUTANT(warpgroup_one_place)) return place;
    return PLACES == 2 ? MOST - place : place == MOST ? 0 : place + PLACE;
  }
  // The row of word `i` of all scales or biases of a span, below the lane's own row.
  __device__ static constexpr int scale_row(int i) { return i % (16 * EACH) / EACH; }
  // Bytes from the warp's first row to the lane's first chunk, and to its first word of scales.
  __device__ unsigned code_from() const { return lane() / CHUNKS * codes + lane() % CHUNKS * 16; }
  __device__ unsigned scale_from() const { return lane() / EACH % 16 * words + lane() % EACH * 4; }
  __device__ unsigned decoded(int step) const {
    return ring + PLACES * PLACE + step % ((2 - MUTANT(warpgroup_short_scales)) * AT_ONCE) * 16 * DECODED * 4;
  }
  __device__ static __forceinline__ void load(unsigned* v, unsigned from) {
    if constexpr (BITS % 4 == 0) {
#pragma unroll
      for (int i = 0; i < BITS; i += 4) {
        uint4 x;
        load_shared(x, from + i * 4);
        v[i] = x.x, v[i + 1] = x.y, v[i + 2] = x.z, v[i + 3] = x.w;
      }
    } else if constexpr (BITS % 2 == 0) {
#pragma unroll
      for (int i = 0; i < BITS; i += 2) {
        uint2 x;
        load_shared(x, from + i * 4);
        v[i] = x.x, v[i + 1] = x.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < BITS; i++) v[i] = load_shared_u32(from + i * 4);
    }
  }
};

#endif
