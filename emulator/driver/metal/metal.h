// Declarations that the files of the emulated Objective-C runtime and Metal share.
#pragma once
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../control.h"
#include "../../emulator.h"

typedef uint64_t u64;
typedef struct Object Object;
typedef struct {
  const char *selector;
  void *imp;
} Method;
typedef struct Class Class;
struct Class {
  const Class *isa;  // of what its own methods are, for [Class new]
  const char *name;
  const Method *methods;  // the last has no selector
  size_t bytes;           // of an instance
  void (*drop)(Object *);  // gives back what an instance holds; may be missing
};
struct Object {
  const Class *isa;
  int count;
};

// A class whose instances are `TYPE`, with `METHODS`; found by objc_getClass.
#define CLASS(NAME, TYPE, DROP) \
  const Class class_##NAME = {&class_Class, #NAME, methods_##NAME, sizeof(TYPE), (void (*)(Object *))DROP}
extern const Class class_Class, class_NSString, class_NSArray, class_NSError, class_NSProcessInfo,
    class_MTLArchitecture, class_MTLDevice, class_MTLBuffer, class_MTLCompileOptions, class_MTLLibrary,
    class_MTLFunction, class_MTLComputePipelineState, class_MTLCommandQueue, class_MTLCommandBuffer,
    class_MTLComputeCommandEncoder, class_MTLBlitCommandEncoder, class_MPSMatrixDescriptor, class_MPSMatrix,
    class_MPSMatrixMultiplication;

void *driver_new(const Class *c);  // owned by the caller
void *driver_auto(void *object);   // owned by the pool
void *driver_retain(void *object);
void driver_release(void *object);

typedef struct { Object o; char *text; } NSString;
typedef struct { Object o; int count; Object *at[8]; } NSArray;
typedef struct { Object o; u64 code; char *domain, *text; } NSError;
void *driver_string(const char *text);  // owned by the pool
void *driver_error(u64 code, const char *domain, const char *text);

// The code that a test wants the call of `selector` to fail with, or 0.
int driver_fault_of(const char *selector);
extern double driver_clock_s;  // moves only when work is done
extern int driver_removed;     // whether the device was lost
// Ends the process, as the real runtime does for what no program may do.
void driver_die(const char *format, ...) __attribute__((noreturn));

// Metal.
enum { MAX_ARGS = 31, MAX_ROOM = 32 << 10 };

typedef struct { Object o; u64 bytes; char *at; } MTLBuffer;
typedef struct { Object o; void *handle; } MTLLibrary;
typedef struct { Object o; MTLLibrary *library; const EmuKernel *kernel; } MTLFunction;
typedef struct { Object o; MTLFunction *function; } MTLComputePipelineState;
typedef struct { Object o; } MTLCommandQueue;
typedef struct { u64 x, y, z; } MTLSize;
typedef struct { u64 location, length; } NSRange;

typedef struct MTLCommandBuffer MTLCommandBuffer;
// Has a command buffer call `run(work)` when it is committed; it frees `work`, and keeps the buffers.
void driver_work(MTLCommandBuffer *b, void (*run)(void *work), void *work, MTLBuffer *const *uses, int count);

// Compiles MSL `source` for the emulator; returns a library that was loaded, or NULL and a log.
void *driver_compile_msl(const char *source, char **log);
