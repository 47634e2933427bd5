// HIP's names and numbers for what gpu/ is written in CUDA's.
#pragma once
#ifdef HIP
#define cuInit hipInit
#define cuDriverGetVersion hipDriverGetVersion
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceGetUuid_v2 hipDeviceGetUuid
#define cuDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cuDeviceGetAttribute hipDeviceGetAttribute
#define cuDevicePrimaryCtxRetain hipDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRelease_v2 hipDevicePrimaryCtxRelease
#define cuCtxSetCurrent hipCtxSetCurrent
#define cuMemGetInfo_v2 hipMemGetInfo
#define cuMemAlloc_v2 hipMalloc
#define cuMemFree_v2 hipFree
#define cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync
#define cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync
#define cuMemcpyDtoDAsync_v2 hipMemcpyDtoDAsync
#define cuMemsetD8Async hipMemsetD8Async
#define cuModuleLoadData hipModuleLoadData
#define cuModuleUnload hipModuleUnload
#define cuModuleGetFunction hipModuleGetFunction
#define cuFuncSetAttribute hipFuncSetAttribute
#define cuLaunchKernel hipModuleLaunchKernel
#define cuStreamCreate hipStreamCreateWithFlags
#define cuStreamDestroy_v2 hipStreamDestroy
#define cuStreamSynchronize hipStreamSynchronize
#define cuStreamBeginCapture_v2 hipStreamBeginCapture
#define cuStreamEndCapture hipStreamEndCapture
#define cuEventCreate hipEventCreateWithFlags
#define cuEventDestroy_v2 hipEventDestroy
#define cuEventRecord hipEventRecord
#define cuEventElapsedTime hipEventElapsedTime
#define cuGraphInstantiateWithFlags hipGraphInstantiateWithFlags
#define cuGraphDestroy hipGraphDestroy
#define cuGraphExecDestroy hipGraphExecDestroy
#define cuGraphLaunch hipGraphLaunch
#define nvrtcVersion hiprtcVersion
#define nvrtcCreateProgram hiprtcCreateProgram
#define nvrtcDestroyProgram hiprtcDestroyProgram
#define nvrtcCompileProgram hiprtcCompileProgram
#define nvrtcGetCUBINSize hiprtcGetCodeSize
#define nvrtcGetCUBIN hiprtcGetCode
#define nvrtcGetProgramLogSize hiprtcGetProgramLogSize
#define nvrtcGetProgramLog hiprtcGetProgramLog
#define nvrtcGetErrorString hiprtcGetErrorString
#define OF(CUDA, HIP) HIP
#else
#define OF(CUDA, HIP) CUDA
#endif

// Numbers and texts that differ between the two.
#define DRIVER_VERSION OF(13000, 60443482)
#define RTC_VERSION OF(13, 6), OF(0, 4)
#define BUS_ID OF("0000:18:00.0", "0000:c1:00.0")
#define REAL_BINARY OF(190, 0xe0)  // e_machine of a cubin, of a code object
// Bytes of a block's memory: without asking, and at most.
#define FREE_SHARED OF(48 << 10, MOST_SHARED)
#define MOST_SHARED OF(227 << 10, IS_GFX950 ? 160 << 10 : 64 << 10)
// The GPU of HIP that a build may choose, and its compute units.
// The compute capability of the GPU of CUDA, as 90.
#ifndef CUDA_SM
#define CUDA_SM 90
#endif
extern int driver_sm;
#ifndef HIP_ARCH
#define HIP_ARCH "gfx942"
#endif
extern const char *driver_arch;
#define IS_GFX950 !strncmp(driver_arch, "gfx950", 6)
// Attributes of a device, by their numbers.
#define ATTRIBUTES(X)                                            \
  X(OF(16, 63), OF(driver_machine.units, IS_GFX950 ? 256 : 304)) \
  X(OF(38, 19), OF(60 << 20, 4 << 20))                           \
  X(OF(97, 74), MOST_SHARED)                                     \
  OF(X(75, driver_sm / 10) X(76, driver_sm % 10), )
// Milliseconds of a launch, a memset and a graph.
#define LAUNCH_MS OF(1, 0.010)
#define FILL_MS OF(0.5, 0.005)
#define GRAPH_MS OF(0.25, 0.002)
