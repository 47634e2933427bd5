// A CUDA driver whose functions do nothing, to time what is done before them.
#include <stdint.h>
#include <stdlib.h>

#define NOTHING(name) int name(void) { return 0; }

static void *current;
int cuCtxSetCurrent(void *context) { return current = context, 0; }
int cuCtxGetCurrent(void **to) { return *to = current, 0; }
int cuCtxGetDevice(int *to) { return *to = 0, 0; }
int cuDeviceGet(int *to, int index) { return *to = index, 0; }
int cuDevicePrimaryCtxRetain(void **to, int device) { return *to = (char *)77 + device, 0; }
int cuDeviceGetAttribute(int *to, int which, int device) { return *to = which == 75 && device == 0 ? 9 : 0, 0; }
int cuMemAlloc_v2(uint64_t *to, size_t bytes) {
  return *to = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256), 0;
}
int cuMemFree_v2(uint64_t at) { return free((void *)(uintptr_t)at), 0; }
int cuStreamCreate(void **to, unsigned flags) { return *to = (char *)8 + flags, 0; }
int cuModuleLoadData(void **to, const void *image) { return *to = (void *)image, 0; }
int cuModuleGetFunction(void **to, void *module, const char *name) { return *to = module, name == NULL; }
NOTHING(cuInit)
NOTHING(cuMemcpyHtoDAsync_v2)
NOTHING(cuMemcpyDtoHAsync_v2)
NOTHING(cuMemsetD8Async)
NOTHING(cuStreamSynchronize)
NOTHING(cuStreamBeginCapture_v2)
NOTHING(cuStreamEndCapture)
NOTHING(cuGraphInstantiateWithFlags)
NOTHING(cuGraphLaunch)
NOTHING(cuGraphDestroy)
NOTHING(cuGraphExecDestroy)
NOTHING(cuModuleUnload)
NOTHING(cuFuncSetAttribute)
NOTHING(cuLaunchKernelEx)
NOTHING(cuTensorMapEncodeTiled)
