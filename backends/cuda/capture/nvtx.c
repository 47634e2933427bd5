/* Takes the outermost NVTX range of a thread as the phase of its calls, and a range as the window. NVTX loads the recorder by
 * NVTX_INJECTION64_PATH. Declarations follow nvtxTypes.h of NVTX 3. */
#include <ctype.h>
#include <string.h>
#include <wchar.h>

#include "recorder.h"

enum { TABLE_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { CORE_PUSH_EX = 8, CORE_PUSH_ASCII = 9, CORE_PUSH_WIDE = 10, CORE_POP = 11 };
enum { CORE2_PUSH_EX = 4, CORE2_POP = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2 };
enum { NAME_BYTES = 128 };

typedef void function(void);

struct callbacks {
  size_t size;
  int (*module)(int which, function ****table, unsigned *size);
};

struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void *message;
};
_Static_assert(offsetof(struct attributes, message) == 40, "as in nvToolsExt.h");

static __thread int depth, range;
/* Of the range that is the window, where it began on this thread; else 0. */
static __thread int window_depth;

int nvtx_phase(void) { return depth > 0 ? range : 0; }

/* Ranges that differ by numbers alone, such as those of steps, are one phase. */
static int push(const char *name) {
  depth++;
  if (window_begins(name)) window_depth = depth;
  if (depth > 1) return depth - 1;
  char text[NAME_BYTES];
  size_t size = 0;
  for (; *name != 0 && size < sizeof text - 1; name++) {
    bool is_digit = isdigit((unsigned char)*name) != 0;
    if (is_digit && size > 0 && text[size - 1] == '#') continue;
    text[size++] = is_digit ? '#' : *name;
  }
  text[size] = 0;
  range = name_of(text);
  return 0;
}

static int push_wide(const wchar_t *wide) {
  char text[NAME_BYTES];
  size_t size = 0;
  for (; *wide != 0 && size < sizeof text - 1; wide++) {
    text[size++] = (char)(*wide > 0 && *wide < 0x7f ? *wide : '?');
  }
  text[size] = 0;
  return push(text);
}

static int push_attributes(const struct attributes *attributes) {
  if (attributes == NULL || attributes->message == NULL) return push("");
  switch (attributes->message_type) {
  case MESSAGE_ASCII: return push(attributes->message);
  case MESSAGE_WIDE: return push_wide(attributes->message);
  default: return push("");
  }
}

/* Libraries have domains of their own, whose ranges are no phases of the program. */
static int push_in_domain(void *domain, const struct attributes *attributes) {
  return domain == NULL ? push_attributes(attributes) : 0;
}

static int pop(void) {
  if (depth == 0) return -1;
  if (depth == window_depth) {
    window_depth = 0;
    window_ends();
  }
  return --depth;
}

static int pop_in_domain(void *domain) { return domain == NULL ? pop() : 0; }

static void replace(const struct callbacks *callbacks, int module, int which, function *own) {
  function ***table;
  unsigned size;
  if (callbacks->module(module, &table, &size) == 0 || (unsigned)which >= size) return;
  if (table[which] != NULL) *table[which] = own;
}

EXPORT int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t)) {
  const struct callbacks *callbacks = table_of(TABLE_CALLBACKS);
  if (callbacks == NULL || callbacks->size < sizeof *callbacks) return 0;
  replace(callbacks, MODULE_CORE, CORE_PUSH_EX, (function *)push_attributes);
  replace(callbacks, MODULE_CORE, CORE_PUSH_ASCII, (function *)push);
  replace(callbacks, MODULE_CORE, CORE_PUSH_WIDE, (function *)push_wide);
  replace(callbacks, MODULE_CORE, CORE_POP, (function *)pop);
  replace(callbacks, MODULE_CORE2, CORE2_PUSH_EX, (function *)push_in_domain);
  replace(callbacks, MODULE_CORE2, CORE2_POP, (function *)pop_in_domain);
  return 1;
}
