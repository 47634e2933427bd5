// Loads, stores and copies. See ptx.h.
#ifndef MNKBENCH_PTX_MEMORY
#define MNKBENCH_PTX_MEMORY
#include "ptx.h"

// Loads and stores by PTX: shared memory by its 32-bit address, global memory past the caches,
// and what blocks of a grid tell one another.
//
// PTX ISA: "ld", "ld.global.nc", "st", "createpolicy", "prefetch", "Memory Consistency Model",
// "atom", "fence".

// Shared memory, at multiples of the size.
DEVICE unsigned load_shared_u8(unsigned from) {
  unsigned x;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}
DEVICE unsigned load_shared_u32(unsigned from) {
  unsigned x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}
DEVICE void load_shared(uint2& x, unsigned from) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(from) : "memory");
}
DEVICE void load_shared(uint4& x, unsigned from) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(from) : "memory");
}
DEVICE void load_shared(float (&x)[4], unsigned from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "r"(from) : "memory");
}
// The same, past which the compiler may move plain loads and stores: for what only copies and
// barriers of PTX write.
DEVICE unsigned short load_shared_u8_movable(unsigned from) {
  unsigned short x;
  asm volatile("ld.shared.u8 %0, [%1];" : "=h"(x) : "r"(from));
  return x;
}
DEVICE unsigned short load_shared_u16_movable(unsigned from) {
  unsigned short x;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(from));
  return x;
}
DEVICE unsigned load_shared_u32_movable(unsigned from) {
  unsigned x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from));
  return x;
}
DEVICE void load_shared_movable(uint2& x, unsigned from) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(from));
}
DEVICE void load_shared_movable(uint4& x, unsigned from) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(from));
}

DEVICE void store_shared_u8(unsigned to, unsigned char x) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(to), "h"((unsigned short)x) : "memory");
}
DEVICE void store_shared_u16(unsigned to, unsigned short x) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(x) : "memory");
}
DEVICE void store_shared_u32(unsigned to, unsigned x) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}
DEVICE void store_shared(unsigned to, const uint2& x) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x.x), "r"(x.y) : "memory");
}
DEVICE void store_shared(unsigned to, const uint4& x) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y), "r"(x.z),
               "r"(x.w) : "memory");
}

// What becomes of a line in the second-level cache: it leaves first, or in its turn. Not
// evict_last for what is read again: it would outlive the call, and a flush.
DEVICE unsigned long long evict_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
DEVICE unsigned long long evict_normal() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Global memory that nobody writes while the kernel runs and that is read once.
template <class T>
DEVICE void load_once(unsigned (&x)[1], const T* from, unsigned long long policy) {
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;"
               : "=r"(x[0]) : "l"(from), "l"(policy));
}
template <class T>
DEVICE void load_once(unsigned (&x)[2], const T* from, unsigned long long policy) {
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
               : "=r"(x[0]), "=r"(x[1]) : "l"(from), "l"(policy));
}
template <class T>
DEVICE void load_once(unsigned (&x)[4], const T* from, unsigned long long policy) {
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "l"(from), "l"(policy));
}
// The same; 0, and no access, where it is not there.
template <class T>
DEVICE void load_once(uint4& x, const T* from, bool there, unsigned long long policy) {
  asm volatile("{ .reg .pred there; setp.ne.b32 there, %6, 0;\n"
               "mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;\n"
               "@there ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, "
               "[%4], %5; }"
               : "=&r"(x.x), "=&r"(x.y), "=&r"(x.z), "=&r"(x.w)
               : "l"(from), "l"(policy), "r"((int)there));
}

// Brings a line to the second-level cache.
DEVICE void prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// Words that blocks of a grid tell one another, each whole; nothing else is ordered by them.
template <class T>
DEVICE void load_relaxed(float (&x)[2], const T* from) {
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];"
               : "=f"(x[0]), "=f"(x[1]) : "l"(from) : "memory");
}
template <class T>
DEVICE void load_relaxed(float (&x)[4], const T* from) {
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]) : "l"(from) : "memory");
}
template <class T>
DEVICE void store_relaxed(T* to, const float (&x)[2]) {
  asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x[0]), "f"(x[1])
               : "memory");
}
template <class T>
DEVICE void store_relaxed(T* to, const float (&x)[4]) {
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x[0]),
               "f"(x[1]), "f"(x[2]), "f"(x[3]) : "memory");
}
// What was written before who wrote this word told so by a release is seen after.
DEVICE unsigned load_acquire(const unsigned* from) {
  unsigned x;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
  return x;
}
// Takes 1 off, or writes `most` over 0 and over what is greater than it; returns what was there.
// What the block wrote before, up to a __syncthreads, is seen by who reads the new value so.
DEVICE unsigned decrement_acq_rel(unsigned* p, unsigned most) {
  unsigned before;
  asm volatile("fence.acq_rel.gpu;\n"
               "atom.acq_rel.gpu.dec.u32 %0, [%1], %2;\n"
               "fence.acq_rel.gpu;"
               : "=r"(before) : "l"(p), "r"(most) : "memory");
  return before;
}

// Copies from global to shared memory that a thread waits for by groups (cp.async).
// Both addresses are multiples of the size. `there`: zeros come instead, and global memory is not
// read, where it is false.
//
// PTX ISA: "cp.async" (ignore-src fills with zeros), "cp.async.commit_group",
// "cp.async.wait_group".

// 16 bytes, past the first-level cache.
template <class T>
DEVICE void copy_async_16(unsigned to, const T* from, bool there) {
  asm volatile("{ .reg .pred absent; setp.ne.b32 absent, %2, 0;\n"
               "cp.async.cg.shared.global [%0], [%1], 16, absent; }" ::"r"(to), "l"(from),
               "r"((int)!there) : "memory");
}
template <class T>
DEVICE void copy_async_16(unsigned to, const T* from, bool there, unsigned long long policy) {
  asm volatile("{ .reg .pred absent; setp.ne.b32 absent, %2, 0;\n"
               "cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, absent, %3; }" ::"r"(to),
               "l"(from), "r"((int)!there), "l"(policy) : "memory");
}
// The second-level cache takes lines of 128 bytes.
template <class T>
DEVICE void copy_async_16_line(unsigned to, const T* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}
// It is there if `left` is more than 0: as a condition of C++ it would change code that was
// measured.
template <class T>
DEVICE void copy_async_16_line(unsigned to, const T* from, int left) {
  asm volatile("{ .reg .pred absent; setp.le.s32 absent, %2, 0;\n"
               "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, absent; }" ::"r"(to),
               "l"(from), "r"(left) : "memory");
}
// 4 bytes, by way of the first-level cache.
template <class T>
DEVICE void copy_async_4(unsigned to, const T* from, bool there) {
  asm volatile("{ .reg .pred absent; setp.ne.b32 absent, %2, 0;\n"
               "cp.async.ca.shared.global [%0], [%1], 4, absent; }" ::"r"(to), "l"(from),
               "r"((int)!there) : "memory");
}

// The thread's copies since the last group are one, maybe empty.
DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until at most LEFT of the thread's groups are under way, the last ones. Other threads see what
// was copied after a barrier.
template <int LEFT>
DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

#endif
