// Draws the next lane to run, the next block to start and the next copy to arrive.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "lanes.h"

namespace emu {
uint32_t launches;
unsigned wave_size = 64;
Task *task;

namespace {
uint64_t random_state = 1;
jmp_buf failed;
char message[512];
std::vector<std::unique_ptr<Cluster>> running;
// Turns in which nothing went on: so many, and something that may be late need not be; all hang.
constexpr uint64_t LATE = 64, HANGS = 20000;

// Runs every lane of `w` that can, in an order of its own. Whether one got further.
bool step(Wave &w) {
  bool moved = false;
  size_t first = draw(w.lanes.size());
  for (size_t i = 0; i < w.lanes.size(); i++) {
    Lane *lane = w.lanes[(first + i) % w.lanes.size()];
    if (!runnable(*lane)) continue;
    resume(lane);
    moved |= lane->state != PAUSED;
    if (lane->state == DONE) end_lane(*lane);
  }
  return release(w) || moved;
}

[[noreturn]] void stuck(const Cluster &c) {
  const Lane *a = nullptr;
  for (auto &lane : c.lanes)
    if (lane->state == AT_PHASE)
      emu_fault("thread %u of block %u waits for ever for %s", lane->thread, lane->block->id,
                describe(*lane->phase_of).c_str());
  for (auto &lane : c.lanes) {
    if (lane->state == DONE) continue;
    if (a && a->block == lane->block && (a->state != lane->state || a->barrier != lane->barrier))
      emu_fault("threads %u and %u of block %u wait for each other: one at %s, one at %s", a->thread,
                lane->thread, a->block->id, a->what, lane->what);
    a = lane.get();
  }
  if (!a) emu_fault("a block waits for ever at its end");
  emu_fault("block %u waits for ever at %s", a->block->id, a->what);
}

// Numbers of clusters, in the order in which they start.
class Queues {
 public:
  Queues(unsigned queues, uint32_t count) : count(count) {
    for (unsigned q = 0; q < queues; q++) next.push_back(q);
  }
  bool take(uint32_t &id) {
    std::vector<uint32_t *> ready;
    for (uint32_t &n : next)
      if (n < count) ready.push_back(&n);
    if (ready.empty()) return false;
    uint32_t *from = ready[draw(ready.size())];
    id = *from;
    *from += next.size();
    return true;
  }

 private:
  const uint32_t count;
  std::vector<uint32_t> next;
};

// The device's room. A launch alone has all of it if it is cooperative, else room for some clusters: for
// how many differs from launch to launch, as on a busy device. Several launches share what an idle
// device has, where a cooperative one starts once there is room for all of it, and may keep others from
// starting until then, as an H200's does.
class Room {
 public:
  explicit Room(std::vector<Task> &tasks) : several(tasks.size() > 1), in_order(several && draw(3)) {
    for (Task &t : tasks) {
      const bool all = several || t.launch.cooperative;
      const double share = several ? (double)t.launch.cluster / t.launch.room : 0;
      const uint32_t arrives = several ? draw(LATEST) : 0;
      lines.push_back({t, Queues(t.kernel->queues, t.clusters), all ? t.clusters : 1 + (uint32_t)draw(6), share, arrives});
    }
  }
  // Starts what there is room for, or less where it `may_linger`: where all fit, some come late. Returns
  // whether anything started.
  bool fill(bool may_linger) {
    const bool linger = may_linger && !running.empty();
    bool any = false;
    turn++;
    // In turns, since no launch has a right to go first.
    for (bool more = true; more;) {
      more = false;
      const size_t first = several ? draw(lines.size()) : 0;
      for (size_t i = 0; i < lines.size(); i++) {
        Line &l = lines[(first + i) % lines.size()];
        uint32_t id;
        if (l.arrives > turn) continue;
        if (l.running >= l.most || !enter(l) || (linger && l.most == l.task.clusters && draw(8)) || !l.queues.take(id))
          continue;
        running.push_back(start_cluster(l.task, id));
        l.running++;
        any = more = true;
      }
    }
    if (any || !running.empty()) return any;
    // Nothing is there: time goes on to the next that comes.
    const Line *next = nullptr;
    for (const Line &l : lines)
      if (l.ended < l.task.clusters && (!next || l.arrives < next->arrives)) next = &l;
    if (!next) return false;
    turn = std::max(turn, next->arrives);
    return fill(false);
  }
  void leave(const Task &t) {
    for (Line &l : lines) {
      if (&l.task != &t) continue;
      l.running--;
      // Nobody starts in what a cooperative launch has left before it has left as a whole.
      if (++l.ended == t.clusters || !t.launch.cooperative) l.inside = t.launch.cooperative ? 0 : l.running;
    }
  }

 private:
  struct Line {
    Task &task;
    Queues queues;
    uint32_t most;  // clusters that run at once
    double share;   // of the device, that a cluster takes
    uint32_t arrives;  // the turn from which on it is there
    uint32_t running = 0, ended = 0, inside = 0;  // clusters; those that room is kept for
    bool waits = false;                           // a cooperative launch, for room
  };
  static constexpr uint32_t LATEST = 200;
  const bool several, in_order;
  uint32_t turn = 0;
  std::vector<Line> lines;

  // Returns whether there is room for one more cluster, and keeps it.
  bool enter(Line &l) {
    if (l.inside > l.running || l.ended + l.running == l.task.clusters) return true;
    const uint32_t more = l.task.launch.cooperative ? l.task.clusters : 1;
    double used = more * l.share;
    for (const Line &other : lines) {
      used += other.inside * other.share;
      if (in_order && other.waits && !l.task.launch.cooperative) return false;
    }
    const bool fits = used <= 1 + 1e-9;
    l.waits = !fits && l.task.launch.cooperative;
    if (fits) l.inside += more;
    return fits;
  }
};

void run_all(std::vector<Task> &tasks) {
  Room room(tasks);
  // Copies come at once, at some time, or when all wait for them.
  const uint64_t speeds[] = {2, 16, 0}, speed = speeds[draw(3)];
  uint64_t idle = 0;
  for (;;) {
    if (room.fill(idle < LATE)) idle = 0;
    if (running.empty()) return;
    if (in_flight() && (idle > LATE || (speed && !draw(speed)))) deliver(), idle = 0;
    const size_t at = draw(running.size());
    Cluster &c = *running[at];
    Block &b = *c.blocks[draw(c.blocks.size())];
    Wave &w = *b.waves[draw(b.waves.size())];
    bool moved = step(w);
    moved |= release(b, w);
    moved |= release(c);
    if (!c.living) {
      room.leave(*c.task);
      end_cluster(c);
      running.erase(running.begin() + at);
      moved = true;
    }
    idle = moved ? 0 : idle + 1;
    if (idle > HANGS) stuck(*running[draw(running.size())]);
  }
}

void check(const Task &t) {
  const EmuLaunch &l = t.launch;
  const unsigned threads = l.block[0] * l.block[1] * l.block[2];
  if (threads > t.kernel->threads) emu_fault("a block of %u threads, of %u at most", threads, t.kernel->threads);
  if (l.grid[0] % l.cluster) emu_fault("a grid of %u blocks, in clusters of %u", l.grid[0], l.cluster);
}
}  // namespace

uint64_t draw(uint64_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % below;
}
}  // namespace emu

using namespace emu;

const char *emu_launch(const EmuTask *all, unsigned count) {
  static std::vector<Task> tasks;
  tasks.clear();
  wave_size = all->kernel->wave;
  launches++;
  if (_setjmp(failed)) {
    // Fibers that were in the middle of a kernel are of no more use.
    self = nullptr;
    running.clear();
    drop_flights();
    return message;
  }
  uint32_t blocks = 0;
  for (const EmuTask *one = all; one < all + count; one++) {
    tasks.emplace_back();
    Task &t = tasks.back();
    (EmuTask &)t = *one;
    if (!t.launch.cluster) t.launch.cluster = 1;
    check(t);
    t.first_block = blocks;
    const uint32_t grid = t.launch.grid[0] * t.launch.grid[1] * t.launch.grid[2];
    t.clusters = grid / t.launch.cluster;
    blocks += grid;
    start_blocks(t);
  }
  start_clock(blocks);
  run_all(tasks);
  return nullptr;
}
const EmuApi *emu_table(void) {
#define X(R, NAME, PARAMETERS, ARGUMENTS) emu_##NAME,
  static const EmuApi table = {&place, EMU_CALLS(X)};
#undef X
  return &table;
}
void emu_seed(uint64_t seed) { random_state = seed * 0x9e3779b97f4a7c15 | 1; }
unsigned emu_draw(unsigned below) { return draw(below); }
void emu_refuse(const char *what) { emu_fault("%s", what); }
void emu_launch_wait(void) { self->known.learn_lane({BEFORE, 0, 1}); }

void emu_fault(const char *format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  char line[100] = "";
  if (self) {
    find_line(line, sizeof line);
    snprintf(message, sizeof message, "thread %u of block %u%s%s: %s", self->thread, self->block->id,
             *line ? " at " : "", line, text);
  }
  else
    snprintf(message, sizeof message, "%s", text);
  _longjmp(failed, 1);
}
