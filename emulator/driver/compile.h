// How the compilers of the emulated devices compile for the lane emulator: the source unchanged, the header of its
// API replaced by the emulator's, every access to memory instrumented. EMULATOR is that folder, EMU_MODULE
// its module.cpp compiled, EMU_CXX the C++ compiler, EMU_FLAGS what it needs beside.
#pragma once
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *driver_read(const char *path, size_t *bytes) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = NULL;
  size_t n = 0, got;
  do {
    text = realloc(text, n + 65537);
    n += got = fread(text + n, 1, 65536, f);
  } while (got);
  fclose(f);
  text[n] = 0;
  if (bytes) *bytes = n;
  return text;
}

static const char *driver_blank(const char *p) {
  while (isspace((unsigned char)*p)) p++;
  return p;
}
static int driver_word(const char *p) {
  int length = 0;
  while (isalnum((unsigned char)p[length]) || p[length] == '_') length++;
  return length;
}
static const char *driver_past(const char *p, const char *word) {
  int length = strlen(word);
  p = driver_blank(p);
  return driver_word(p) == length && !strncmp(p, word, length) ? driver_blank(p + length) : p;
}

// Appends an EMU_ENTRY for each `EMU_MARK (THREADS) [void] NAME(` of the preprocessed `text`, and
// for each `EMU_FREE void NAME(`, which is a kernel that says nothing of its threads. What follows
// the threads after a comma is for the API's own compiler.
static void driver_entries(const char *text, FILE *to) {
  for (const char *p = text; (p = strstr(p, "EMU_FREE")); p++) {
    const char *name = driver_past(driver_past(p, "EMU_FREE"), "void");
    if (strncmp(name, "EMU_MARK", 8)) fprintf(to, "EMU_ENTRY(%.*s, 1024)\n", driver_word(name), name);
  }
  for (const char *p = text; (p = strstr(p, "EMU_MARK"));) {
    const char *open = strchr(p, '('), *close = open, *end = NULL;
    for (int depth = 0;; close++) {
      depth += (*close == '(') - (*close == ')');
      if (!end && (!depth || (depth == 1 && *close == ','))) end = close;
      if (!depth) break;
    }
    const char *name = driver_past(close + 1, "void");
    fprintf(to, "EMU_ENTRY(%.*s, (%.*s))\n", driver_word(name), name, (int)(end - open - 1), open + 1);
    p = name;
  }
}

// Compiles `source` into a module; returns its bytes, or NULL and what the compiler said. `flags`
// are more of its options.
static char *driver_compile(const char *source, const char *header, const char *flags, size_t *bytes, char **log) {
  char folder[] = P_tmpdir "/emulatedXXXXXX", path[256], *command, *code = NULL;
  *log = NULL;
  if (!mkdtemp(folder)) return NULL;
  snprintf(path, sizeof path, "%s/k.cpp", folder);
  FILE *f = fopen(path, "w");
  fputs(source, f);
  fclose(f);
  asprintf(&command,
           "cd %s && exec 2>log && '" EMU_CXX "' -E -P -w '-I" EMULATOR "'"
           " -include %s '-DEMU_KERNEL(...)=EMU_MARK (__VA_ARGS__)' -DEMU_GLOBAL=EMU_FREE %s k.cpp -o k.i",
           folder, header, flags);
  int status = system(command);
  if (!status) {
    snprintf(path, sizeof path, "%s/k.i", folder);
    char *text = driver_read(path, NULL);
    snprintf(path, sizeof path, "%s/all.cpp", folder);
    f = fopen(path, "w");
    fputs("#include \"k.cpp\"\n", f);
    driver_entries(text, f);
    fclose(f);
    free(text);
    // Linking apart, so that the sanitiser's own run-time library stays out. Its contraction
    // into fused multiply-adds is what the GPU does as well.
    asprintf(&command,
             "cd %s && exec 2>log && '" EMU_CXX "' -c -O1 -fPIC -w -fno-exceptions " EMU_FLAGS " -U_FORTIFY_SOURCE -fsanitize=thread '-I" EMULATOR "'"
             " -include %s %s all.cpp -o k.o && '" EMU_CXX "' -shared -nostdlib -O1 -fPIC -w k.o '" EMU_MODULE "' -o k.so",
             folder, header, flags);
    status = system(command);
  }
  snprintf(path, sizeof path, "%s/%s", folder, status ? "log" : "k.so");
  char *all = driver_read(path, bytes);
  if (status) *log = all ? all : strdup("the compiler said nothing\n");
  else code = all;
  asprintf(&command, "rm -r %s", folder);
  if (system(command)) return NULL;
  return code;
}
