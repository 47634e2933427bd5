// What the files of the emulated Metal share.
#pragma once
#include "objc.h"

enum { MAX_ARGS = 31, MAX_ROOM = 32 << 10 };

typedef struct { Object o; u64 bytes; char *at; } MTLBuffer;
typedef struct { Object o; void *handle; } MTLLibrary;
typedef struct { Object o; MTLLibrary *library; const EmuKernel *kernel; } MTLFunction;
typedef struct { Object o; MTLFunction *function; } MTLComputePipelineState;
typedef struct { Object o; } MTLCommandQueue;
typedef struct { u64 x, y, z; } MTLSize;
typedef struct { u64 location, length; } NSRange;

// Compiles MSL `source` for the emulator; returns a library that was loaded, or NULL and a log.
void *driver_compile_msl(const char *source, char **log);
