// Included before cluster.cu: bounds the wait of exchange-k, so that nothing hangs for ever.
//
// The mutant exchange_no_poll is true where a wait ends before the word has come. Here it is true
// once `give_up_at` has passed.
#pragma once
__device__ unsigned long long give_up_at = ~0ull;  // by %globaltimer
__device__ unsigned gave_up;
__device__ inline bool waits_too_long() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (now < *(volatile unsigned long long*)&give_up_at) return false;
  atomicAdd(&gave_up, 1);
  return true;
}
#define MUTANT_exchange_no_poll waits_too_long()
#define MUTANT_IS_waits_too_long() 0, waits_too_long() &&
