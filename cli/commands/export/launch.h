/* Loads the kernels that mnkbench exported and launches them: C99 or C++, and no library but the
   CUDA driver, which is opened here. Pointers, streams and contexts are those of cuda.h and of the
   CUDA runtime; no header of theirs is needed. */
#ifndef MNK_LAUNCH_H
#define MNK_LAUNCH_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MNK_LAUNCH_VERSION 1

/* The driver's library. */
#ifndef MNK_CUDA_LIBRARY
#define MNK_CUDA_LIBRARY "libcuda.so.1"
#endif

/* CUstream and cudaStream_t. */
struct CUstream_st;
typedef struct CUstream_st *mnk_stream;

/* MNK_OK, another of these, or MNK_DRIVER_ERROR plus the driver's CUresult. */
typedef int mnk_status;
enum {
  MNK_OK = 0,
  MNK_UNKNOWN_SHAPE = 1,      /* no exported kernel has this shape */
  MNK_MISALIGNED = 2,         /* an operand is not at a multiple of 16 bytes, or the workspace of 256 */
  MNK_NULL_POINTER = 3,       /* an operand of the shape, the context or the arguments are missing */
  MNK_UNEXPECTED_POINTER = 4, /* an operand that the shape does not have */
  MNK_SMALL_WORKSPACE = 5,    /* less than the size query says */
  MNK_OTHER_DEVICE = 6,       /* no context, one of another device, or of another architecture */
  MNK_OTHER_FILE = 7,         /* the file of kernels is missing, damaged or not of this header */
  MNK_NO_DRIVER = 8,          /* no CUDA driver, or one that is too old */
  MNK_NO_MEMORY = 9,          /* malloc failed */
  MNK_BAD_GROUP = 10,         /* K, or N of weights [K, N], is no multiple of the group */
  MNK_DRIVER_ERROR = 1000
};

static inline const char *mnk_status_text(mnk_status status) {
  static const char *const texts[] = {
      "no error",
      "no exported kernel has this shape",
      "an operand is not at a multiple of 16 bytes, or the workspace not of 256",
      "an operand of the shape, the context or the arguments are missing",
      "the shape has no such operand",
      "the workspace is smaller than the size query says",
      "no current context, one of another device, or of another architecture",
      "the file of kernels is missing, damaged or not of this header",
      "no CUDA driver, or one that is too old",
      "out of memory of the host",
      "K, or N of weights [K, N], is no multiple of the group",
  };
  if (status >= MNK_DRIVER_ERROR) return "the CUDA driver failed: its CUresult is the status less 1000";
  return status >= 0 && status < (int)(sizeof texts / sizeof *texts) ? texts[status] : "unknown status";
}

/* base + slope * M */
typedef struct {
  int64_t base, slope;
} mnk_number;

enum { MNK_MOST_ARGS = 32, MNK_MOST_MAPS = 6, MNK_RANK = 5 };
enum { MNK_INTEGER32, MNK_INTEGER64, MNK_POINTER, MNK_MAP };

/* An argument: `value` is a number, or bytes beyond the start of `memory`. Operands are numbered from
   0; -1 is the part of the workspace that any launch may overwrite, -2 the part that is kept. */
typedef struct {
  int16_t kind, memory;
  int32_t map;
  mnk_number value;
} mnk_arg;

/* The parameters of cuTensorMapEncodeTiled but for the address. */
typedef struct {
  uint32_t type, rank, interleave, swizzle, promotion, fill;
  mnk_number dims[MNK_RANK], strides[MNK_RANK];
  uint32_t box[MNK_RANK], steps[MNK_RANK];
} mnk_map;

/* A launch. */
typedef struct {
  int32_t function, first_arg, args;
  uint32_t block[3], shared, cluster, cooperative, overlap;
  mnk_number grid[3];
} mnk_step;

/* The launches for M from `from` to `to`; `kept` where they use that part of the workspace. */
typedef struct {
  int64_t from, to;
  int32_t first_step, steps, kept;
  mnk_number scratch;
} mnk_row;

/* The rows of one value of every axis but M. An axis is one of two values: an argument may be left at
   its default. Operand i exists where bit i of `operands` is set. */
typedef struct {
  int32_t first_row, rows;
  uint32_t operands;
  const int64_t (*key)[2];
} mnk_table;

typedef struct {
  uint64_t offset;
} mnk_binary;

typedef struct {
  int32_t binary;
  uint32_t shared, wide;
  const char *name;
} mnk_function;

/* A part of the workspace with a value of each byte before its first use. */
typedef struct {
  uint64_t offset, bytes;
  int32_t value;
} mnk_region;

/* All of an export. */
typedef struct {
  uint64_t hash, file_bytes, kept_bytes;
  int32_t major, minor, minor_is_least;
  int32_t binary_count, function_count, table_count, axis_count, operand_count, kept_count;
  const mnk_binary *binaries;
  const mnk_function *functions;
  const mnk_map *maps;
  const mnk_arg *args;
  const mnk_step *steps;
  const mnk_row *rows;
  const mnk_table *tables;
  const mnk_region *kept;
} mnk_export;

typedef struct {
  uint32_t id, pad;
  uint32_t value[16];
} mnk_attribute;

/* CUlaunchConfig */
typedef struct {
  uint32_t grid[3], block[3], shared;
  mnk_stream stream;
  mnk_attribute *attributes;
  uint32_t count;
} mnk_config;

/* Functions of cuda.h. */
typedef struct {
  int (*context)(void **);
  int (*device)(int *);
  int (*attribute)(int *, int, int);
  int (*load)(void **, const void *);
  int (*unload)(void *);
  int (*function)(void **, void *, const char *);
  int (*set)(void *, int, int);
  int (*fill)(uint64_t, unsigned char, size_t, mnk_stream);
  int (*launch)(const mnk_config *, void *, void **, void **);
  int (*encode)(void *, uint32_t, uint32_t, uint64_t, const uint64_t *, const uint64_t *, const uint32_t *,
                const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t);
} mnk_driver;

/* The kernels of one export, loaded into one CUDA context. It does not change after it was opened, so
   that threads may share it. */
typedef struct {
  mnk_driver call;
  uint64_t hash;
  void *context;
  void **modules, **functions;
  int module_count;
} mnk_context;

static inline mnk_status mnk_driver_status(int result) { return result ? MNK_DRIVER_ERROR + result : MNK_OK; }

static inline int mnk_symbol(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

static inline mnk_status mnk_driver_open(mnk_driver *to) {
  void *cuda = dlopen(MNK_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!cuda) return MNK_NO_DRIVER;
  const int found = mnk_symbol(cuda, "cuCtxGetCurrent", &to->context) &
                    mnk_symbol(cuda, "cuCtxGetDevice", &to->device) &
                    mnk_symbol(cuda, "cuDeviceGetAttribute", &to->attribute) &
                    mnk_symbol(cuda, "cuModuleLoadData", &to->load) &
                    mnk_symbol(cuda, "cuModuleUnload", &to->unload) &
                    mnk_symbol(cuda, "cuModuleGetFunction", &to->function) &
                    mnk_symbol(cuda, "cuFuncSetAttribute", &to->set) &
                    mnk_symbol(cuda, "cuMemsetD8Async", &to->fill) &
                    mnk_symbol(cuda, "cuLaunchKernelEx", &to->launch) &
                    mnk_symbol(cuda, "cuTensorMapEncodeTiled", &to->encode);
  return found ? MNK_OK : MNK_NO_DRIVER;
}

static inline uint64_t mnk_hash(const unsigned char *bytes, uint64_t count) {
  uint64_t hash = 14695981039346656037ull;
  for (uint64_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 1099511628211ull;
  return hash;
}

static inline void mnk_close(mnk_context *context) {
  if (!context) return;
  for (int i = 0; context->modules && i < context->module_count; i++) context->call.unload(context->modules[i]);
  free(context->modules);
  free(context->functions);
  free(context);
}

static inline mnk_status mnk_load(const mnk_export *all, mnk_context *to, const unsigned char *image) {
  enum { MAJOR = 75, MINOR = 76, DYNAMIC_SHARED = 8, NON_PORTABLE_CLUSTER = 14, FREE_SHARED = 48 * 1024 };
  int device = 0, major = 0, minor = 0, result;
  mnk_status status = mnk_driver_open(&to->call);
  if (status) return status;
  if (to->call.context(&to->context) || !to->context) return MNK_OTHER_DEVICE;
  if ((result = to->call.device(&device)) || (result = to->call.attribute(&major, MAJOR, device)) ||
      (result = to->call.attribute(&minor, MINOR, device)))
    return mnk_driver_status(result);
  if (major != all->major || (all->minor_is_least ? minor < all->minor : minor != all->minor)) return MNK_OTHER_DEVICE;
  to->hash = all->hash;
  to->modules = (void **)calloc((size_t)all->binary_count + 1, sizeof(void *));
  to->functions = (void **)calloc((size_t)all->function_count + 1, sizeof(void *));
  if (!to->modules || !to->functions) return MNK_NO_MEMORY;
  for (int i = 0; i < all->binary_count; i++) {
    if ((result = to->call.load(&to->modules[i], image + all->binaries[i].offset))) return mnk_driver_status(result);
    to->module_count++;
  }
  for (int i = 0; i < all->function_count; i++) {
    const mnk_function *f = &all->functions[i];
    if ((result = to->call.function(&to->functions[i], to->modules[f->binary], f->name)) ||
        (f->shared > FREE_SHARED && (result = to->call.set(to->functions[i], DYNAMIC_SHARED, (int)f->shared))) ||
        (f->wide && (result = to->call.set(to->functions[i], NON_PORTABLE_CLUSTER, 1))))
      return mnk_driver_status(result);
  }
  return MNK_OK;
}

/* Loads the kernels of `all`, whose file is the `bytes` bytes at `image`, into the current context. */
static inline mnk_status mnk_open_memory(const mnk_export *all, mnk_context **to, const void *image, size_t bytes) {
  if (!to) return MNK_NULL_POINTER;
  *to = NULL;
  if (!image) return MNK_NULL_POINTER;
  const unsigned char *data = (const unsigned char *)image;
  if (bytes != all->file_bytes || mnk_hash(data, bytes) != all->hash) return MNK_OTHER_FILE;
  mnk_context *context = (mnk_context *)calloc(1, sizeof *context);
  if (!context) return MNK_NO_MEMORY;
  const mnk_status status = mnk_load(all, context, data);
  if (status) mnk_close(context);
  else *to = context;
  return status;
}

static inline mnk_status mnk_open_file(const mnk_export *all, mnk_context **to, const char *path) {
  if (!to) return MNK_NULL_POINTER;
  *to = NULL;
  if (!path) return MNK_NULL_POINTER;
  FILE *file = fopen(path, "rb");
  if (!file) return MNK_OTHER_FILE;
  const size_t bytes = (size_t)all->file_bytes;
  unsigned char *image = (unsigned char *)malloc(bytes + 1);
  /* One byte more is asked for: a longer file is another. */
  const size_t read = image ? fread(image, 1, bytes + 1, file) : 0;
  fclose(file);
  const mnk_status status = image ? mnk_open_memory(all, to, image, read) : MNK_NO_MEMORY;
  free(image);
  return status;
}

/* The table of the axes at `axes`; NULL where there is none. */
static inline const mnk_table *mnk_find_table(const mnk_export *all, const int64_t *axes) {
  for (int i = 0; i < all->table_count; i++) {
    const mnk_table *table = &all->tables[i];
    int same = 0;
    while (same < all->axis_count && (axes[same] == table->key[same][0] || axes[same] == table->key[same][1])) same++;
    if (same == all->axis_count) return table;
  }
  return NULL;
}

static inline const mnk_row *mnk_find_row(const mnk_export *all, const mnk_table *table, int64_t m) {
  const mnk_row *rows = all->rows + table->first_row;
  int low = 0, high = table->rows;
  while (low < high) {
    const int at = low + (high - low) / 2;
    if (rows[at].to < m) low = at + 1;
    else high = at;
  }
  return low < table->rows && rows[low].from <= m ? &rows[low] : NULL;
}

static inline int64_t mnk_at(mnk_number number, int64_t m) { return number.base + number.slope * m; }

static inline size_t mnk_workspace_bytes(const mnk_export *all, const mnk_row *row, int64_t m) {
  const uint64_t scratch = (uint64_t)mnk_at(row->scratch, m);
  return row->kept || scratch ? (size_t)(all->kept_bytes + scratch) : 0;
}

/* Gives the kept part of a workspace the values that kernels expect and leave there. */
static inline mnk_status mnk_fill_workspace(const mnk_export *all, const mnk_context *context, void *workspace,
                                            size_t bytes, mnk_stream stream) {
  if (!context || context->hash != all->hash) return MNK_NULL_POINTER;
  if (all->kept_bytes == 0) return MNK_OK;
  if (!workspace) return MNK_NULL_POINTER;
  if ((uintptr_t)workspace % 256) return MNK_MISALIGNED;
  if (bytes < all->kept_bytes) return MNK_SMALL_WORKSPACE;
  for (int i = 0; i < all->kept_count; i++) {
    const mnk_region *part = &all->kept[i];
    const int result = context->call.fill((uint64_t)(uintptr_t)workspace + part->offset, (unsigned char)part->value,
                                          (size_t)part->bytes, stream);
    if (result) return mnk_driver_status(result);
  }
  return MNK_OK;
}

/* A launch with its arguments. It holds pointers to itself: do not copy it. */
typedef struct {
  mnk_config config;
  mnk_attribute attributes[3];
  void *function;
  void *params[MNK_MOST_ARGS];
  uint64_t values[MNK_MOST_ARGS];
  unsigned char maps[(MNK_MOST_MAPS + 1) * 128];
} mnk_launch;

static inline mnk_status mnk_pack(const mnk_export *all, const mnk_context *context, const mnk_step *step, int64_t m,
                                  const void *const *operands, void *workspace, mnk_stream stream, mnk_launch *to) {
  enum { COOPERATIVE = 2, CLUSTER = 4, PROGRAMMATIC_SERIALIZATION = 6 };
  unsigned char *map = to->maps + (128 - (uintptr_t)to->maps % 128) % 128;
  for (int i = 0; i < step->args; i++) {
    const mnk_arg *arg = &all->args[step->first_arg + i];
    uint64_t value = (uint64_t)mnk_at(arg->value, m);
    if (arg->kind >= MNK_POINTER) {
      const uint64_t start = arg->memory >= 0 ? (uint64_t)(uintptr_t)operands[arg->memory]
                                              : (uint64_t)(uintptr_t)workspace + (arg->memory == -1 ? all->kept_bytes : 0);
      value += start;
    }
    to->values[i] = value;
    to->params[i] = &to->values[i];
    if (arg->kind != MNK_MAP) continue;
    const mnk_map *box = &all->maps[arg->map];
    uint64_t dims[MNK_RANK], strides[MNK_RANK];
    for (uint32_t d = 0; d < box->rank; d++) {
      dims[d] = (uint64_t)mnk_at(box->dims[d], m);
      strides[d] = (uint64_t)mnk_at(box->strides[d], m);
    }
    const int result = context->call.encode(map, box->type, box->rank, value, dims, strides, box->box, box->steps,
                                            box->interleave, box->swizzle, box->promotion, box->fill);
    if (result) return mnk_driver_status(result);
    to->params[i] = map;
    map += 128;
  }
  mnk_attribute *attribute = to->attributes;
  memset(attribute, 0, sizeof to->attributes);
  if (step->cluster > 1) {
    attribute->id = CLUSTER;
    attribute->value[0] = step->cluster;
    attribute->value[1] = attribute->value[2] = 1;
    attribute++;
  }
  if (step->cooperative) attribute->id = COOPERATIVE, attribute->value[0] = 1, attribute++;
  if (step->overlap) attribute->id = PROGRAMMATIC_SERIALIZATION, attribute->value[0] = 1, attribute++;
  for (int d = 0; d < 3; d++) {
    to->config.grid[d] = (uint32_t)mnk_at(step->grid[d], m);
    to->config.block[d] = step->block[d];
  }
  to->config.shared = step->shared;
  to->config.stream = stream;
  to->config.attributes = to->attributes;
  to->config.count = (uint32_t)(attribute - to->attributes);
  to->function = context->functions[step->function];
  return MNK_OK;
}

static inline mnk_status mnk_fire(const mnk_context *context, mnk_launch *launch) {
  return mnk_driver_status(context->call.launch(&launch->config, launch->function, launch->params, NULL));
}

/* Finds the row of `axes` and M and checks everything that can be checked without the device. */
static inline mnk_status mnk_check(const mnk_export *all, const mnk_context *context, const int64_t *axes, int64_t m,
                                   const void *const *operands, const void *workspace, size_t bytes,
                                   const mnk_row **to) {
  void *current = NULL;
  if (!context || context->hash != all->hash) return MNK_NULL_POINTER;
  const mnk_table *table = mnk_find_table(all, axes);
  const mnk_row *row = table ? mnk_find_row(all, table, m) : NULL;
  if (!row) return MNK_UNKNOWN_SHAPE;
  uintptr_t together = 0;
  for (int i = 0; i < all->operand_count; i++) {
    const int wanted = (int)(table->operands >> i & 1u);
    if (wanted != (operands[i] != NULL)) return wanted ? MNK_NULL_POINTER : MNK_UNEXPECTED_POINTER;
    together |= (uintptr_t)operands[i];
  }
  if (together % 16 || (uintptr_t)workspace % 256) return MNK_MISALIGNED;
  const size_t needed = mnk_workspace_bytes(all, row, m);
  if (needed > 0 && (!workspace || bytes < needed)) return MNK_SMALL_WORKSPACE;
  if (context->call.context(&current) || current != context->context) return MNK_OTHER_DEVICE;
  *to = row;
  return MNK_OK;
}

static inline mnk_status mnk_run(const mnk_export *all, const mnk_context *context, const int64_t *axes, int64_t m,
                                 const void *const *operands, void *workspace, size_t bytes, mnk_stream stream) {
  const mnk_row *row = NULL;
  mnk_status status = mnk_check(all, context, axes, m, operands, workspace, bytes, &row);
  for (int i = 0; !status && i < row->steps; i++) {
    mnk_launch launch;
    status = mnk_pack(all, context, &all->steps[row->first_step + i], m, operands, workspace, stream, &launch);
    if (!status) status = mnk_fire(context, &launch);
  }
  return status;
}

#endif
