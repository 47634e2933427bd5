// How the sums of a cluster's blocks meet in distributed shared memory.
//
// Idea: a unit of four sums belongs to one block of the cluster. Every block sends it there;
// an mbarrier of the owner counts the bytes, and the owner adds what came in the order of the
// senders, so that the sum does not depend on who was first. No workspace, no second launch.
//
// Compile-time: CLUSTER.
#ifndef MNKBENCH_MAILBOX
#define MNKBENCH_MAILBOX
#include "../../common/mutant.h"
#include "../../device/ptx_barrier.h"
#include "../../device/ptx_memory.h"
#include "../../matmul/cuda/tile/element.cuh"

using Four = Pack<float, 4>;

// `most`: units of a tile at most.
struct ClusterReduce {
  static __host__ __device__ constexpr int share(int most) {
    return (most + CLUSTER - 1) / CLUSTER;
  }
  // Of shared memory, the barrier behind the sums.
  static __host__ __device__ constexpr int bytes(int most) {
    return CLUSTER > 1 ? CLUSTER * share(most) * 16 + 16 : 0;
  }

  unsigned mail, bar;
  int rank, apart;

  __device__ ClusterReduce(const void* at, int most)
      : mail(shared_address(at)), bar(mail + CLUSTER * share(most) * 16),
        rank(0), apart(share(most)) {
    if (CLUSTER > 1) rank = cluster_rank();
  }

  // How many of `units` this block owns: number `rank` and every CLUSTERth after it.
  __device__ int own(int units) const { return (units - rank + CLUSTER - 1) / CLUSTER; }

  // Opens it; the cluster learns of that without waiting, for copies under way either.
  __device__ void open(int units) {
    if (CLUSTER == 1) return;
    if (threadIdx.x == 0) {
      int mine = MUTANT(mailbox_many_bytes) ? apart : own(units);
      int bytes = (MUTANT(mailbox_few_bytes) ? 1 : CLUSTER) * mine * 16;
      if (MUTANT(mailbox_no_fence)) barrier_init(bar, 1), barrier_expect(bar, bytes);
      else barrier_open(bar, bytes);
    }
    __syncwarp();
    if (!MUTANT(mailbox_no_arrive)) cluster_arrive_relaxed();
  }

  // Before the first `send`: all are open.
  __device__ void ready() const {
    if (CLUSTER > 1 && !MUTANT(mailbox_early_send)) cluster_wait();
  }

  __device__ void send(int unit, const Four& x) const {
    int place = (MUTANT(mailbox_same_place) ? 0 : rank * apart) + unit / CLUSTER;
    store_async(mail + place * 16, bar, unit % CLUSTER, x.at);
  }

  __device__ void receive() const { barrier_wait_cluster<0>(bar); }

  // The sum of what came for the `i`th unit of this block.
  __device__ Four sum(int i) const {
    Four all = {};
#pragma unroll
    for (int s = 0; s < CLUSTER; s++) {
      Four x;
      load_shared(x.at, mail + (s * apart + i) * 16);
      for (int j = 0; j < 4; j++) all.at[j] += x.at[j];
    }
    return all;
  }
};

// Hands each of `units` units, as `made` returns it, to `taken`, in the block that owns it.
template <class Made, class Taken>
__device__ inline void exchange(const ClusterReduce& box, int units, Made made, Taken taken) {
  if (CLUSTER == 1) {
    for (int unit = threadIdx.x; unit < units; unit += blockDim.x) taken(unit, made(unit));
    return;
  }
  box.ready();
  for (int unit = threadIdx.x; unit < units; unit += blockDim.x) box.send(unit, made(unit));
  if (!MUTANT(mailbox_no_receive)) box.receive();
  for (int i = threadIdx.x; i < box.own(units); i += blockDim.x)
    taken(i * CLUSTER + box.rank, box.sum(i));
}

#endif
