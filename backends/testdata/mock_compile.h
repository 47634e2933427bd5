// How the mock compilers compile for the lane emulator: the source unchanged, the header of its
// API replaced by the emulator's, every access to memory instrumented. EMULATOR is that folder.
#pragma once
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *mock_read(const char *path, size_t *bytes) {
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

// Appends an EMU_ENTRY for each `EMU_MARK (THREADS) void NAME(` of the preprocessed `text`.
static void mock_entries(const char *text, FILE *to) {
  for (const char *p = text; (p = strstr(p, "EMU_MARK"));) {
    const char *open = strchr(p, '('), *close = open;
    for (int depth = 0; ; close++) {
      depth += (*close == '(') - (*close == ')');
      if (!depth) break;
    }
    const char *name = strstr(close, "void");
    if (!name) return;
    name += 4;
    while (isspace((unsigned char)*name)) name++;
    int length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_') length++;
    fprintf(to, "EMU_ENTRY(%.*s, %.*s)\n", length, name, (int)(close + 1 - open), open);
    p = name;
  }
}

// Compiles `source` into a module; returns its bytes, or NULL and what the compiler said. `flags`
// are more of its options.
static char *mock_compile(const char *source, const char *header, const char *flags, size_t *bytes, char **log) {
  char folder[] = "/tmp/mockcompileXXXXXX", path[256], *command, *code = NULL;
  *log = NULL;
  if (!mkdtemp(folder)) return NULL;
  snprintf(path, sizeof path, "%s/k.cpp", folder);
  FILE *f = fopen(path, "w");
  fputs(source, f);
  fclose(f);
  asprintf(&command, "cd %s && exec 2>log && c++ -E -w -I" EMULATOR " -include %s '-DEMU_KERNEL(T)=EMU_MARK T' %s k.cpp -o k.i",
           folder, header, flags);
  int status = system(command);
  if (!status) {
    snprintf(path, sizeof path, "%s/k.i", folder);
    char *text = mock_read(path, NULL);
    snprintf(path, sizeof path, "%s/all.cpp", folder);
    f = fopen(path, "w");
    fputs("#include \"k.cpp\"\n", f);
    mock_entries(text, f);
    fclose(f);
    free(text);
    // Linking apart, so that the sanitiser's own run-time library stays out. Its contraction
    // into fused multiply-adds is what the GPU does as well.
    asprintf(&command,
             "cd %s && exec 2>log && c++ -c -O1 -fPIC -w -fno-exceptions -fno-gnu-unique -U_FORTIFY_SOURCE -fsanitize=thread -I" EMULATOR
             " -include %s %s all.cpp -o k.o && c++ -shared -nostdlib -O1 -fPIC -w -I" EMULATOR " k.o " EMULATOR "/module.cpp -o k.so",
             folder, header, flags);
    status = system(command);
  }
  snprintf(path, sizeof path, "%s/%s", folder, status ? "log" : "k.so");
  char *all = mock_read(path, bytes);
  if (status) *log = all ? all : strdup("the compiler said nothing\n");
  else code = all;
  asprintf(&command, "rm -r %s", folder);
  if (system(command)) return NULL;
  return code;
}
