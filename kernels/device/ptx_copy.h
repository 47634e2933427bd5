// Copies from global to shared memory that a thread waits for by groups (cp.async). See ptx.h.
// Both addresses are multiples of the size. `there`: zeros come instead, and global memory is not
// read, where it is false.
//
// PTX ISA: "cp.async" (ignore-src fills with zeros), "cp.async.commit_group",
// "cp.async.wait_group".
#ifndef MNKBENCH_PTX_COPY
#define MNKBENCH_PTX_COPY
#include "ptx.h"

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
