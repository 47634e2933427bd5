// Metal's queues, command buffers and encoders on the CPU. A command buffer does its work when it
// is committed, and tells of it only to who waited. Starting one takes 20 us, a dispatch or what a
// library encodes 10 us, a fill 5 us. What the real API asserts in its validation layer ends the
// command buffer here.
#define _GNU_SOURCE
#include "metal.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct Node Node;
struct Node {
  const EmuKernel *kernel;  // or a fill or copy, where there is none
  EmuLaunch launch;
  void *params[MAX_ARGS];
  char *at, *from;  // a copy, where there is a source
  u64 bytes;
  unsigned char value;
  void (*run)(void *work);  // what a library encoded
  void *work;
  Node *next;
};
struct MTLCommandBuffer {
  Object o;
  int status, over;  // what is true, and whether somebody waited for it
  double start, end;
  NSError *error;
  Node *first;
  Object *held[256], *encoder;  // buffers and pipelines that its work uses; what encodes now
  int holds;
  char invalid[200];
};
typedef struct {
  Object o;
  MTLCommandBuffer *of;
  MTLComputePipelineState *pipeline;
  void *params[MAX_ARGS];
  u64 sizes[MAX_ARGS], room;
  int ended;
} Encoder;

static void invalid(MTLCommandBuffer *b, const char *format, ...) {
  va_list list;
  va_start(list, format);
  if (!b->invalid[0]) vsnprintf(b->invalid, sizeof b->invalid, format, list);
}
static void hold(MTLCommandBuffer *b, void *object) {
  for (int i = 0; i < b->holds; i++)
    if (b->held[i] == object) return;
  if (b->holds == 256) driver_die("a command buffer that uses more than 256 objects");
  b->held[b->holds++] = driver_retain(object);
}
static void *new_encoder(MTLCommandBuffer *self, const Class *c) {
  if (self->status) invalid(self, "encoding after a commit");
  if (self->encoder) invalid(self, "two encoders at once");
  Encoder *e = driver_new(c);
  e->of = self;
  return self->encoder = driver_auto(e);
}
static void *compute_encoder(MTLCommandBuffer *self) { return new_encoder(self, &class_MTLComputeCommandEncoder); }
static void *blit_encoder(MTLCommandBuffer *self) { return new_encoder(self, &class_MTLBlitCommandEncoder); }
static void end_encoding(Encoder *self) {
  self->of->encoder = NULL;
  self->ended = 1;
}
static void drop_encoder(Encoder *e) {
  if (!e->ended) driver_die("an encoder was given back that did not end");
  for (int i = 0; i < MAX_ARGS; i++) free(e->params[i]);
}

static void set_pipeline(Encoder *self, const char *s, MTLComputePipelineState *p) { (void)s; self->pipeline = p, hold(self->of, p); }
static void set(Encoder *self, u64 index, const void *value, u64 bytes, u64 size) {
  if (index >= MAX_ARGS) return invalid(self->of, "argument %d of 31", (int)index);
  free(self->params[index]);
  self->params[index] = memcpy(aligned_alloc(64, (bytes + 63) / 64 * 64), value, bytes);
  self->sizes[index] = size;
}
static void set_buffer(Encoder *self, const char *s, MTLBuffer *b, u64 offset, u64 index) {
  (void)s;
  if (offset >= b->bytes) invalid(self->of, "an offset of %d into %d bytes", (int)offset, (int)b->bytes);
  char *at = b->at + offset;
  set(self, index, &at, 8, 8 | EMU_POINTER);
  hold(self->of, b);
}
static void set_bytes(Encoder *self, const char *s, const void *bytes, u64 length, u64 index) {
  (void)s;
  if (length > 4096) return invalid(self->of, "%d bytes where 4096 are the most", (int)length);
  set(self, index, bytes, length, length);
}
static void set_room(Encoder *self, const char *s, u64 length, u64 index) {
  (void)s;
  if (index || length % 16 || length > MAX_ROOM) invalid(self->of, "%d bytes of threadgroup memory at %d", (int)length, (int)index);
  self->room = length;
}
static void add(MTLCommandBuffer *b, Node *node) {
  Node **end = &b->first;
  while (*end) end = &(*end)->next;
  *end = node;
}
static void dispatch(Encoder *self, const char *s, MTLSize grid, MTLSize block) {
  (void)s;
  MTLCommandBuffer *b = self->of;
  if (self->ended) return invalid(b, "a dispatch after the end of encoding");
  if (!self->pipeline) return invalid(b, "a dispatch without a pipeline");
  const EmuKernel *k = self->pipeline->function->kernel;
  u64 threads = block.x * block.y * block.z;
  if (!threads || threads > k->threads) return invalid(b, "%d threads, of %d at most", (int)threads, (int)k->threads);
  if (!(grid.x * grid.y * grid.z)) return invalid(b, "an empty grid");
  Node *n = calloc(1, sizeof *n);
  *n = (Node){.kernel = k, .launch = {.grid = {grid.x, grid.y, grid.z}, .block = {block.x, block.y, block.z}, .shared = self->room}};
  add(b, n);
  for (int i = 0; k->sizes[i]; i++) {
    if (self->sizes[i] != k->sizes[i])
      return invalid(b, "argument %d is of %#x bytes, not %#x", i, k->sizes[i], (int)self->sizes[i]);
    u64 bytes = k->sizes[i] & ~EMU_POINTER;
    n->params[i] = memcpy(aligned_alloc(64, (bytes + 63) / 64 * 64), self->params[i], bytes);
  }
}
static void fill(Encoder *self, const char *s, MTLBuffer *b, NSRange range, unsigned char value) {
  (void)s;
  if (!range.length || range.location + range.length > b->bytes) return invalid(self->of, "a fill out of bounds");
  Node *n = calloc(1, sizeof *n);
  n->at = b->at + range.location, n->bytes = range.length, n->value = value;
  hold(self->of, b);
  add(self->of, n);
}
static void copy(Encoder *self, const char *s, MTLBuffer *from, u64 start, MTLBuffer *to, u64 at, u64 bytes) {
  (void)s;
  if (start + bytes > from->bytes || at + bytes > to->bytes) return invalid(self->of, "a copy out of bounds");
  Node *n = calloc(1, sizeof *n);
  n->at = to->at + at, n->from = from->at + start, n->bytes = bytes;
  hold(self->of, from), hold(self->of, to);
  add(self->of, n);
}

void driver_work(MTLCommandBuffer *b, void (*run)(void *work), void *work, MTLBuffer *const *uses, int count) {
  if (b->status) invalid(b, "encoding after a commit");
  if (b->encoder) invalid(b, "a library encodes beside an encoder");
  Node *n = calloc(1, sizeof *n);
  n->run = run, n->work = work;
  for (int i = 0; i < count; i++) hold(b, uses[i]);
  add(b, n);
}

static void fail(MTLCommandBuffer *b, u64 code, const char *text) {
  if (b->error) return;
  b->status = 5;
  b->error = driver_error(code, "MTLCommandBufferErrorDomain", text);
}
static void commit(MTLCommandBuffer *self) {
  if (self->status) driver_die("a command buffer is committed twice");
  if (self->encoder) driver_die("a command buffer is committed with an encoder that did not end");
  self->status = 4;
  driver_clock_s += 20e-6;
  self->start = driver_clock_s;
  int code = driver_fault_of("commit");
  if (code == 11) driver_removed = 1;
  if (driver_removed) fail(self, 11, "Device was removed");
  else if (code) fail(self, code, code == 8 ? "Insufficient Memory" : "Caused GPU Address Fault Error");
  else if (self->invalid[0]) fail(self, 9, self->invalid);
  for (Node *n = self->first; n && !self->error; n = n->next) {
    driver_clock_s += n->kernel || n->run ? 10e-6 : 5e-6;
    if (n->run) n->run(n->work);
    else if (n->from) memmove(n->at, n->from, n->bytes);
    else if (!n->kernel) memset(n->at, n->value, n->bytes);
    const char *fault = n->kernel ? emu_launch(&(EmuTask){n->kernel, n->launch, n->params}, 1) : NULL;
    if (fault) fail(self, 3, fault);
  }
  self->end = driver_clock_s;
}
static void wait(MTLCommandBuffer *self) {
  if (!self->status) driver_die("waiting for a command buffer that was not committed");
  self->over = 1;
}
static u64 status(MTLCommandBuffer *self) { return self->over || !self->status ? self->status : 2; }
static double gpu_start(MTLCommandBuffer *self) { return self->over && self->first ? self->start : 0; }
static double gpu_end(MTLCommandBuffer *self) { return self->over && self->first ? self->end : 0; }
static void *error_of(MTLCommandBuffer *self) { return self->error; }
static void drop_buffer(MTLCommandBuffer *b) {
  for (Node *n = b->first, *next; n; n = next) {
    next = n->next;
    for (int i = 0; i < MAX_ARGS; i++) free(n->params[i]);
    free(n->work);
    free(n);
  }
  for (int i = 0; i < b->holds; i++) driver_release(b->held[i]);
  driver_release(b->error);
}
static void *command_buffer(Object *self) { (void)self; return driver_auto(driver_new(&class_MTLCommandBuffer)); }
static const Method methods_MTLCommandQueue[] = {{"commandBuffer", command_buffer}, {NULL, NULL}};
CLASS(MTLCommandQueue, Object, NULL);
static const Method methods_MTLCommandBuffer[] = {
    {"computeCommandEncoder", compute_encoder}, {"blitCommandEncoder", blit_encoder}, {"commit", commit},
    {"waitUntilCompleted", wait}, {"status", status}, {"GPUStartTime", gpu_start}, {"GPUEndTime", gpu_end},
    {"error", error_of}, {NULL, NULL}};
CLASS(MTLCommandBuffer, MTLCommandBuffer, drop_buffer);
static const Method methods_MTLComputeCommandEncoder[] = {
    {"setComputePipelineState:", set_pipeline}, {"setBuffer:offset:atIndex:", set_buffer},
    {"setBytes:length:atIndex:", set_bytes}, {"setThreadgroupMemoryLength:atIndex:", set_room},
    {"dispatchThreadgroups:threadsPerThreadgroup:", dispatch}, {"endEncoding", end_encoding}, {NULL, NULL}};
CLASS(MTLComputeCommandEncoder, Encoder, drop_encoder);
static const Method methods_MTLBlitCommandEncoder[] = {
    {"fillBuffer:range:value:", fill}, {"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", copy}, {"endEncoding", end_encoding}, {NULL, NULL}};
CLASS(MTLBlitCommandEncoder, Encoder, drop_encoder);
