// Finds the source line of an instruction of a kernel: modules have the lines as debugging
// information, which addr2line reads.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>

#include "../schedule/lanes.h"

namespace emu {
const void *place;

namespace {
std::map<uint64_t, std::string> modules;  // their bytes, by the address where they begin
std::mutex lock;                          // of `modules`, which are loaded while others run

uint64_t base_of(void *handle) {
  link_map *map;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) ? 0 : map->l_addr;
}

// Has addr2line write to `line` where `offset` of the module in `file` is: of functions that were
// inlined there, the innermost that is not the emulator's.
void ask(const char *file, uint64_t offset, char *line, size_t size) {
  char command[200], found[512];
  snprintf(command, sizeof command, "addr2line -i -e %s %#llx 2>/dev/null", file, (unsigned long long)offset);
  FILE *answer = popen(command, "r");
  if (!answer) return;
  while (fgets(found, sizeof found, answer)) {
    found[strcspn(found, " \n")] = 0;
    const char *name = strrchr(found, '/'), *number = strrchr(found, ':');
    if (*line || !name || !number || atoi(number + 1) == 0 || strstr(found, EMULATOR "/")) continue;
    snprintf(line, size, "%s", name + 1);
  }
  pclose(answer);
}
}  // namespace

// Writes to `line` where the lane called the emulator, as `mine.cu:7`; nothing where that is not known.
void find_line(char *line, size_t size) {
  *line = 0;
  std::lock_guard<std::mutex> guard(lock);
  auto it = modules.upper_bound((uint64_t)place);
  if (!place || it == modules.begin()) return;
  const std::string &bytes = (--it)->second;
  char path[] = P_tmpdir "/emulatedXXXXXX";
  const int file = mkstemp(path);
  if (file < 0) return;
  // What a call returns to is behind it.
  if (write(file, bytes.data(), bytes.size()) == (ssize_t)bytes.size())
    ask(path, (uint64_t)place - 1 - it->first, line, size);
  close(file);
  unlink(path);
}
}  // namespace emu

void emu_loaded(void *handle, const void *image, uint64_t bytes) {
  std::lock_guard<std::mutex> guard(emu::lock);
  emu::modules[emu::base_of(handle)].assign((const char *)image, bytes);
}
void emu_unloaded(void *handle) {
  std::lock_guard<std::mutex> guard(emu::lock);
  emu::modules.erase(emu::base_of(handle));
}
