// Measures launches of kernels that wait for other blocks. See run.sh, which calls it; cases.tsv has
// the launches. CUDA's driver alone is called, so that it compiles without a GPU.
//
//   probe DIR facts                          what the driver allows, and what it says that fits
//   probe DIR latency CASE                   plain and cooperative launches, in streams and graphs
//   probe DIR stress A B LAUNCH HOW ROUNDS   A and B on two streams, beside a kernel that fills the device
//
// Prints lines of CSV: part, case, launch, what, value.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

typedef unsigned long long u64;
typedef unsigned short u16;

static void *library() {
  static void *lib = dlopen(getenv("CUDA_DRIVER") ? getenv("CUDA_DRIVER") : "libcuda.so.1", RTLD_NOW);
  if (!lib) fprintf(stderr, "%s\n", dlerror()), exit(3);
  return lib;
}
// cuda.h renames what has versions by macros: the name is that of the newest.
#define NAME_(f) #f
#define NAME(f) NAME_(f)
#define CALL(f) ((decltype(&f))symbol(NAME(f)))
static void *symbol(const char *name) {
  void *f = dlsym(library(), name);
  if (!f) fprintf(stderr, "no %s\n", name), exit(3);
  return f;
}
static const char *text(CUresult status) {
  const char *name = "?";
  CALL(cuGetErrorName)(status, &name);
  return name;
}
#define CHECK(f, ...)                                                                       \
  do {                                                                                      \
    CUresult status_ = CALL(f)(__VA_ARGS__);                                                \
    if (status_) fprintf(stderr, "line %d: %s: %s\n", __LINE__, #f, text(status_)), exit(4); \
  } while (0)

static std::string dir;
static void row(const char *part, const std::string &name, const std::string &launch, const std::string &what,
                const std::string &value) {
  printf("%s,%s,%s,%s,%s\n", part, name.c_str(), launch.c_str(), what.c_str(), value.c_str());
  fflush(stdout);
}
static std::string figure(double x) {
  char to[40];
  snprintf(to, sizeof to, "%.3g", x);
  return to;
}
static std::string count(u64 x) { return std::to_string(x); }

static CUmodule load(const std::string &name) {
  std::ifstream in(dir + "/" + name + ".cubin", std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  std::string image = bytes.str();
  if (image.empty()) fprintf(stderr, "no %s.cubin\n", name.c_str()), exit(4);
  CUmodule module;
  CHECK(cuModuleLoadData, &module, image.data());
  return module;
}
static CUfunction function(CUmodule module, const char *name) {
  CUfunction f;
  CHECK(cuModuleGetFunction, &f, module, name);
  return f;
}
static CUdeviceptr alloc(size_t bytes, int value = 0) {
  CUdeviceptr p;
  CHECK(cuMemAlloc, &p, std::max<size_t>(bytes, 16));
  CHECK(cuMemsetD8, p, value, std::max<size_t>(bytes, 16));
  CHECK(cuCtxSynchronize);
  return p;
}
static CUstream stream(int priority = 0) {
  CUstream s;
  CHECK(cuStreamCreateWithPriority, &s, CU_STREAM_NON_BLOCKING, priority);
  return s;
}

enum { PLAIN = 0, COOP = 1, EARLY = 2 };  // EARLY: programmatic dependent launch
struct Launch {
  CUfunction f;
  unsigned grid[3] = {1, 1, 1}, block = 32, shared = 0, cluster = 1;
};
static CUresult launch(const Launch &l, CUstream s, int how, void **params) {
  CUlaunchAttribute attributes[3];
  CUlaunchConfig c = {};
  c.gridDimX = l.grid[0], c.gridDimY = l.grid[1], c.gridDimZ = l.grid[2];
  c.blockDimX = l.block, c.blockDimY = c.blockDimZ = 1;
  c.sharedMemBytes = l.shared, c.hStream = s, c.attrs = attributes;
  memset(attributes, 0, sizeof attributes);
  if (l.cluster > 1) {
    CUlaunchAttribute &a = attributes[c.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim.x = l.cluster, a.value.clusterDim.y = a.value.clusterDim.z = 1;
  }
  if (how & COOP) {
    CUlaunchAttribute &a = attributes[c.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, a.value.cooperative = 1;
  }
  if (how & EARLY) {
    CUlaunchAttribute &a = attributes[c.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, a.value.programmaticStreamSerializationAllowed = 1;
  }
  return CALL(cuLaunchKernelEx)(&c, l.f, params, nullptr);
}
static void must(CUresult status, const char *what) {
  if (status) fprintf(stderr, "%s: %s\n", what, text(status)), exit(4);
}
static void allow(const Launch &l) {
  if (l.shared > 48 << 10) CHECK(cuFuncSetAttribute, l.f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, l.shared);
  if (l.cluster > 8) CHECK(cuFuncSetAttribute, l.f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
}
static unsigned clusters_that_fit(const Launch &l) {
  CUlaunchAttribute a;
  memset(&a, 0, sizeof a);
  a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  a.value.clusterDim.x = l.cluster, a.value.clusterDim.y = a.value.clusterDim.z = 1;
  CUlaunchConfig c = {};
  c.gridDimX = l.grid[0], c.gridDimY = l.grid[1], c.gridDimZ = l.grid[2];
  c.blockDimX = l.block, c.blockDimY = c.blockDimZ = 1;
  c.sharedMemBytes = l.shared, c.attrs = &a, c.numAttrs = 1;
  int fit = -1;
  CHECK(cuOccupancyMaxActiveClusters, &fit, l.f, &c);
  return fit;
}

// What stream work is captured into a graph.
static CUgraphExec captured(CUstream s, const std::function<void()> &work) {
  CHECK(cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  work();
  CUgraph graph;
  CUgraphExec exec;
  CHECK(cuStreamEndCapture, s, &graph);
  CHECK(cuGraphInstantiateWithFlags, &exec, graph, 0);
  CHECK(cuGraphDestroy, graph);
  return exec;
}

static u16 bf16(float x) {
  unsigned bits;
  memcpy(&bits, &x, 4);
  return bits >> 16;
}
static float from_bf16(u16 x) {
  unsigned bits = x << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

// A line of cases.tsv on the device: several inputs with the products that are right, one workspace.
struct Case {
  static constexpr int INPUTS = 3;
  std::string name, entry, layout;
  Launch l;
  u64 workspace;
  int M, N, K, slice, lda, ldb, ldc, relu, whole;
  CUmodule module;
  CUdeviceptr A[INPUTS], B[INPUTS], C, right[INPUTS], sums;

  Case(const std::string &wanted, bool bounded, unsigned seed) {
    std::ifstream in("cases.tsv");
    std::string line;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      fields >> name >> entry >> l.grid[0] >> l.grid[1] >> l.grid[2] >> l.block >> l.shared >> l.cluster >> workspace >>
          layout >> M >> N >> K >> slice >> lda >> ldb >> ldc >> relu >> whole;
      if (name == wanted) break;
    }
    if (name != wanted) fprintf(stderr, "no case %s\n", wanted.c_str()), exit(4);
    module = load(name + (bounded ? ".bounded" : ""));
    l.f = function(module, entry.c_str());
    allow(l);
    const bool nt = layout == "nt";
    // A word that has not come is ~0: what an empty workspace holds.
    sums = workspace ? alloc(workspace, 0xff) : 0;
    C = alloc(2ull * M * ldc);
    std::vector<u16> a((size_t)M * lda), b((size_t)(nt ? N : K) * ldb), c((size_t)M * ldc);
    unsigned state = seed * 2654435761u + 1;
    auto draw = [&] { return state = state * 1664525u + 1013904223u, (int)(state >> 24) % 5 - 2; };
    for (int i = 0; i < INPUTS; i++) {
      for (auto &x : a) x = bf16(draw());
      for (auto &x : b) x = bf16(draw());
      A[i] = alloc(2 * a.size()), B[i] = alloc(2 * b.size()), right[i] = alloc(2 * c.size());
      CHECK(cuMemcpyHtoD, A[i], a.data(), 2 * a.size());
      CHECK(cuMemcpyHtoD, B[i], b.data(), 2 * b.size());
      CHECK(cuCtxSynchronize);  // the last bytes may be under way
      // Alone on the device it is right: elements here and there against sums on the host.
      CUstream s = stream();
      must(go(s, i, PLAIN), "first launch");
      CHECK(cuStreamSynchronize, s);
      CHECK(cuMemcpyDtoH, c.data(), C, 2 * c.size());
      CHECK(cuMemcpyDtoD, right[i], C, 2 * c.size());
      CHECK(cuCtxSynchronize);
      for (int at = 0; at < M * N; at += M * N / 16 + 1) {
        int m = at / N, n = at % N;
        float sum = 0;  // whole numbers, below 2^24
        for (int k = 0; k < K; k++)
          sum += from_bf16(a[(size_t)m * lda + k]) * from_bf16(nt ? b[(size_t)n * ldb + k] : b[(size_t)k * ldb + n]);
        float got = from_bf16(c[(size_t)m * ldc + n]);
        if (std::abs(got - sum) > std::abs(sum) / 128 + 1e-3)
          fprintf(stderr, "%s: C[%d, %d] is %g, not %g\n", name.c_str(), m, n, got, sum), exit(5);
      }
      CHECK(cuStreamDestroy, s);
    }
  }
  CUresult go(CUstream s, int input, int how) {
    u64 none = 0;
    void *params[] = {&A[input], &B[input], &none,  &C,    &sums, &none, &M,
                      &N,        &K,        &slice, &lda,  &ldb,  &ldc,  &relu, &whole};
    return launch(l, s, how, params);
  }
  u64 variable(const char *name, const u64 *set = nullptr) {
    CUdeviceptr at;
    size_t bytes;
    CHECK(cuModuleGetGlobal, &at, &bytes, module, name);
    u64 value = 0;
    if (set) CHECK(cuMemcpyHtoD, at, set, bytes);
    else CHECK(cuMemcpyDtoH, &value, at, bytes);
    return value;
  }
};

static CUdevice device;
static int units;
static const char *LAUNCHES[] = {"plain", "coop", "pdl", "coop+pdl"};

static double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
static double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

// --- facts

// Whether two grids of half the device's units on two streams run at the same time.
static void overlap(CUmodule helpers, int first, int second, bool graph) {
  Launch l;
  l.f = function(helpers, "stamp"), l.grid[0] = units / 4;
  CUstream s[2] = {stream(), stream()};
  int how[2] = {first, second}, together = 0;
  const int TRIES = 50;
  CUdeviceptr at = alloc(32);
  CUgraphExec exec[2];
  u64 ns = 30000;
  auto queue = [&](int i) {
    CUdeviceptr start = at + 16 * i, end = start + 8;
    void *params[] = {&ns, &start, &end};
    must(launch(l, s[i], how[i], params), "stamp");
  };
  if (graph)
    for (int i = 0; i < 2; i++) exec[i] = captured(s[i], [&] { queue(i); });
  for (int t = 0; t < TRIES; t++) {
    u64 times[4] = {~0ull, 0, ~0ull, 0};
    CHECK(cuMemcpyHtoD, at, times, sizeof times);
    for (int i = 0; i < 2; i++)
      if (graph) CHECK(cuGraphLaunch, exec[i], s[i]);
      else queue(i);
    CHECK(cuCtxSynchronize);
    CHECK(cuMemcpyDtoH, times, at, sizeof times);
    together += times[0] < times[3] && times[2] < times[1];
  }
  row("facts", graph ? "two graphs" : "two streams", std::string(LAUNCHES[first]) + " and " + LAUNCHES[second],
      "of 50 at the same time", count(together));
}

static void grid_ids(CUmodule helpers) {
  CUdeviceptr at = alloc(8 * 32);
  Launch l;
  l.f = function(helpers, "grid_id"), l.block = 1;
  void *params[] = {&at};
  CUstream s = stream();
  must(launch(l, s, PLAIN, params), "grid_id");
  must(launch(l, s, PLAIN, params), "grid_id");
  CUgraphExec exec = captured(s, [&] { must(launch(l, s, PLAIN, params), "grid_id"), must(launch(l, s, COOP, params), "grid_id"); });
  for (int i = 0; i < 3; i++) CHECK(cuGraphLaunch, exec, s);
  CHECK(cuStreamSynchronize, s);
  u64 ids[9];
  CHECK(cuMemcpyDtoH, ids, at, sizeof ids);
  std::string all;
  for (int i = 1; i < 9; i++) all += (i > 1 ? " " : "") + count(ids[i]);
  row("facts", "%gridid", "2 in a stream then 3 graphs of 2", "numbers", all);
}

// What the driver says of a launch, and of the same in a graph.
static std::string tried(const std::function<CUresult(CUstream)> &go) {
  CUstream s = stream(), other = stream();
  std::string all = text(go(s));
  all += std::string(" ") + text(CALL(cuStreamSynchronize)(s));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CHECK(cuStreamBeginCapture, other, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  all += std::string(" ") + text(go(other));
  CUresult status = CALL(cuStreamEndCapture)(other, &graph);
  if (!status) status = CALL(cuGraphInstantiateWithFlags)(&exec, graph, 0);
  if (!status) status = CALL(cuGraphLaunch)(exec, s);
  if (!status) status = CALL(cuStreamSynchronize)(s);
  return all + " " + text(status);
}

static void facts() {
  char name[100];
  int version, value;
  CHECK(cuDeviceGetName, name, sizeof name, device);
  CHECK(cuDriverGetVersion, &version);
  CHECK(cuDeviceGetAttribute, &value, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device);
  row("facts", name, "", "units", count(units));
  row("facts", name, "", "driver", count(version));
  row("facts", name, "", "cooperative launch", count(value));
  CUmodule helpers = load("helpers");
  Launch l;
  l.f = function(helpers, "nothing"), l.block = 256, l.shared = 200 << 10;
  std::string fit;
  for (l.cluster = 1; l.cluster <= 16; l.cluster++) {
    l.grid[0] = l.cluster;
    allow(l);
    fit += (l.cluster > 1 ? " " : "") + count(clusters_that_fit(l));
  }
  row("facts", "clusters of 1 to 16 blocks", "200 KiB of shared memory", "fit", fit);
  for (const char *wanted : {"x32", "x128", "x132", "x128c2", "c96"}) {
    Case c(wanted, false, 1);
    int blocks;
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, c.l.f, c.l.block, c.l.shared);
    row("facts", wanted, "", "blocks of a unit; clusters that fit", count(blocks) + " " + count(clusters_that_fit(c.l)));
    row("facts", wanted, "coop", "launched; waited; captured and run", tried([&](CUstream s) { return c.go(s, 0, COOP); }));
  }
  // Kernels that wait for nothing, in grids that fit exactly and in such as do not.
  for (unsigned cluster : {1u, 4u}) {
    l.cluster = cluster;
    unsigned fit = clusters_that_fit(l) * cluster;
    for (unsigned blocks : {fit, fit + cluster}) {
      l.grid[0] = blocks;
      row("facts", count(blocks) + " blocks in clusters of " + count(cluster), "coop", "launched; waited; captured and run",
          tried([&](CUstream s) { return launch(l, s, COOP, nullptr); }));
    }
  }
  CUstream s = stream();
  Launch plain;
  plain.f = function(helpers, "nothing");
  row("facts", "nothing", "coop+pdl", "launched", text(launch(plain, s, COOP | EARLY, nullptr)));
  CHECK(cuCtxSynchronize);
  grid_ids(helpers);
  for (bool graph : {false, true}) {
    overlap(helpers, PLAIN, PLAIN, graph);
    overlap(helpers, COOP, PLAIN, graph);
    overlap(helpers, COOP, COOP, graph);
  }
}

// --- latency

static double elapsed_us(CUstream s, const std::function<void()> &work) {
  static CUevent start, end;
  if (!start) {
    CHECK(cuEventCreate, &start, 0);
    CHECK(cuEventCreate, &end, 0);
  }
  CHECK(cuEventRecord, start, s);
  work();
  CHECK(cuEventRecord, end, s);
  CHECK(cuEventSynchronize, end);
  float ms;
  CHECK(cuEventElapsedTime, &ms, start, end);
  return ms * 1e3;
}
static double median_of(int times, const std::function<double()> &one) {
  std::vector<double> all;
  for (int i = 0; i < times; i++) all.push_back(one());
  return median(all);
}

static void latency(const std::string &wanted) {
  Case c(wanted, false, 1);
  CUstream s = stream();
  enum { MANY = 500, SOME = 50 };
  // In turns, so that both see the same clocks.
  std::vector<double> all[2][5];
  CUgraphExec one[2], some[2];
  for (int how : {PLAIN, COOP}) {
    one[how] = captured(s, [&] { must(c.go(s, 0, how), "capture"); });
    some[how] = captured(s, [&] { for (int i = 0; i < SOME; i++) must(c.go(s, 0, how), "capture"); });
  }
  for (int turn = 0; turn < 9; turn++)
    for (int how : {PLAIN, COOP}) {
      auto go = [&] { must(c.go(s, 0, how), "launch"); };
      double host = seconds();
      double many = elapsed_us(s, [&] {
        for (int i = 0; i < MANY; i++) go();
        host = (seconds() - host) * 1e6 / MANY;
      });
      all[how][0].push_back(many / MANY);
      all[how][1].push_back(host);
      all[how][2].push_back(median_of(50, [&] { return elapsed_us(s, go); }));
      all[how][3].push_back(median_of(50, [&] { return elapsed_us(s, [&] { CHECK(cuGraphLaunch, one[how], s); }); }));
      all[how][4].push_back(median_of(9, [&] { return elapsed_us(s, [&] { CHECK(cuGraphLaunch, some[how], s); }) / SOME; }));
    }
  static const char *what[] = {"us of 500 in a stream each", "us of the host each", "us of one between events",
                               "us of a graph of one between events", "us of 50 in a graph each"};
  for (int w = 0; w < 5; w++)
    row("latency", wanted, "plain; coop", what[w], figure(median(all[PLAIN][w])) + " " + figure(median(all[COOP][w])));
}

// --- stress

static int stress(const std::string &first, const std::string &second, const std::string &launches,
                  const std::string &manner, int rounds) {
  enum { BATCH = 500, GRAPH = 50, FILLS = 200 };
  int least, most;
  CHECK(cuCtxGetStreamPriorityRange, &least, &most);
  const bool apart = manner == "priority", graphs = manner == "graph";
  CUstream s[2] = {stream(apart ? least : 0), stream(apart ? most : 0)}, filler = stream(apart ? most : 0);
  CUmodule helpers = load("helpers");
  CUcontext context;
  CHECK(cuCtxGetCurrent, &context);
  Case cases[2] = {{first, true, 1}, {second, true, 2}};
  int how[2] = {launches == "plain" ? PLAIN : COOP, launches == "coop" ? COOP : PLAIN};
  // Blocks of a cluster are on the device together: cluster-k needs no more.
  for (int i = 0; i < 2; i++)
    if (!cases[i].workspace) how[i] = PLAIN;
  Launch fill, compare, clock;
  fill.f = function(helpers, "fill"), fill.block = 128, fill.shared = 200 << 10;
  allow(fill);
  compare.f = function(helpers, "compare"), compare.block = 128, compare.grid[0] = 4;
  clock.f = function(helpers, "what_time"), clock.block = 1;
  CUdeviceptr wrong = alloc(16), time = alloc(8);
  CUgraphExec exec[2] = {};
  auto check = [&](int i, int input) {
    Case &c = cases[i];
    CUdeviceptr to = wrong + 4 * i;
    int elements = c.M * c.ldc;
    void *params[] = {&c.C, &c.right[input], &elements, &to};
    must(launch(compare, s[i], PLAIN, params), "compare");
  };
  if (graphs)
    for (int i = 0; i < 2; i++)
      exec[i] = captured(s[i], [&] {
        for (int j = 0; j < GRAPH; j++) must(cases[i].go(s[i], j % Case::INPUTS, how[i]), "capture");
        check(i, (GRAPH - 1) % Case::INPUTS);
      });
  u64 done = 0, checked = 0, gave_up = 0, bad = 0;
  double start = seconds();
  std::vector<double> times;
  for (int round = 0; round < rounds && !gave_up && !bad && seconds() - start < 30; round++) {
    // Nothing waits for longer than 3 s; a batch takes milliseconds.
    void *clock_params[] = {&time};
    must(launch(clock, s[0], PLAIN, clock_params), "what_time");
    CHECK(cuCtxSynchronize);
    u64 limit;
    CHECK(cuMemcpyDtoH, &limit, time, 8);
    limit += 3000000000ull;
    for (Case &c : cases)
      if (c.workspace) c.variable("give_up_at", &limit);
    double began = seconds();
    auto work = [&](int i) {
      CHECK(cuCtxSetCurrent, context);
      if (graphs) {
        for (int j = 0; j < BATCH / GRAPH; j++) CHECK(cuGraphLaunch, exec[i], s[i]);
        return;
      }
      for (int j = 0; j < BATCH; j++) {
        int input = (round + j) % Case::INPUTS;
        must(cases[i].go(s[i], input, how[i]), "launch");
        if (j % 25 == 24) check(i, input);
      }
    };
    std::thread threads[2] = {std::thread(work, 0), std::thread(work, 1)};
    // All units, or most of them, for 5 to 25 us.
    u64 ns = 5000 + round % 8 * 1000;
    for (unsigned j = 0; j < FILLS; j++) {
      unsigned turn = round * FILLS + j;
      fill.grid[0] = j % 3 == 2 ? units * 3 / 4 : units;
      void *params[] = {&ns, &turn};
      must(launch(fill, filler, PLAIN, params), "fill");
      if (j % 8 == 7) usleep(100);
    }
    for (auto &t : threads) t.join();
    CHECK(cuCtxSynchronize);
    times.push_back((seconds() - began) * 1e3);
    done += 2 * BATCH;
    checked += 2 * (graphs ? BATCH / GRAPH : BATCH / 25);
    unsigned counts[2];
    CHECK(cuMemcpyDtoH, counts, wrong, sizeof counts);
    bad = counts[0] + counts[1];
    for (Case &c : cases)
      if (c.workspace) gave_up += c.variable("gave_up");
  }
  const std::string name = first + " and " + second + " (" + manner + ")";
  row("stress", name, launches, "launches; waits of 3 s given up; launches checked; wrong elements; ms of 1000: median; most",
      count(done) + " " + count(gave_up) + " " + count(checked) + " " + count(bad) + " " + figure(median(times)) + " " +
          figure(*std::max_element(times.begin(), times.end())));
  return 0;
}

int main(int count, char **arguments) {
  if (count < 3) return fprintf(stderr, "usage: probe DIR facts|latency|stress ...\n"), 2;
  dir = arguments[1];
  CHECK(cuInit, 0);
  CHECK(cuDeviceGet, &device, 0);
  CHECK(cuDeviceGetAttribute, &units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  CUcontext context;
  CHECK(cuDevicePrimaryCtxRetain, &context, device);
  CHECK(cuCtxSetCurrent, context);
  std::string what = arguments[2];
  if (what == "facts" && count == 3) facts();
  else if (what == "latency" && count == 4) latency(arguments[3]);
  else if (what == "stress" && count == 8) stress(arguments[3], arguments[4], arguments[5], arguments[6], atoi(arguments[7]));
  else return fprintf(stderr, "usage: probe DIR facts|latency|stress ...\n"), 2;
  return 0;
}
