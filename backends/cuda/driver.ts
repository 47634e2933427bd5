/**
 * CUDA's driver: its names for the shared verbs, its statuses and its devices.
 *
 * @module
 */

import type { Traits } from "../shared/driver/backend.ts";
import {
  CallError,
  callMessage,
  openChecked,
} from "../shared/driver/checked.ts";
import {
  type Codes,
  type Driver,
  driverSymbols,
  RELEASING,
} from "../shared/driver/session.ts";
import { out32, out64, textAt } from "../shared/ffi.ts";

/** The name under which every driver installs it. */
export const CUDA_LIBRARY = "libcuda.so.1";

const LIBRARY = {
  ...driverSymbols({
    init: "cuInit",
    driverVersion: "cuDriverGetVersion",
    deviceCount: "cuDeviceGetCount",
    deviceGet: "cuDeviceGet",
    deviceName: "cuDeviceGetName",
    deviceAttribute: "cuDeviceGetAttribute",
    deviceBusId: "cuDeviceGetPCIBusId",
    contextRetain: "cuDevicePrimaryCtxRetain",
    contextRelease: "cuDevicePrimaryCtxRelease_v2",
    contextEnter: "cuCtxSetCurrent",
    memInfo: "cuMemGetInfo_v2",
    memAlloc: "cuMemAlloc_v2",
    memFree: "cuMemFree_v2",
    memUpload: "cuMemcpyHtoDAsync_v2",
    memDownload: "cuMemcpyDtoHAsync_v2",
    memFill: "cuMemsetD8Async",
    moduleLoad: "cuModuleLoadData",
    moduleUnload: "cuModuleUnload",
    moduleFunction: "cuModuleGetFunction",
    functionAttribute: "cuFuncSetAttribute",
    launch: "cuLaunchKernel",
    launchEx: "cuLaunchKernelEx",
    streamCreate: "cuStreamCreate",
    streamDestroy: "cuStreamDestroy_v2",
    streamSynchronize: "cuStreamSynchronize",
    eventCreate: "cuEventCreate",
    eventDestroy: "cuEventDestroy_v2",
    eventRecord: "cuEventRecord",
    eventElapsed: "cuEventElapsedTime",
    eventElapsedNew: "cuEventElapsedTime_v2",
    tensorMapEncode: "cuTensorMapEncodeTiled",
    captureBegin: "cuStreamBeginCapture_v2",
    captureEnd: "cuStreamEndCapture",
    graphInstantiate: "cuGraphInstantiateWithFlags",
    graphDestroy: "cuGraphDestroy",
    graphExecDestroy: "cuGraphExecDestroy",
    graphLaunch: "cuGraphLaunch",
  }),
  // Their own status is of no use: without a text the number is shown.
  cuGetErrorName: { parameters: ["i32", "buffer"], result: "u32" },
  cuGetErrorString: { parameters: ["i32", "buffer"], result: "u32" },
} as const;

/** CUresult, CUfunction_attribute, CUstream_flags and CUstreamCaptureMode of cuda.h. */
const CODES: Codes = {
  outOfMemory: 2,
  dynamicShared: 8,
  freeShared: 48 * 1024,
  nonPortableCluster: 14,
  nonBlocking: 1,
  captureThreadLocal: 1,
};

/** CUdevice_attribute of cuda.h. */
const ATTRIBUTE = {
  multiprocessors: 16,
  l2Bytes: 38,
  major: 75,
  minor: 76,
  sharedOptIn: 97,
} as const;

/** The major compute capability that first has tensor maps. */
const TENSOR_MAPS_SINCE = 9;

/**
 * Opens and initialises the driver at `path`.
 *
 * @throws {CallError} If `cuInit` fails: a driver without a usable device.
 * @throws {Error} If there is no such library.
 */
export function openCudaDriver(path: string): Driver {
  const call = openChecked(path, LIBRARY, {
    releasing: RELEASING,
    error: ({ cuGetErrorName, cuGetErrorString }, name, status) => {
      const text = (get: typeof cuGetErrorName) =>
        textAt(out64((to) => get(status, to)));
      const failure = status === CODES.outOfMemory ? "oom" : "launch";
      const known = {
        name: text(cuGetErrorName),
        text: text(cuGetErrorString),
      };
      return new CallError(failure, callMessage(name, status, known), status);
    },
  });
  call.init(0);
  return { api: "CUDA", call, codes: CODES };
}

/** Returns the CUDA version that the driver supports, e.g. `13.0`. */
export function cudaVersion({ call }: Driver): string {
  const version = out32((to) => call.driverVersion(to));
  return `${Math.floor(version / 1000)}.${Math.floor(version % 1000 / 10)}`;
}

/** Returns the properties of a device of `driver`. */
export function cudaTraits(
  { call }: Driver,
  attribute: (which: number) => number,
): Traits {
  const major = attribute(ATTRIBUTE.major);
  return {
    arch: archOf(major, attribute(ATTRIBUTE.minor)),
    units: attribute(ATTRIBUTE.multiprocessors),
    cacheBytes: attribute(ATTRIBUTE.l2Bytes),
    sharedBytes: attribute(ATTRIBUTE.sharedOptIn),
    tensorMaps: major >= TENSOR_MAPS_SINCE && call.tensorMapEncode !== null,
  };
}

/**
 * Returns what to build for: with the suffix `a` where the architecture has
 * instructions of its own (wgmma of 9.0, tcgen05 of 10.x).
 */
export function archOf(major: number, minor: number): string {
  const capability = `${major}${minor}`;
  const own = ["90", "100", "103"].includes(capability) || major === 12;
  return `sm_${capability}${own ? "a" : ""}`;
}
