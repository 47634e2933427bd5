/* Finds the functions that the recorder replaces, and replaces them for dlsym() too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "recorder.h"

typedef void *dlsym_function(void *, const char *);

/* dlsym() itself is replaced below, and dlvsym() is not. */
static dlsym_function *real_dlsym(void) {
  static _Atomic(void *) found;
  void *function = atomic_load_explicit(&found, memory_order_acquire);
  if (function != NULL) return (dlsym_function *)function;
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5", "GLIBC_2.0"};
  for (unsigned i = 0; function == NULL && i < sizeof versions / sizeof *versions; i++) {
    function = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  }
  atomic_store_explicit(&found, function, memory_order_release);
  return (dlsym_function *)function;
}

void *real_symbol(void *handle, const char *name) {
  dlsym_function *find = real_dlsym();
  return find == NULL ? NULL : find(handle, name);
}

struct search {
  const char *name;
  void *found;
};

/* A library that was loaded with RTLD_LOCAL is not found by RTLD_NEXT. */
static int look_into(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  const char *file = strrchr(info->dlpi_name, '/');
  file = file == NULL ? info->dlpi_name : file + 1;
  if (strncmp(file, "libcublas", 9) != 0 && strncmp(file, "libstdc++", 9) != 0) return 0;
  void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return 0;
  search->found = real_symbol(handle, search->name);
  dlclose(handle);
  return search->found != NULL;
}

void *real_function(const char *name, _Atomic(void *) *known) {
  void *function = atomic_load_explicit(known, memory_order_acquire);
  if (function != NULL) return function;
  function = real_symbol(RTLD_NEXT, name);
  if (function == NULL) {
    struct search search = {name, NULL};
    dl_iterate_phdr(look_into, &search);
    function = search.found;
  }
  atomic_store_explicit(known, function, memory_order_release);
  return function;
}

#ifdef __has_attribute
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail))
#endif
#endif
#ifndef JUMP
#define JUMP /* GCC before 15 makes it one at -O2. */
#endif

/* Programs that load cuBLAS themselves ask for its functions by name. All other names go on by a
 * jump, which keeps the caller's return address: RTLD_NEXT and RTLD_DEFAULT depend on it. */
EXPORT void *dlsym(void *handle, const char *name) {
  dlsym_function *find = real_dlsym();
  if (__builtin_expect(strncmp(name, "cublas", 6) != 0 || handle == RTLD_NEXT, 1)) {
    JUMP return find(handle, name);
  }
  _Atomic(void *) *known;
  void *replacement = replacement_of(name, &known);
  void *function = find(handle, name);
  if (replacement == NULL || function == NULL) return function;
  if (function == replacement) {
    /* Found by RTLD_DEFAULT: the real one may be there or not. */
    return real_function(name, known) == NULL ? NULL : replacement;
  }
  void *none = NULL;
  atomic_compare_exchange_strong(known, &none, function);
  return replacement;
}
