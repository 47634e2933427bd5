// Calls an export, of any operation, once on a device: PREFIX is that of its header, EXPORT its path.
//
//   run KERNELS M AXES... OPERANDS...
//
// AXES are numbers. Operand i is `-` where there is none, `in:FILE`, or `out:FILE:BYTES`, which is written.
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include EXPORT

#define JOIN(a, b) a##b
#define NAMED(a, b) JOIN(a, b)
#define ALL NAMED(PREFIX, _export)

static void demand(int result, const char *what) {
  if (!result) return;
  fprintf(stderr, "%s: %d (%s)\n", what, result, mnk_status_text(result));
  exit(2);
}

int main(int count, char **words) {
  int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*enter)(void *);
  int (*alloc)(uint64_t *, size_t), (*upload)(uint64_t, const void *, size_t, mnk_stream);
  int (*download)(void *, uint64_t, size_t, mnk_stream), (*create)(mnk_stream *, unsigned), (*wait)(mnk_stream);
  int (*fill)(uint64_t, unsigned char, size_t, mnk_stream);
  void *cuda = dlopen(MNK_CUDA_LIBRARY, RTLD_NOW | RTLD_GLOBAL), *current;
  if (!cuda) return fprintf(stderr, "%s\n", dlerror()), 2;
  demand(!(mnk_symbol(cuda, "cuInit", &init) & mnk_symbol(cuda, "cuDeviceGet", &get) &
           mnk_symbol(cuda, "cuDevicePrimaryCtxRetain", &retain) & mnk_symbol(cuda, "cuCtxSetCurrent", &enter) &
           mnk_symbol(cuda, "cuMemAlloc_v2", &alloc) & mnk_symbol(cuda, "cuMemcpyHtoDAsync_v2", &upload) &
           mnk_symbol(cuda, "cuMemcpyDtoHAsync_v2", &download) & mnk_symbol(cuda, "cuStreamCreate", &create) &
           mnk_symbol(cuda, "cuStreamSynchronize", &wait) & mnk_symbol(cuda, "cuMemsetD8Async", &fill)),
         "symbols");
  int device;
  mnk_stream stream;
  demand(init(0), "cuInit");
  demand(get(&device, 0), "cuDeviceGet");
  demand(retain(&current, device), "cuDevicePrimaryCtxRetain");
  demand(enter(current), "cuCtxSetCurrent");
  demand(create(&stream, 1), "cuStreamCreate");
  mnk_context *context;
  demand(mnk_open_file(&ALL, &context, words[1]), "open");
  if (count != 3 + ALL.axis_count + ALL.operand_count) return fprintf(stderr, "usage\n"), 2;
  int64_t axes[32];
  const int64_t m = atoll(words[2]);
  for (int i = 0; i < ALL.axis_count; i++) axes[i] = atoll(words[3 + i]);
  const void *operands[16] = {0};
  size_t sizes[16] = {0};
  for (int i = 0; i < ALL.operand_count; i++) {
    char *word = words[3 + ALL.axis_count + i];
    if (!strcmp(word, "-")) continue;
    const int is_out = !strncmp(word, "out:", 4);
    char *path = word + (is_out ? 4 : 3), *bytes = is_out ? strrchr(word, ':') : NULL;
    unsigned char *data = NULL;
    if (bytes) {
      *bytes++ = 0;
      sizes[i] = (size_t)atoll(bytes);
    } else {
      FILE *file = fopen(path, "rb");
      demand(!file, path);
      fseek(file, 0, SEEK_END);
      sizes[i] = (size_t)ftell(file);
      rewind(file);
      data = (unsigned char *)malloc(sizes[i]);
      demand(fread(data, 1, sizes[i], file) != sizes[i], path);
      fclose(file);
    }
    uint64_t at;
    demand(alloc(&at, sizes[i]), "cuMemAlloc");
    demand(data ? upload(at, data, sizes[i], stream) : fill(at, 0xff, sizes[i], stream), "an operand");
    demand(wait(stream), "an operand");
    free(data);
    operands[i] = (const void *)(uintptr_t)at;
  }
  const mnk_table *table = mnk_find_table(&ALL, axes);
  const mnk_row *row = table ? mnk_find_row(&ALL, table, m) : NULL;
  uint64_t workspace = 0;
  const size_t bytes = row ? mnk_workspace_bytes(&ALL, row, m) : 0;
  if (bytes) {
    demand(alloc(&workspace, bytes), "cuMemAlloc");
    demand(fill(workspace, 0x5a, bytes, stream), "the workspace");
    demand(mnk_fill_workspace(&ALL, context, (void *)(uintptr_t)workspace, bytes, stream), "the workspace");
  }
  for (int run = 0; run < 2; run++)
    demand(mnk_run(&ALL, context, axes, m, operands, (void *)(uintptr_t)workspace, bytes, stream), "the call");
  demand(wait(stream), "the kernels");
  for (int i = 0; i < ALL.operand_count; i++) {
    char *word = words[3 + ALL.axis_count + i];
    if (strncmp(word, "out:", 4)) continue;
    unsigned char *data = (unsigned char *)malloc(sizes[i]);
    demand(download(data, (uint64_t)(uintptr_t)operands[i], sizes[i], stream), "download");
    demand(wait(stream), "download");
    FILE *file = fopen(word + 4, "wb");
    demand(!file || fwrite(data, 1, sizes[i], file) != sizes[i] || fclose(file), word + 4);
    free(data);
  }
  mnk_close(context);
  return 0;
}
