// hipRTC that compiles for the lane emulator, kernels/device/gfx.h replaced by emulator/api/gfx.h.
#include "../compile.h"

#include "runtime.h"

typedef struct {
  char *source, *log, *code;
  size_t bytes;
} Program;

int hiprtcVersion(int *major, int *minor) { *major = 6, *minor = 4; return 0; }
int hiprtcCreateProgram(Program **to, const char *source, const char *name, int headers, void *a, void *b) {
  if (headers || a || b || !name) return 3;
  Program p = {strdup(source), strdup(""), NULL, 0};
  *to = malloc(sizeof p);
  **to = p;
  driver_live++;
  return 0;
}
int hiprtcDestroyProgram(Program **p) {
  free((*p)->source), free((*p)->log), free((*p)->code), free(*p);
  driver_live--;
  return 0;
}

int hiprtcCompileProgram(Program *p, int count, const char **options) {
  char *flags = strdup("");
  for (int i = 0; i < count; i++) {
    if (!strncmp(options[i], "--offload-arch=", 15)) {
      if (strncmp(options[i] + 15, "gfx9", 4)) return 5;
    } else if (strncmp(options[i], "-O", 2)) {
      asprintf(&flags, "%s '%s'", flags, options[i]);
    }
  }
  char *log;
  p->code = driver_compile(p->source, "api/gfx.h", flags, &p->bytes, &log);
  if (p->code) return 0;
  free(p->log);
  p->log = log;
  return log ? 6 : 1;
}
int hiprtcGetCodeSize(Program *p, uint64_t *to) { *to = p->bytes; return 0; }
int hiprtcGetCode(Program *p, char *to) { memcpy(to, p->code, p->bytes); return 0; }
int hiprtcGetProgramLogSize(Program *p, uint64_t *to) { *to = strlen(p->log) + 1; return 0; }
int hiprtcGetProgramLog(Program *p, char *to) { strcpy(to, p->log); return 0; }
const char *hiprtcGetErrorString(int status) { return status == 5 ? "HIPRTC_ERROR_INVALID_OPTION" : "HIPRTC_ERROR_OTHER"; }
