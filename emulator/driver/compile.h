// Compiles modules of the lane emulator. The source is unchanged, the header of its API
// is replaced by the emulator's, and every access to memory is instrumented. EMULATOR is that folder, EMU_MODULE
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
static int driver_is(const char *p, const char *word) {
  return driver_word(p) == (int)strlen(word) && !strncmp(p, word, strlen(word));
}
// Returns the parenthesis that closes the one at `open`.
static const char *driver_close(const char *open) {
  int depth = 0;
  for (const char *p = open; *p; p++) {
    depth += (*p == '(') - (*p == ')');
    if (!depth) return p;
  }
  return open;
}
static const char *driver_earlier(const char *a, const char *b) { return !a || (b && b < a) ? b : a; }

// Whether what stands at `at` has the linkage of C: behind `extern "C"`, or within its braces.
static int driver_is_c(const char *text, const char *at) {
  int depth = 0;
  for (const char *p = at; p > text; p--) {
    depth += (p[-1] == '}') - (p[-1] == '{');
    if (p - text < 3 || strncmp(p - 3, "\"C\"", 3)) continue;
    const char *next = driver_blank(p);
    if (next == at || (*next == '{' && depth < 0)) return 1;
  }
  return 0;
}

// Appends an EMU_ENTRY for each kernel that the preprocessed `text` defines: EMU_FREE (a CUDA
// kernel), EMU_MARK (THREADS, ...) and `void` in any order, then NAME(PARAMETERS) {. Without
// EMU_MARK a block may have 1024 threads. Templates and names of C++ have no entry: nobody can
// launch them by name.
static void driver_entries(const char *text, FILE *to) {
  const char *p = text;
  while ((p = driver_earlier(strstr(p, "EMU_FREE"), strstr(p, "EMU_MARK")))) {
    const char *before = p, *threads = "1024";
    int length = 4;
    while (before > text && isspace((unsigned char)before[-1])) before--;
    const int is_nameless = (before > text && before[-1] == '>') || !driver_is_c(text, p);
    for (;; p = driver_blank(p)) {
      if (driver_is(p, "EMU_FREE") || driver_is(p, "void")) {
        p += driver_word(p);
      } else if (driver_is(p, "EMU_MARK") || driver_is(p, "__attribute__")) {
        const char *open = driver_blank(p + driver_word(p));
        const char *close = driver_close(open), *end = open + 1;
        for (int depth = 0; end < close && (depth || *end != ','); end++) depth += (*end == '(') - (*end == ')');
        if (*p == 'E') threads = open + 1, length = end - threads;
        p = close + 1;
      } else {
        break;
      }
    }
    const char *name = p, *open = driver_blank(p + driver_word(p));
    p = open;
    if (!is_nameless && *open == '(' && *driver_blank(driver_close(open) + 1) == '{')
      fprintf(to, "EMU_ENTRY(%.*s, (%.*s))\n", driver_word(name), name, length, threads);
  }
}

// Appends an EMU_DYNAMIC for each `extern EMU_SHARED TYPE NAME[` of the preprocessed `text`: the
// memory whose size the launch says.
static void driver_dynamic(const char *text, FILE *to) {
  for (const char *p = text; (p = strstr(p, "extern ")); p++) {
    const char *word = driver_blank(p + 7), *end = word + strcspn(word, "[;{(");
    if (!driver_is(word, "EMU_SHARED")) continue;
    while (*end == '(') end = driver_close(end) + 1, end += strcspn(end, "[;{(");
    if (*end != '[') continue;
    while (isspace((unsigned char)end[-1])) end--;
    const char *name = end;
    while (driver_word(name - 1)) name--;
    fprintf(to, "EMU_DYNAMIC(%.*s)\n", (int)(end - name), name);
  }
}

// Compiles `source`, from the file `name`, into a module; returns its bytes, or NULL and what the
// compiler said. `flags` are more of its options.
static char *driver_compile(const char *source, const char *name, const char *header, const char *flags,
                            size_t *bytes, char **log) {
  char folder[] = P_tmpdir "/emulatedXXXXXX", path[256], *command, *code = NULL;
  *log = NULL;
  if (!mkdtemp(folder)) return NULL;
  snprintf(path, sizeof path, "%s/k.cpp", folder);
  FILE *f = fopen(path, "w");
  if (!strpbrk(name, "\"\\\n")) fprintf(f, "#line 1 \"%s\"\n", name);
  fputs(source, f);
  fclose(f);
  asprintf(&command,
           "cd %s && exec 2>log && '" EMU_CXX "' -E -P -w '-I" EMULATOR "'"
           " -include %s '-DEMU_KERNEL(...)=EMU_MARK (__VA_ARGS__)' -DEMU_GLOBAL=EMU_FREE -DEMU_SHARED=EMU_SHARED %s k.cpp -o k.i",
           folder, header, flags);
  int status = system(command);
  if (!status) {
    snprintf(path, sizeof path, "%s/k.i", folder);
    char *text = driver_read(path, NULL);
    snprintf(path, sizeof path, "%s/all.cpp", folder);
    f = fopen(path, "w");
    fputs("#include \"k.cpp\"\n", f);
    driver_entries(text, f);
    driver_dynamic(text, f);
    fclose(f);
    free(text);
    // Linking apart, so that the sanitiser's own run-time library stays out. Its contraction
    // into fused multiply-adds is what the GPU does as well.
    asprintf(&command,
             "cd %s && exec 2>log && '" EMU_CXX "' -c -O1 -g1 -fPIC -w -fno-exceptions " EMU_FLAGS " -U_FORTIFY_SOURCE -fsanitize=thread '-I" EMULATOR "'"
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
