// How the blocks of a cluster add their sums through distributed shared memory.
//
// Every block sends each share of its sums to the block that owns the share, which waits for
// the bytes of all (an mbarrier counts them) and adds them in the order of the slices. That all
// mailboxes are open is known while the first copies are under way, and no block leaves before
// it has what is sent to it.
//
// Compile-time, beside cut.cuh's: CLUSTER.
//
// PTX ISA: "st.async", "mapa", "barrier.cluster", "fence.mbarrier_init", "mbarrier.try_wait".
#ifndef MNKBENCH_SHARES
#define MNKBENCH_SHARES
#include "meeting.cuh"

// `Way` says how a slice is multiplied: its Product, the bytes of shared memory it needs
// (ROOM), and run<WHOLE>(product, a, b, ...), after which the warps' sums have met.
template <class Way>
struct Shares {
  using Product = typename Way::Product;
  using Vec = typename Product::Vec;
  using Own = Meeting<Product>;
  static constexpr int W = sizeof(Vec) / sizeof(float);
  // A unit is one Vec of the tile: of a slot, a position and a lane.
  static constexpr int UNITS = Product::SLOTS * POSITIONS * 32;
  static constexpr int SHARE = (UNITS + CLUSTER - 1) / CLUSTER;
  // The units that are a thread's once all sums have met.
  static constexpr int EACH = (SHARE + THREADS - 1) / THREADS;
  // What follows the mailbox and its barrier in shared memory.
  static constexpr int END = Way::ROOM + CLUSTER * SHARE * sizeof(Vec) + 16;

  int rank;
  unsigned mail, bar;

  __device__ static unsigned inbox() {
    return (unsigned)__cvta_generic_to_shared(memory) + Way::ROOM;
  }

  __device__ Shares() {
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    mail = inbox();
    bar = mail + CLUSTER * SHARE * sizeof(Vec);
  }

  __device__ int units() const { return max(0, min(SHARE, UNITS - rank * SHARE)); }

  // Opens the mailbox; the cluster learns of it without waiting.
  __device__ void open() {
    if (CLUSTER == 1) return;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                   "fence.mbarrier_init.release.cluster;\n"
                   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
                   "r"(bar), "r"((int)(CLUSTER * units() * sizeof(Vec))) : "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  }

  // Gives `to(unit, sum)` what the calling thread holds of the block's sums.
  template <class To>
  __device__ static void each(const Product& product, To to) {
    int position = Place().position, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < Own::OWN; i++) {
      int slot = Own::slot(i);
      if (slot >= Product::SLOTS) break;
      to((slot * POSITIONS + position) * 32 + lane, product.part[i]);
    }
  }

  __device__ void send(const Product& product) {
    if (CLUSTER > 1) asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    each(product, [&](int unit, const Vec& sum) {
      unsigned at = mail + (rank * SHARE + unit % SHARE) * sizeof(Vec);
      if (CLUSTER > 1) put(at, unit / SHARE, sum);
      else ((Vec*)(memory + Way::ROOM))[unit] = sum;
    });
  }

  __device__ void put(unsigned at, unsigned to, const Pack<float, 2>& x) {
    asm volatile("{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2;\n"
                 "mapa.shared::cluster.u32 m, %1, %2;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 "
                 "[a], {%3, %4}, [m]; }" ::
                 "r"(at), "r"(bar), "r"(to), "f"(x.at[0]), "f"(x.at[1]) : "memory");
  }
  __device__ void put(unsigned at, unsigned to, const Pack<float, 4>& x) {
    asm volatile("{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2;\n"
                 "mapa.shared::cluster.u32 m, %1, %2;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                 "[a], {%3, %4, %5, %6}, [m]; }" ::
                 "r"(at), "r"(bar), "r"(to), "f"(x.at[0]), "f"(x.at[1]), "f"(x.at[2]),
                 "f"(x.at[3]) : "memory");
  }

  __device__ void receive() {
    if (CLUSTER == 1) return __syncthreads();
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                 "done, [%0], 0;\n"
                 "@!done bra again; }" :: "r"(bar) : "memory");
  }

  // Gives `to(i, sum)` the sums of what all blocks sent of this block's share.
  template <class To>
  __device__ void sums(int units, To to) const {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int i = threadIdx.x + e * THREADS;
      if (i >= units) break;
      const Vec* from = (const Vec*)(memory + Way::ROOM) + i;
      Vec all = {};
#pragma unroll
      for (int s = 0; s < CLUSTER; s++) {
        Vec x = from[s * SHARE];
        for (int j = 0; j < W; j++) all.at[j] += x.at[j];
      }
      to(i, all);
    }
  }
};

#endif
