// How the blocks of a cluster add their sums through distributed shared memory.
//
// Every block sends each share of its sums to the block that owns the share, which waits for
// the bytes of all (an mbarrier counts them) and adds them in the order of the slices. That all
// mailboxes are open is known while the first copies are under way, and no block leaves before
// it has what is sent to it.
//
// Compile-time, beside warps.cuh's: CLUSTER, and TILES_M, TILES_N: more than one tile is a cluster's,
// the blocks of each one after another.
#ifndef MNKBENCH_SHARES
#define MNKBENCH_SHARES
#include "../../../common/mutant.h"
#include "../../../device/ptx_barrier.h"
#include "../../../device/ptx_memory.h"
#include "warps.cuh"

#ifndef TILES_M
#define TILES_M 1
#endif
#ifndef TILES_N
#define TILES_N 1
#endif
constexpr int TILES = TILES_M * TILES_N;

// `Mainloop` says how a slice is multiplied: its TiledMma, the bytes of shared memory it needs
// (ROOM), and run<WHOLE>(product, A, B, m0, n0, k0, length, sizes, early, meanwhile), after
// which the warps' sums have met; false to a thread that has none.
template <class Mainloop>
struct ClusterReduce {
  using TiledMma = typename Mainloop::TiledMma;
  using Vec = typename TiledMma::Vec;
  using Own = WarpReduce<TiledMma>;
  static constexpr int W = sizeof(Vec) / sizeof(float);
  // A unit is one Vec of the tile: of a slot, a position and a lane.
  static constexpr int UNITS = TiledMma::SLOTS * POSITIONS * 32;
  static constexpr int SHARE = (UNITS + CLUSTER - 1) / CLUSTER;
  // The units that are a thread's once all sums have met.
  static constexpr int EACH = (SHARE + THREADS - 1) / THREADS;
  // Of warpgroups, slot i of every thread belongs to block i % CLUSTER, so that what is a block's own
  // stays in registers, unless slots are so few that shares would differ much. They take no more
  // room than shares.
  static constexpr int SLOTS = TiledMma::SLOTS, MOST = (SLOTS + CLUSTER - 1) / CLUSTER;
  static constexpr bool BY_SLOT = WARPGROUPS && CLUSTER > 1 &&
                                  (SLOTS % CLUSTER == 0 || SLOTS >= (CLUSTER - 1) * (CLUSTER - 1));
  // Bytes of the mailbox, and what follows it and its barrier in shared memory.
  static constexpr int MAIL =
      (BY_SLOT ? (CLUSTER - 1) * MOST * THREADS : CLUSTER * SHARE) * (int)sizeof(Vec);
  static constexpr int END = Mainloop::ROOM + MAIL + 16;

  // Among the blocks of the tile, of which the first of all is the cluster's `first`.
  int rank, first = 0;
  unsigned mail, bar;

  __device__ static unsigned inbox() {
    return shared_address(memory) + Mainloop::ROOM;
  }

  __device__ ClusterReduce() {
    rank = cluster_rank();
    if (TILES > 1) {
      first = rank / CLUSTER * CLUSTER;
      rank -= first;
    }
    mail = inbox();
    bar = mail + MAIL;
  }

  __device__ int units() const { return max(0, min(SHARE, UNITS - rank * SHARE)); }
  // Of what this block owns, how much comes from each that sends.
  __device__ int owned() const {
    return BY_SLOT ? (SLOTS - rank + CLUSTER - 1) / CLUSTER * THREADS : units();
  }
  // The number in the cluster of the tile's block `owner`.
  __device__ int block(int owner) const { return (MUTANT(cluster_first_tile) ? 0 : first) + owner; }

  // Opens the mailbox; the cluster learns of it without waiting, for copies under way either.
  __device__ void open() {
    if (CLUSTER * TILES == 1) return;
    if (CLUSTER > 1 && threadIdx.x == 0) {
      int senders = CLUSTER - BY_SLOT - MUTANT(cluster_few_bytes);
      int bytes = senders * owned() * (int)sizeof(Vec);
      bytes += 8 * MUTANT(cluster_many_bytes);
      if (MUTANT(cluster_no_fence)) barrier_init(bar, 1), barrier_expect(bar, bytes);
      else barrier_open(bar, bytes);
    }
    if (MUTANT(cluster_no_arrive)) return;
    __syncwarp();
    cluster_arrive_relaxed();
  }

  // Gives `to(unit, sum)` what the calling thread holds of the block's sums.
  template <class To>
  __device__ static void each(const TiledMma& product, To to) {
    int position = Place().position, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < Own::OWN; i++) {
      int slot = Own::slot(i);
      if (slot >= TiledMma::SLOTS) break;
      to((slot * POSITIONS + position) * 32 + lane, product.part[i]);
    }
  }

  // All mailboxes are open. Blocks of several tiles have waited for that before they copied.
  __device__ void ready() {
    if (CLUSTER > 1 && TILES == 1 && !MUTANT(cluster_early_send)) cluster_wait();
  }

  __device__ void send(const TiledMma& product) {
    ready();
    each(product, [&](int unit, const Vec& sum) {
      int place = (MUTANT(cluster_same_place) ? 0 : rank * SHARE) + unit % SHARE;
      unsigned at = mail + place * sizeof(Vec);
      int owner = block(unit / SHARE);
      if (MUTANT(cluster_wrong_owner)) owner = (owner + 1) % CLUSTER;
      if (CLUSTER > 1) store_async(at, bar, owner, sum.at);
      else ((Vec*)(memory + Mainloop::ROOM))[unit] = sum;
    });
  }

  __device__ void receive() {
    if (CLUSTER == 1) return __syncthreads();
    if (!MUTANT(cluster_no_receive)) barrier_wait_cluster<MUTANT(cluster_wrong_parity)>(bar);
  }

  // Where slot `slot` of the calling thread lies that block `from` of the others sent.
  __device__ unsigned letter(int from, int slot) const {
    if (MUTANT(slots_same_place)) from = 0;
    return mail + ((from * MOST + slot / CLUSTER) * THREADS + threadIdx.x) * (unsigned)sizeof(Vec);
  }
  // BY_SLOT: sends the slots of other blocks.
  __device__ void send_slots(const TiledMma& product) {
    ready();
#pragma unroll
    for (int i = 0; i < SLOTS; i++) {
      int owner = i % CLUSTER;
      if (owner == rank) continue;
      int from = rank - (rank > owner && !MUTANT(slots_wrong_sender));
      store_async(letter(from, i), bar, block(owner), product.part[i].at);
    }
  }
  // BY_SLOT: gives `to(i, sum)` the sums of this block's slots.
  template <class To>
  __device__ void slot_sums(const TiledMma& product, To to) const {
#pragma unroll
    for (int i = 0; i < SLOTS; i++) {
      if (i % CLUSTER != rank) continue;
      Vec sum = product.part[i];
#pragma unroll
      for (int from = 0; from < CLUSTER - 1 - MUTANT(slots_skip_block); from++) {
        float x[W];
        load_shared(x, letter(from, i));
        for (int j = 0; j < W; j++) sum.at[j] += x[j];
      }
      to(i, sum);
    }
  }

  // Gives `to(i, sum)` the sums of what all blocks sent of this block's share.
  template <class To>
  __device__ void sums(int units, To to) const {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int i = threadIdx.x + e * THREADS;
      if (i >= units) break;
      const Vec* from = (const Vec*)(memory + Mainloop::ROOM) + i;
      // Four at a time, so that additions do not all wait for one another.
      constexpr int AT_ONCE = CLUSTER < 4 ? CLUSTER : 4;
      Vec all[AT_ONCE] = {};
#pragma unroll
      for (int s = 0; s < CLUSTER; s++) {
        Vec x = from[s * SHARE];
        for (int j = 0; j < W; j++) all[s % AT_ONCE].at[j] += x.at[j];
      }
#pragma unroll
      for (int s = 1; s < AT_ONCE; s++)
        for (int j = 0; j < W; j++) all[0].at[j] += all[s].at[j];
      to(i, all[0]);
    }
  }

  // Adds the sums of all blocks, and gives `to(where(unit), sum)` those of this one. The first of a
  // thread's units is looked for while sums are on their way.
  template <class Where, class To>
  __device__ void all(const TiledMma& product, Where where, To to) {
    int own = rank * (BY_SLOT ? THREADS : SHARE);
    if constexpr (BY_SLOT) send_slots(product);
    else send(product);
    auto early = where(own + threadIdx.x);
    receive();
    if constexpr (BY_SLOT)
      slot_sums(product, [&](int i, const Vec& sum) {
        if (i < CLUSTER) to(early, sum);
        else to(where(i * THREADS + threadIdx.x), sum);
      });
    else
      sums(units(), [&](int i, const Vec& sum) {
        if (i == threadIdx.x) to(early, sum);
        else to(where(own + i), sum);
      });
  }
};

#endif
