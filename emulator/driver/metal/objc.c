// An Objective-C runtime on the CPU, as far as the Metal backend calls it: classes, selectors,
// messages by name, reference counts, pools. A message to what was given back ends the process.
#define _GNU_SOURCE
#include "metal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

double driver_clock_s;
int driver_removed;
static int living;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void driver_die(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("emulated Objective-C runtime: ", stderr);
  vfprintf(stderr, format, list);
  fputs("\n", stderr);
  abort();
}

int driver_living(void) { return living; }
void driver_reset(void) {
  if (driver_forget) driver_forget();
  driver_clock_s = 1000, driver_removed = 0;
  emu_seed(1);
}
void driver_seed(u64 seed) { emu_seed(seed); }
int driver_fault_of(const char *call) { return driver_fault ? driver_fault(call) : 0; }

// A freed object keeps its memory, so that a message to it is detected.
static const Class class_freed = {NULL, "an object that was given back", NULL, 0, NULL};
void *driver_new(const Class *c) {
  Object *o = calloc(1, c->bytes);
  o->isa = c, o->count = 1;
  pthread_mutex_lock(&lock);
  living++;
  pthread_mutex_unlock(&lock);
  return o;
}
void *driver_retain(void *object) {
  if (object) ((Object *)object)->count++;
  return object;
}
void driver_release(void *object) {
  Object *o = object;
  if (!o || o->isa == &class_Class || --o->count) return;
  if (o->isa->drop) o->isa->drop(o);
  o->isa = &class_freed;
  pthread_mutex_lock(&lock);
  living--;
  pthread_mutex_unlock(&lock);
}

static __thread Object *pooled[4096];
static __thread int pool_size;
void *driver_auto(void *object) {
  if (!object) return NULL;
  if (pool_size == 4096) driver_die("more than 4096 objects in a pool that nobody empties");
  return pooled[pool_size++] = object;
}
u64 objc_autoreleasePoolPush(void) { return pool_size + 1; }
void objc_autoreleasePoolPop(u64 mark) {
  while (pool_size > (int)mark - 1) driver_release(pooled[--pool_size]);
}

static const Class *const classes[] = {&class_NSString, &class_NSProcessInfo, &class_MTLCompileOptions,
                                       &class_MPSMatrixDescriptor, &class_MPSMatrix, &class_MPSMatrixMultiplication};
const Class *objc_getClass(const char *name) {
  for (unsigned i = 0; i < sizeof classes / sizeof *classes; i++)
    if (!strcmp(classes[i]->name, name)) return classes[i];
  return NULL;
}
const char *sel_registerName(const char *name) {
  static char *names[200];
  pthread_mutex_lock(&lock);
  int i = 0;
  while (names[i] && strcmp(names[i], name)) i++;
  if (!names[i]) names[i] = strdup(name);
  pthread_mutex_unlock(&lock);
  return names[i];
}

static void *imp_of(const Class *c, const char *selector) {
  for (const Method *m = c->methods; m && m->selector; m++)
    if (!strcmp(m->selector, selector)) return m->imp;
  return NULL;
}
static void *retain(void *self, const char *s) { (void)s; return driver_retain(self); }
static void release(void *self, const char *s) { (void)s; driver_release(self); }
static char responds(Object *self, const char *s, const char *selector) { (void)s; return imp_of(self->isa, selector) != NULL; }
static void *create(const Class *self, const char *s) { (void)s; return driver_new(self); }
static void *init(void *self, const char *s) { (void)s; return self; }
static const Method of_all[] = {{"retain", retain}, {"release", release}, {"init", init},
                                {"respondsToSelector:", responds}, {NULL, NULL}};
static const Class all = {NULL, "NSObject", of_all, 0, NULL};

void *process_info(void), *driver_matrix_descriptor(void *, const char *, u64, u64, u64, unsigned);
static const Method methods_Class[] = {{"new", create}, {"alloc", create}, {"processInfo", process_info},
                                       {"matrixDescriptorWithRows:columns:rowBytes:dataType:", driver_matrix_descriptor}, {NULL, NULL}};
const Class class_Class = {NULL, "Class", methods_Class, sizeof(Class), NULL};

// 0 in every register that a result may be in.
void driver_nil(void);
void *driver_lookup(Object *self, const char *selector) {
  if (!self) return driver_nil;
  if (self->isa == &class_freed) driver_die("-%s to %s", selector, class_freed.name);
  pthread_mutex_lock(&lock);
  if (driver_called) driver_called(selector);
  // What runs at a commit has a fault of its own.
  int failed = strcmp(selector, "commit") && driver_fault_of(selector);
  pthread_mutex_unlock(&lock);
  if (failed) return driver_nil;
  void *imp = imp_of(self->isa, selector);
  if (!imp) imp = imp_of(&all, selector);
  if (!imp) driver_die("-[%s %s]: unrecognized selector", self->isa->name, selector);
  return imp;
}

// A message keeps every argument where it is, whatever its signature, and jumps to the method.
#if defined(__x86_64__)
asm(".globl objc_msgSend\n.type objc_msgSend,@function\nobjc_msgSend:\n"
    "push %rbp\nmov %rsp,%rbp\nsub $176,%rsp\n"
    "mov %rdi,(%rsp)\nmov %rsi,8(%rsp)\nmov %rdx,16(%rsp)\nmov %rcx,24(%rsp)\nmov %r8,32(%rsp)\nmov %r9,40(%rsp)\n"
    "movups %xmm0,48(%rsp)\nmovups %xmm1,64(%rsp)\nmovups %xmm2,80(%rsp)\nmovups %xmm3,96(%rsp)\n"
    "call driver_lookup@PLT\nmov %rax,%r11\n"
    "mov (%rsp),%rdi\nmov 8(%rsp),%rsi\nmov 16(%rsp),%rdx\nmov 24(%rsp),%rcx\nmov 32(%rsp),%r8\nmov 40(%rsp),%r9\n"
    "movups 48(%rsp),%xmm0\nmovups 64(%rsp),%xmm1\nmovups 80(%rsp),%xmm2\nmovups 96(%rsp),%xmm3\n"
    "leave\njmp *%r11\n"
    ".globl driver_nil\ndriver_nil:\nxor %eax,%eax\nxorps %xmm0,%xmm0\nret\n");
#elif defined(__aarch64__)
asm(".globl objc_msgSend\nobjc_msgSend:\n"
    "stp x29,x30,[sp,#-176]!\nstp x0,x1,[sp,#16]\nstp x2,x3,[sp,#32]\nstp x4,x5,[sp,#48]\nstp x6,x7,[sp,#64]\n"
    "str x8,[sp,#80]\nstp q0,q1,[sp,#96]\nstp q2,q3,[sp,#128]\nbl driver_lookup\nmov x16,x0\n"
    "ldp x0,x1,[sp,#16]\nldp x2,x3,[sp,#32]\nldp x4,x5,[sp,#48]\nldp x6,x7,[sp,#64]\nldr x8,[sp,#80]\n"
    "ldp q0,q1,[sp,#96]\nldp q2,q3,[sp,#128]\nldp x29,x30,[sp],#176\nbr x16\n"
    ".globl driver_nil\ndriver_nil:\nmov x0,#0\nfmov d0,xzr\nret\n");
#endif

// The classes of Foundation that the Metal backend uses.

static void *from_utf8(NSString *self, const char *s, const char *text) { (void)s; self->text = strdup(text); return self; }
static const char *utf8(NSString *self) { return self->text; }
static void drop_string(NSString *s) { free(s->text); }
static const Method methods_NSString[] = {{"initWithUTF8String:", from_utf8}, {"UTF8String", utf8}, {NULL, NULL}};
CLASS(NSString, NSString, drop_string);
void *driver_string(const char *text) {
  NSString *s = driver_new(&class_NSString);
  s->text = strdup(text);
  return driver_auto(s);
}

static u64 array_count(NSArray *self) { return self->count; }
static void *object_at(NSArray *self, const char *s, u64 i) {
  (void)s;
  if (i >= (u64)self->count) driver_die("-[NSArray objectAtIndex:]: %llu of %d", (unsigned long long)i, self->count);
  return self->at[i];
}
static void drop_array(NSArray *a) {
  for (int i = 0; i < a->count; i++) driver_release(a->at[i]);
}
static const Method methods_NSArray[] = {{"count", array_count}, {"objectAtIndex:", object_at}, {NULL, NULL}};
CLASS(NSArray, NSArray, drop_array);

static u64 error_code(NSError *self) { return self->code; }
static void *error_domain(NSError *self) { return driver_string(self->domain); }
static void *error_text(NSError *self) { return driver_string(self->text); }
static void drop_error(NSError *e) { free(e->domain), free(e->text); }
static const Method methods_NSError[] = {
    {"code", error_code}, {"domain", error_domain}, {"localizedDescription", error_text}, {NULL, NULL}};
CLASS(NSError, NSError, drop_error);
void *driver_error(u64 code, const char *domain, const char *text) {
  NSError *e = driver_new(&class_NSError);
  e->code = code, e->domain = strdup(domain), e->text = strdup(text);
  return e;
}

static void *version(Object *self) { (void)self; return driver_string("Version 15.1 (Build 24B83)"); }
static const Method methods_NSProcessInfo[] = {{"operatingSystemVersionString", version}, {NULL, NULL}};
CLASS(NSProcessInfo, Object, NULL);
void *process_info(void) { return driver_auto(driver_new(&class_NSProcessInfo)); }
