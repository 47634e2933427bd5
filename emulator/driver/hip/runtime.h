// What the files of the emulated HIP runtime share. Statuses are those of hip_runtime_api.h.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../control.h"
#include "../../emulator.h"

typedef uint64_t u64;

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY = 209,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILED = 719,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
};

// Returns the status that a test wants the call to have, or the one that a
// ruined device gives to every call.
int driver_enter(const char *call);
#define ENTER                           \
  do {                                  \
    int status_ = driver_enter(__func__); \
    if (status_) return status_;        \
  } while (0)

// For a call that gives something back: it works on a ruined device too.
void driver_count(const char *call);

extern double driver_clock_ms;  // moves only when work is done
extern int driver_live;         // handles that were made and not given back
// Makes every later call fail, from the next wait on: what a kernel did wrong shows late.
void driver_ruin(int status, const char *why);
int driver_late(void);

typedef struct Node Node;
typedef struct {
  int capturing, invalidated;
  Node *first;
} Stream;
int driver_submit(Stream *stream, Node *node);
