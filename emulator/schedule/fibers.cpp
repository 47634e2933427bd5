// Lanes as fibers: each has a stack of its own, on which it runs until it waits.
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "lanes.h"

namespace emu {
Lane *self;

namespace {
jmp_buf home;
std::vector<std::unique_ptr<Lane>> idle;  // fibers that wait for a lane to be
constexpr size_t STACK_GUARD = 4096;

// The loop of a fiber, which runs one lane after another.
void fiber() {
  for (;;) {
    task->kernel->run(task->params);
    self->state = DONE;
    if (!_setjmp(self->at)) _longjmp(home, 1);
  }
}

}  // namespace

// Jumps between stacks that a context was made for once: much cheaper than a switch of contexts,
// which asks the system each time.
void resume(Lane *lane) {
  self = lane;
  task = lane->block->cluster->task;
  lane->state = READY;
  place = nullptr;
  if (!_setjmp(home)) {
    if (lane->started) _longjmp(lane->at, 1);
    lane->started = true;
    static ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = lane->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, fiber, 0);
    setcontext(&context);
  }
  self = nullptr;
}

void wait_as(State state, const char *what) {
  self->state = state;
  self->what = what;
  if (!_setjmp(self->at)) _longjmp(home, 1);
}

std::unique_ptr<Lane> take_lane() {
  if (!idle.empty()) {
    auto lane = std::move(idle.back());
    idle.pop_back();
    return lane;
  }
  return std::make_unique<Lane>();
}
void give_lane(std::unique_ptr<Lane> lane) { idle.push_back(std::move(lane)); }

Lane::Lane() {
  void *room = mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) emu_fault("no memory for a lane's stack");
  stack = (unsigned char *)room;
  // A lane that needs more ends the process, and not its neighbour's values.
  mprotect(stack, STACK_GUARD, PROT_NONE);
}
Lane::~Lane() { munmap(stack, STACK); }
}  // namespace emu
