// Copies to the block's memory that the lane which started them waits for, by groups.
#include <string.h>

#include "../schedule/lanes.h"

using namespace emu;

void emu_copy_async(void *to, const void *from, unsigned bytes) {
  Copy copy = {(unsigned char *)to, bytes, self->group, {}};
  if (from) {
    emu_access(from, bytes, 0);
    memcpy(copy.data, from, bytes);
  }
  emu_access(to, bytes, EMU_WRITE);
  const Window &w = self->block->window;
  if (!w.has((uint64_t)to)) emu_fault("a copy to the block's memory goes elsewhere");
  for (unsigned i = 0; i < bytes; i++) w.cells.get()[copy.to - w.base + i].is |= ARRIVING;
  self->copies.push_back(copy);
}
void emu_copy_commit(void) { self->group++; }
void emu_copy_wait(unsigned left) {
  const Window &w = self->block->window;
  self->time++;  // they come now, after what the lane did before
  while (!self->copies.empty() && self->copies.front().group + left < self->group) {
    const Copy &c = self->copies.front();
    memcpy(c.to, c.data, c.bytes);
    for (unsigned i = 0; i < c.bytes; i++) {
      Cell &cell = w.cells.get()[c.to - w.base + i];
      cell.is &= ~ARRIVING;
      cell.write = now(*self);
    }
    self->copies.pop_front();
  }
}
