// What the emulator's own files share: the happens-before relation, shadow memory, lanes, waves,
// blocks and clusters.
#ifndef EMULATOR_LANES_H
#define EMULATOR_LANES_H
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../emulator.h"

namespace emu {
struct Block;

// A launch.
struct Task : EmuTask {
  uint32_t first_block = 0, clusters = 0;
  // Where the blocks' memory starts that the launch asked for, and what the kernel itself declares,
  // the same in all blocks.
  unsigned lds_start = 0, first_declared = 0, end_declared = 0;
  std::map<const void *, unsigned> declarations;
};
// That of the lane that runs, or ran last.
extern Task *task;

// The happens-before relation: stamps of accesses, and the stamps that lanes know of.
//
// A lane's time is counted in its own accesses, a wave's in epochs: one ends whenever the wave's
// lanes meet in a way that may order what they did. Things tell lanes something too (a barrier
// in shared memory: that bytes have come); they have numbers like lanes', and a time.
struct Lane;

// `lane`: 1 + its number in the grid, a thing's number, or 0 for nobody.
struct Stamp {
  uint32_t lane = 0, epoch = 0, time = 0;
  bool operator==(const Stamp &o) const { return lane == o.lane && epoch == o.epoch && time == o.time; }
};
constexpr uint32_t THING = 1u << 31;
uint32_t new_thing();
// The launch before, whose time is 1 once it is over.
constexpr uint32_t BEFORE = THING;

// A vector clock: of waves up to an epoch, and of lanes and things up to a time.
class Knowledge {
 public:
  bool has(const Stamp &s) const;
  void learn(const Knowledge &from);
  void learn_wave(uint32_t wave, uint32_t epoch);
  void learn_lane(const Stamp &s);
  void learn_things(const Knowledge &from);  // and nothing of lanes
  void clear() { waves.clear(), lanes.clear(); }

 private:
  struct Entry {
    uint32_t key, value, epoch;
  };
  std::vector<Entry> waves, lanes;  // by their keys
  static void merge(std::vector<Entry> &to, const Entry *from, size_t count);
  static const Entry *find(const std::vector<Entry> &in, uint32_t key);
  void prune();
};

// The number of the wave that the lane of number `lane` is in.
uint32_t wave_number(uint32_t lane);
// The present of a lane.
Stamp now(const Lane &lane);
// Returns whether the stamped access happened before the present of `lane`.
bool before(const Stamp &s, const Lane &lane);
// All that `lane` knows now, its own doings among it.
Knowledge known_to(const Lane &lane);
void start_clock(uint32_t blocks);

// Shadow memory: the last accesses to each byte, and its state.
// A byte of memory in this launch.
enum : uint8_t {
  WRITTEN = 1,    // by somebody
  BY_ATOMIC = 2,  // the last write
  ARRIVING = 4,   // a copy to it is under way
  PLAIN = 8,      // the last write was not by a copy that tensor cores and bulk copies see
  COUNTING = 16,  // of a barrier
};
struct Cell {
  Stamp write, reads[2];
  uint32_t launch = 0;
  uint8_t is = 0;
};

// More ways to touch memory than emulator.h's: as a barrier; as tensor cores and bulk copies do.
enum { AS_BARRIER = 64, AS_TENSOR = 128 };

// A block's memory: what the launch asked for, from `start` on, and behind it what the kernel
// itself declares. Offsets count from `base`, and are what kernels call shared addresses.
struct Window {
  std::vector<unsigned char> room;
  unsigned char *base = nullptr;
  std::unique_ptr<Cell, void (*)(void *)> cells{nullptr, free};
  void make();
  bool has(uint64_t at) const { return at - (uint64_t)room.data() < room.size(); }
};

// Returns whether the kernel itself declared what is at `offset`.
bool declared(uint64_t offset, unsigned bytes);

// The calling lane touches memory of `block`, which another block of its cluster may be, as
// `mine`: bounds, races and the rest are looked at.
void touch_shared(Block &block, uint64_t offset, unsigned bytes, int how, const Stamp &mine);
void touch_global(const void *p, unsigned bytes, int how, const Stamp &mine);
// Reads or writes at a multiple of its size.
void need_aligned(uint64_t at, unsigned bytes, int how);

constexpr unsigned MOST_THREADS = 1024;  // of a block

struct Wave;
struct Products;  // of the asynchronous kind: wgmma.cpp

// A barrier in shared memory that counts arrivals and bytes.
struct Mbarrier {
  uint32_t thing = 0;  // whose time is the number of phases that are over
  uint32_t phase = 0;
  unsigned count = 0, missing = 0;  // arrivals of a phase
  long long bytes = 0;              // that are still to come
  uint32_t maker = 0;               // the lane that made it, until that is seen by all
  Knowledge known, arriving;
  bool over(int parity) const { return (phase & 1) != (unsigned)parity; }
};
// Returns the barrier of `block` at `at`, for the calling lane; `far`: other blocks and copies use it.
Mbarrier &mbarrier_at(Block &block, unsigned at, bool far);
// Bytes have come for the phase that it is in.
void count_bytes(Mbarrier &m, unsigned bytes);
// A thing arrives, which has `done` something.
void arrive_as(Mbarrier &m, const Stamp &done);
std::string describe(const Mbarrier &m);

enum State {
  READY,
  PAUSED,           // in a loop that polls
  SHARING,          // at a collective, where all lanes must be
  MEETING,          // the same, where lanes that have ended do not count
  AT_BARRIER,       // of the block, or of some of its waves
  AT_WAVE_BARRIER,
  AT_PHASE,         // of a barrier in shared memory
  AT_CLUSTER,
  DONE,
};
// A function that is called once for a wave whose lanes meet.
typedef void Meeting(Wave &wave, uint64_t argument);

struct Copy {
  unsigned char *to;
  unsigned bytes, group;
  unsigned char data[16];
};
struct Lane {
  Block *block = nullptr;
  unsigned thread = 0;
  uint32_t id = 0, time = 0;
  State state = DONE;
  const char *what = "";
  Knowledge known;  // since its wave's last barrier
  std::deque<Copy> copies;
  unsigned group = 0;  // of copies, that is being filled
  std::vector<Stamp> shown;  // when products were to see what it wrote
  Stamp made;                // the last barrier that it made and fenced
  uint64_t atomic = 0;       // where its last atomic was that a fence may order
  bool fenced = false;
  // Whether it used tensor memory since its fence before a barrier; whether it fenced after one.
  bool tensor_used = false, tensor_ordered = false;
  // What it waits for: a barrier's number and threads (0 for all); a phase; a meeting.
  unsigned barrier = 0, count = 0;
  const Mbarrier *phase_of = nullptr;
  int parity = 0;
  Meeting *meeting = nullptr;
  uint64_t argument = 0;
  uint32_t arrived = 0, waited = 0;  // phases of the cluster's barrier
  // The fiber.
  jmp_buf at;
  unsigned char *stack = nullptr;
  bool started = false;
  Lane();
  ~Lane();
};
struct Wave {
  std::vector<Lane *> lanes;
  uint32_t epoch = 0;
  uint32_t synced = 0, met = 0;  // epochs that a barrier of the wave, of the block, ended last
  Knowledge known;               // since the block's last barrier
  unsigned turn = 0;
  alignas(64) unsigned char shared[2][64][64];
  std::shared_ptr<Products> products;
};
struct Cluster;
struct TensorMemory;  // tcgen05.cpp
struct Block {
  uint32_t id = 0;
  unsigned at[3] = {}, rank = 0;
  Cluster *cluster = nullptr;
  std::vector<std::unique_ptr<Wave>> waves;
  unsigned living = 0;  // lanes that have not ended
  Window window;
  std::map<unsigned, Mbarrier> mbarriers;  // by where they are in the window
  std::shared_ptr<TensorMemory> tensor;
  Knowledge known;
  // What others did to its memory last, by their numbers: it may not end before that.
  std::map<uint32_t, Stamp> visits;
};
// Blocks that are on the device together; one block where a launch has no clusters.
struct Cluster {
  Task *task = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Lane>> lanes;
  // Its barrier: who is there, how often it was over, and what was known to whom came.
  unsigned living = 0, arrived = 0;
  uint32_t phase = 0, thing = 0;
  Knowledge known, arriving;
};

constexpr size_t STACK = 128 << 10;
extern Lane *self;         // the lane that runs, or none
extern uint32_t launches;  // the number of this launch, or of those that run at the same time
extern unsigned wave_size;

Wave &wave_of(const Lane &lane);
uint64_t draw(uint64_t below);

// Runs a lane until it waits or ends.
void resume(Lane *lane);
extern const void *place;  // the instruction at which the lane called the emulator, or none
void find_line(char *line, size_t size);
void wait_as(State state, const char *what);
std::unique_ptr<Lane> take_lane();
void give_lane(std::unique_ptr<Lane> lane);

// All lanes of the calling wave that have not ended come; `meeting` is done once.
void meet(const char *what, Meeting *meeting, uint64_t argument);
// Lets lanes go on that have met. Whether any did.
bool release(Wave &wave);
bool release(Block &block, const Wave &last);
bool release(Cluster &cluster);
bool runnable(const Lane &lane);
// Of the calling lane's cluster. Its memory is there, and what is in it may be written to.
Block &block_of_rank(unsigned rank);
// The byte of a block's memory that a shared address of the calling lane's own block names.
unsigned offset_of(unsigned address);
void need_started(const Block &block);

// For a task: nothing is declared yet.
void start_blocks(Task &t);
// Cluster number `id` of a task; its lanes' fibers are given back in the end.
std::unique_ptr<Cluster> start_cluster(Task &t, uint32_t id);
void end_cluster(Cluster &cluster);
// The calling lane has ended.
void end_lane(Lane &lane);

// `s` is done to the memory of `block`, from another or by a copy.
void visit(Block &block, const Stamp &s);

// Copies that nobody waits for by himself. Starts one of `data` to `at` in `block`, which the barrier
// of `told` at `barrier` is told of.
void send(Block &block, unsigned at, Block &told, unsigned barrier, std::vector<unsigned char> data);
// The same to all blocks of the calling lane's cluster in the set `ranks`; the barrier is that of each
// of them, or of block `told`.
enum { EACH = -1 };
void send_to_all(unsigned ranks, unsigned at, int told, unsigned barrier, const std::vector<unsigned char> &data);
// Does `work` at some time, with the memory of two blocks.
void fly(Block &one, Block &other, std::function<void()> work);
// Delivers one; whether there was one.
bool deliver();
bool in_flight();
void drop_flights();
// Faults where some are under way to a block that has ended.
void no_flights_to(const Block &block);
void no_products(const Wave &wave);
void no_tensor_memory(const Block &block);
// The lane comes to a barrier of any kind.
void sync_tensor(Lane &lane);

}  // namespace emu
#endif
