// What the files of the mock CUDA driver share.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;

// Statuses of cuda.h.
enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILED = 719,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
};

// Counts the call and returns the status that a test wants it to have.
int mock_enter(const char *call);
#define ENTER                          \
  do {                                 \
    int status_ = mock_enter(__func__); \
    if (status_) return status_;       \
  } while (0)

// Moves only when work is done.
extern double mock_clock_ms;
// Handles that were made and not given back.
extern int mock_live;

typedef struct Node Node;

typedef struct {
  int capturing, invalidated;
  Node *first;
} Stream;

// Runs `node`, or records it where the stream is being captured.
int mock_submit(Stream *stream, Node *node);
