// The instructions of blackwell.cu on a CPU: a thread of the block is a thread of the host.
//
// Written from PTX's documents, and apart from encoders.h: descriptors are decoded here field by
// field. Nothing that is asynchronous happens before what waits for it: copies to shared memory
// land in copies_wait(), products and copies to tensor memory when tensor_commit() ends them.
// Memory is poisoned, a wrong field or place ends the process.
#ifndef BLACKWELL_MODEL
#define BLACKWELL_MODEL
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __shared__
#define __align__(x) __attribute__((aligned(x)))
#define __launch_bounds__(...)
static int min(int a, int b) { return a < b ? a : b; }
struct Dim { unsigned x; };
struct uint4 { unsigned x, y, z, w; };
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

constexpr unsigned WINDOW = 0x8000, LANES = 128, WIDTH = 512; // where shared memory starts
constexpr int THREADS = 160;
extern unsigned char memory[];
static thread_local Dim threadIdx, blockIdx;
static unsigned tensor[LANES][WIDTH], allocated_at, allocated;

#define CHECK(OK) \
  ((OK) ? (void)0 : (fprintf(stderr, "model: %s, line %d\n", #OK, __LINE__), fflush(stderr), _Exit(3)))

// Something that threads wait for: asleep, as the one that works would get no core beside 159 that
// look again and again. Whoever waits for a minute waits for ever.
struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  template <class F> void wait(F over) {
    for (int spins = 0; spins < 64; spins++) {
      if (over()) return;
      std::this_thread::yield();
    }
    std::unique_lock<std::mutex> lock(mutex);
    CHECK(changed.wait_for(lock, std::chrono::seconds(60), over));
  }
  // After a change: who looked before it sleeps by now, or has yet to look.
  void tell() {
    { std::lock_guard<std::mutex> lock(mutex); }
    changed.notify_all();
  }
};

struct ThreadBarrier { // of `count` threads, again and again
  std::atomic<int> there{0}, round{0};
  Event event;
  void wait(int count) {
    int now = round;
    if (++there == count) there = 0, round++, event.tell();
    else event.wait([&] { return round != now; });
  }
};
static ThreadBarrier all, warps[THREADS / 32];

// What of this thread's the next barrier may not find: copies that the tensor cores were not shown,
// uses of tensor memory without a fence after them; and whether a fence came after the last one.
static thread_local bool hidden, unfenced, fenced;
static void show_to_tensor_cores() { hidden = false; }
static void tensor_fence_before() { unfenced = false; }
static void tensor_fence_after() { fenced = true; }
static void __syncthreads() {
  CHECK(!unfenced);
  fenced = false;
  all.wait(THREADS);
}
static void __syncwarp() {
  CHECK(!hidden);
  warps[threadIdx.x / 32].wait(32);
}
static bool elect() { return threadIdx.x % 32 == 0; }

static unsigned shared_address(const void* p) {
  return WINDOW + (unsigned)((const unsigned char*)p - memory);
}
static unsigned char* at(unsigned address) {
  CHECK(address >= WINDOW && address < WINDOW + 232448);
  return memory + (address - WINDOW);
}
static unsigned load_word(unsigned from) {
  unsigned x;
  memcpy(&x, at(from), 4);
  return x;
}
static unsigned f32_to_2f16(float low, float high) {
  _Float16 x[2] = {(_Float16)low, (_Float16)high};
  unsigned both;
  memcpy(&both, x, 4);
  return both;
}

// A barrier is a phase, and the arrivals that are left of it; in its 8 bytes is its number.
struct Barrier {
  int arrivals = 0;
  std::atomic<int> left{0}, phase{0};
  Event event;
};
static std::deque<Barrier> barriers;
static Barrier& barrier(unsigned bar) {
  unsigned number = load_word(bar);
  CHECK(bar % 8 == 0 && number < barriers.size());
  return barriers[number];
}
static void barrier_init(unsigned bar, int arrivals) {
  unsigned number = barriers.size();
  barriers.emplace_back();
  barriers[number].arrivals = barriers[number].left = arrivals;
  memcpy(at(bar), &number, 4);
}
static void barrier_made() {}
static void barrier_arrive(unsigned bar) {
  Barrier& b = barrier(bar);
  if (--b.left == 0) b.left = b.arrivals, b.phase++, b.event.tell();
}
static void barrier_wait(unsigned bar, int parity) {
  Barrier& b = barrier(bar);
  fenced = false;
  b.event.wait([&] { return b.phase % 2 != parity; });
}

using Work = std::vector<std::function<void()>>;
static thread_local Work copies;
static thread_local std::deque<Work> groups;
static void copy_chunk(unsigned to, const void* from) {
  CHECK(to % 16 == 0 && (size_t)from % 16 == 0);
  copies.push_back([=] { memcpy(at(to), from, 16), hidden = true; });
}
static void copies_commit() { groups.push_back(std::move(copies)), copies.clear(); }
template <int N> static void copies_wait() {
  for (; groups.size() > N; groups.pop_front())
    for (auto& copy : groups.front()) copy();
}

static void tensor_alloc(unsigned slot, int columns) {
  CHECK(columns >= 32 && columns <= 512 && (columns & (columns - 1)) == 0);
  if (threadIdx.x % 32 == 0) allocated = columns, allocated_at = WIDTH - columns; // not always 0
  if (threadIdx.x % 32 == 0) memcpy(at(slot), &allocated_at, 4);
  unfenced = true;
}
static void tensor_free(unsigned base, int columns) {
  CHECK(fenced && base == allocated_at && (unsigned)columns == allocated);
}
static unsigned& cell(unsigned address, int lane, int column) {
  unsigned l = (address >> 16) + lane, c = (address & 0xffff) + column;
  CHECK(l < LANES && c >= allocated_at && c < WIDTH);
  return tensor[l][c];
}

static thread_local Work issued;
static unsigned field(unsigned long long x, int from, int bits) {
  return x >> from & ((1ull << bits) - 1);
}
static void tensor_copy(unsigned to, unsigned long long d) {
  CHECK(fenced);
  issued.push_back([=] {
    CHECK(field(d, 46, 3) == 1 && field(d, 49, 15) == 0 && field(d, 14, 2) == 0);
    unsigned start = field(d, 0, 14) << 4, stride = field(d, 32, 14) << 4;
    for (int lane = 0; lane < 128; lane++)
      for (int j = 0; j < 4; j++)
        cell(to, lane, j) = load_word(start + lane % 32 / 8 * stride + lane % 8 * 16 + 4 * j);
  });
}
// Element `k` of `row`: K innermost, 128-byte swizzle.
static float element(unsigned long long d, int row, int k) {
  static const float e2m1[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  unsigned address = (field(d, 0, 14) << 4) + row / 8 * (field(d, 32, 14) << 4) + row % 8 * 128;
  address += k / 2;
  address ^= (address >> 7 & 7) << 4;
  unsigned code = *at(address) >> k % 2 * 4 & 15;
  return code & 8 ? -e2m1[code & 7] : e2m1[code];
}
static float scale(unsigned address, int row, int block) {
  unsigned code = cell(address, row % 32, row / 32) >> 8 * block & 0x7f;
  if (code == 0x7f) return __builtin_nanf(""); // of rows that were not copied
  return code < 8 ? code / 512.f : (8 + code % 8) / 1024.f * (1 << (code >> 3));
}
static void tensor_multiply(unsigned sums, unsigned long long a, unsigned long long b,
                            unsigned i, unsigned scales_a, unsigned scales_b, bool add) {
  CHECK(fenced);
  issued.push_back([=] {
    for (unsigned long long d : {a, b})
      CHECK(field(d, 46, 3) == 1 && field(d, 49, 12) == 0 && field(d, 61, 3) == 2);
    CHECK(field(i, 7, 3) == 1 && field(i, 10, 3) == 1 && field(i, 27, 2) == 1);
    CHECK(!field(i, 0, 7) && !field(i, 13, 4) && !field(i, 23, 4) && !field(i, 29, 3));
    CHECK(scales_a % 2 == 0 && scales_b % 2 == 0);
    int cols = field(i, 17, 6) * 8;
    CHECK(cols >= 16 && cols <= 256 && cols % 16 == 0);
    static float x[128][64], y[256][64];
    for (int r = 0; r < 128; r++)
      for (int k = 0; k < 64; k++) x[r][k] = element(a, r, k) * scale(scales_a, r, k / 16);
    for (int c = 0; c < cols; c++)
      for (int k = 0; k < 64; k++) y[c][k] = element(b, c, k) * scale(scales_b, c, k / 16);
    for (int r = 0; r < 128; r++)
      for (int c = 0; c < cols; c++) {
        float sum = 0;
        if (add) memcpy(&sum, &cell(sums, r, c), 4);
        for (int k = 0; k < 64; k++) sum += x[r][k] * y[c][k];
        memcpy(&cell(sums, r, c), &sum, 4);
      }
  });
}
static void tensor_commit(unsigned bar) {
  for (auto& work : issued) work();
  issued.clear();
  barrier_arrive(bar);
}
static void tensor_load(float (&d)[16], unsigned from) {
  CHECK(fenced);
  unfenced = true;
  CHECK((from >> 16) == threadIdx.x / 32 * 32); // a warp has a quarter of the lanes
  for (int i = 0; i < 16; i++) memcpy(&d[i], &cell(from, threadIdx.x % 32, i), 4);
}

#endif
