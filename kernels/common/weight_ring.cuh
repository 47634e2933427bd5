// A ring of K steps of few tokens and of the weights that they are multiplied by, for products of
// warpgroups.
//
// Idea: a warp of its own fills the ring by tensor maps: one lane of it asks for a step as soon as all
// who multiply have read what was there. Of each stage one mbarrier counts the bytes that have come,
// and one the warps that have read them.
//
// Compile-time, beside warps.cuh's: STAGES, and REGISTERS: the registers of a thread that multiplies,
// where they exceed what all threads of the block can have. The copying warp is then the first of a
// warpgroup that releases its registers (setmaxnreg). 0: all threads keep what they start with.
#ifndef MNKBENCH_WEIGHT_RING
#define MNKBENCH_WEIGHT_RING
#include "mutant.h"
#include "../device/ptx_barrier.h"
#include "../matmul/cuda/tile/warps.cuh"

#ifndef REGISTERS
#define REGISTERS 0
#endif

// `BYTES` of a stage.
template <class Sums, int BYTES>
struct WeightRing {
  using TiledMma = Sums;
  static constexpr int BARRIERS = STAGES * BYTES, ROOM = BARRIERS + STAGES * 16;
  // The warp that copies comes after those that multiply.
  static constexpr int BLOCK = THREADS + (REGISTERS ? 128 : 32);

  unsigned base, come, read;
  int steps, stage = 0, parity = 0;

  __device__ WeightRing(int steps)
      : base(shared_address(memory)), come(base + BARRIERS), read(come + STAGES * 8), steps(steps) {}
  __device__ void next() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  // Where the next step is.
  __device__ unsigned here() const { return base + stage * BYTES; }

  // Whether the calling thread multiplies. All threads of a warpgroup must call it: setmaxnreg is
  // warpgroup-wide.
  __device__ __forceinline__ static bool multiplies() {
    bool yes = threadIdx.x < THREADS;
    if constexpr (REGISTERS > 0) {
      if (yes) raise_registers<REGISTERS>();
      else lower_registers<24>();
    }
    return yes;
  }

  // The copying thread: initializes the barriers and starts the copies of the first steps.
  // `weights(step, to, bar)` and `tokens(step, to, bar)` start those of one step, BYTES in all. `early`:
  // weights are asked for while the previous launch runs, tokens after it.
  template <class Weights, class Tokens>
  __device__ void open(Weights weights, Tokens tokens, int early) const {
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
      barrier_init(come + s * 8, 1);
      barrier_init(read + s * 8, MUTANT(weights_one_warp) ? 1 : WARPS);
    }
    barrier_made();
    // The next launch may start: it asks for its own weights.
    launch_dependents();
    auto first = [&](auto ask) {
#pragma unroll
      for (int s = 0; s < STAGES; s++)
        if (s == 0 || s < steps) ask(s);
    };
    auto ask_weights = [&](int s) {
      expect(s);
      weights(s, base + s * BYTES, come + s * 8);
    };
    auto ask_tokens = [&](int s) { tokens(s, base + s * BYTES, come + s * 8); };
    if (early) {
      first(ask_weights);
      if (!MUTANT(weights_no_launch_wait)) wait_for_prerequisites();
      first(ask_tokens);
    } else {
      first([&](int s) { ask_weights(s), ask_tokens(s); });
    }
  }
  // The same thread: the copies of all later steps.
  template <class Weights, class Tokens>
  __device__ void refill(Weights weights, Tokens tokens) {
#pragma unroll 1
    for (int step = STAGES; step < steps; step++, next()) {
      if (!MUTANT(weights_early_refill)) barrier_wait(read + stage * 8, parity);
      expect(stage);
      weights(step, base + stage * BYTES, come + stage * 8);
      tokens(step, base + stage * BYTES, come + stage * 8);
    }
  }
  // A thread that multiplies: waits until the next step has arrived.
  __device__ void wait() const {
    if (!MUTANT(weights_no_wait)) barrier_wait(come + stage * 8, parity);
  }
  // The warp has read step `step`, which was in stage `from`.
  __device__ void release(int step, int from) const {
    __syncwarp();
    if (step + STAGES < steps && threadIdx.x % 32 == 0) barrier_arrive(read + from * 8);
  }

 private:
  __device__ void expect(int stage) const {
    barrier_expect(come + stage * 8, BYTES - (MUTANT(weights_few_bytes) ? 1024 : 0));
  }
};

#endif
