// How the sums of a cluster's blocks meet in distributed shared memory.
//
// Idea: a unit of four sums belongs to one block of the cluster. Every block sends it there;
// an mbarrier of the owner counts the bytes, and the owner adds what came in the order of the
// senders, so that the sum does not depend on who was first. No workspace, no second launch.
//
// Compile-time: CLUSTER. PTX ISA: "st.async", "mapa", "barrier.cluster", "mbarrier.try_wait".
#ifndef MNKBENCH_MAILBOX
#define MNKBENCH_MAILBOX
#include "../matmul/element.cuh"

using Four = Pack<float, 4>;

// `most`: units of a tile at most.
struct Mailbox {
  static __host__ __device__ constexpr int share(int most) {
    return (most + CLUSTER - 1) / CLUSTER;
  }
  // Of shared memory, the barrier behind the sums.
  static __host__ __device__ constexpr int bytes(int most) {
    return CLUSTER > 1 ? CLUSTER * share(most) * 16 + 16 : 0;
  }

  unsigned mail, bar;
  int rank, apart;

  __device__ Mailbox(const void* at, int most)
      : mail((unsigned)__cvta_generic_to_shared(at)), bar(mail + CLUSTER * share(most) * 16),
        rank(0), apart(share(most)) {
    if (CLUSTER > 1) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  }

  // How many of `units` this block owns: number `rank` and every CLUSTERth after it.
  __device__ int own(int units) const { return (units - rank + CLUSTER - 1) / CLUSTER; }

  // Opens it; the cluster learns of that without waiting.
  __device__ void open(int units) {
    if (CLUSTER == 1) return;
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                   "fence.mbarrier_init.release.cluster;\n"
                   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::
                   "r"(bar), "r"(CLUSTER * own(units) * 16) : "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  }

  // Before the first `send`: all are open.
  __device__ void ready() const {
    if (CLUSTER > 1) asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }

  __device__ void send(int unit, const Four& x) const {
    asm volatile("{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %2;\n"
                 "mapa.shared::cluster.u32 m, %1, %2;\n"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
                 "[a], {%3, %4, %5, %6}, [m]; }" ::
                 "r"(mail + (rank * apart + unit / CLUSTER) * 16), "r"(bar),
                 "r"(unit % CLUSTER), "f"(x.at[0]), "f"(x.at[1]), "f"(x.at[2]), "f"(x.at[3])
                 : "memory");
  }

  __device__ void receive() const {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                 "done, [%0], 0;\n"
                 "@!done bra again; }" :: "r"(bar) : "memory");
  }

  // The sum of what came for the `i`th unit of this block.
  __device__ Four sum(int i) const {
    Four all = {};
#pragma unroll
    for (int s = 0; s < CLUSTER; s++) {
      Four x;
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x.at[0]), "=f"(x.at[1]), "=f"(x.at[2]), "=f"(x.at[3])
                   : "r"(mail + (s * apart + i) * 16) : "memory");
      for (int j = 0; j < 4; j++) all.at[j] += x.at[j];
    }
    return all;
  }
};

// Hands each of `units` units, as `made` returns it, to `taken`, in the block that owns it.
template <class Made, class Taken>
__device__ inline void exchange(const Mailbox& box, int units, Made made, Taken taken) {
  if (CLUSTER == 1) {
    for (int unit = threadIdx.x; unit < units; unit += blockDim.x) taken(unit, made(unit));
    return;
  }
  box.ready();
  for (int unit = threadIdx.x; unit < units; unit += blockDim.x) box.send(unit, made(unit));
  box.receive();
  for (int i = threadIdx.x; i < box.own(units); i += blockDim.x)
    taken(i * CLUSTER + box.rank, box.sum(i));
}

#endif
