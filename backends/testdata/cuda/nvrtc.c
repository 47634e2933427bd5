// NVIDIA's run-time compiler: a "cubin" is the options, one a line, and then the source. A
// source with #error does not compile. With BUILTINS nothing does before the library of that name is
// open, which it opens by its name.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef BUILTINS
#include <dlfcn.h>
#endif

typedef struct { char *source, *name, *log, *cubin; } Program;

static int running, most;
static int living;
// The greatest number of compilations that ran at once.
int mock_most(void) { return most; }
int mock_living(void) { return living; }

int nvrtcVersion(int *major, int *minor) { *major = 13, *minor = 7; return 0; }
int nvrtcCreateProgram(Program **to, const char *source, const char *name, int headers, void *a, void *b) {
  if (headers || a || b) return 3;
  Program p = {strdup(source), strdup(name), strdup(""), NULL};
  *to = malloc(sizeof p);
  **to = p;
  living++;
  return 0;
}
int nvrtcDestroyProgram(Program **p) {
  free((*p)->source), free((*p)->name), free((*p)->log), free((*p)->cubin), free(*p);
  living--;
  return 0;
}
int nvrtcCompileProgram(Program *p, int count, const char **options) {
#ifdef BUILTINS
  if (!dlopen(BUILTINS, RTLD_LAZY)) {
    asprintf(&p->log, "nvrtc: error: failed to open %s.\n", BUILTINS);
    return 7;
  }
#endif
  int now = __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST);
  usleep(strstr(p->source, "// slow") ? 1500000 : 50000);
  if (now > most) most = now;
  __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
  for (int i = 0; i < count; i++)
    if (strstr(options[i], "compute_banana")) return 5;
  if (strstr(p->source, "#error")) {
    asprintf(&p->log, "%s(2): warning #1: odd\n%s(3): error: identifier \"x\" is undefined\n\n1 error\n", p->name, p->name);
    return 6;
  }
  char *text = strdup("");
  for (int i = 0; i < count; i++) asprintf(&text, "%s%s\n", text, options[i]);
  asprintf(&p->cubin, "%s%s", text, p->source);
  p->log = strdup("fine\n");
  return 0;
}
int nvrtcGetCUBINSize(Program *p, uint64_t *to) { *to = strlen(p->cubin); return 0; }
int nvrtcGetCUBIN(Program *p, char *to) { memcpy(to, p->cubin, strlen(p->cubin)); return 0; }
int nvrtcGetProgramLogSize(Program *p, uint64_t *to) { *to = strlen(p->log) + 1; return 0; }
int nvrtcGetProgramLog(Program *p, char *to) { strcpy(to, p->log); return 0; }
const char *nvrtcGetErrorString(int status) { return status == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR_OTHER"; }
