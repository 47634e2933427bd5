// NVRTC and hipRTC that compile for the lane emulator: emulator/api/ stands in the place of
// kernels/device/.
#include "../compile.h"

#include "driver.h"

typedef struct {
  char *source, *name, *log, *code;
  size_t bytes;
} Program;

int nvrtcVersion(int *major, int *minor) { const int version[] = {RTC_VERSION}; *major = version[0], *minor = version[1]; return 0; }
int nvrtcCreateProgram(Program **to, const char *source, const char *name, int headers, void *a, void *b) {
  if (headers || a || b || !name) return 3;
  Program p = {strdup(source), strdup(name), strdup(""), NULL, 0};
  *to = malloc(sizeof p);
  **to = p;
  driver_live++;
  return 0;
}
int nvrtcDestroyProgram(Program **p) {
  free((*p)->source), free((*p)->name), free((*p)->log), free((*p)->code), free(*p);
  driver_live--;
  return 0;
}

static int starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }
// Returns whether the C++ compiler does without this option.
static int means_nothing_here(const char *o) {
#ifdef HIP
  return starts(o, "--offload-arch=gfx9") || starts(o, "-O");
#else
  return !strcmp(o, "--gpu-architecture=sm_90a") || !strcmp(o, "--gpu-architecture=sm_100a") || !strcmp(o, "-default-device") || !strcmp(o, "-lineinfo");
#endif
}
int nvrtcCompileProgram(Program *p, int count, const char **options) {
  char *flags = strdup(OF("-fno-strict-aliasing '-I" EMULATOR "/api/toolkit'", ""));
  for (int i = 0; i < count; i++) {
    const char *o = options[i];
    // As clang does, by which kernels/device/gfx.h knows what the GPU has.
    if (!strcmp(o, "--offload-arch=gfx950")) o = "-D__gfx950__=1";
    if (means_nothing_here(o)) continue;
    if (!starts(o, "-I") && !starts(o, "-D") && !starts(o, "-std=")) return 5;
    asprintf(&flags, "%s '%s'", flags, o);
  }
  char *log;
  p->code = driver_compile(p->source, p->name, OF("api/cuda.h", "api/gfx.h"), flags, &p->bytes, &log);
  if (p->code) return 0;
  free(p->log);
  p->log = log;
  return log ? 6 : 1;
}
int nvrtcGetCUBINSize(Program *p, uint64_t *to) { *to = p->bytes; return 0; }
int nvrtcGetCUBIN(Program *p, char *to) { memcpy(to, p->code, p->bytes); return 0; }
int nvrtcGetProgramLogSize(Program *p, uint64_t *to) { *to = strlen(p->log) + 1; return 0; }
int nvrtcGetProgramLog(Program *p, char *to) { strcpy(to, p->log); return 0; }
const char *nvrtcGetErrorString(int status) {
  return status == 5 ? OF("NVRTC", "HIPRTC") "_ERROR_INVALID_OPTION" : OF("NVRTC", "HIPRTC") "_ERROR_OTHER";
}
