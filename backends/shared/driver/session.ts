/**
 * CUDA's driver and HIP's runtime, which have the same functions and numbers under names of
 * their own.
 *
 * @module
 */

import {
  type Checked,
  openChecked,
  type OptionalCalls,
  optionalCalls,
  type StatusCalls,
  statusCalls,
  type Statuses,
  type StatusText,
} from "./checked.ts";

/** CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory */
export const OUT_OF_MEMORY = 2;

/** An opened driver library. */
export interface Driver {
  /** The API's name in messages. */
  readonly api: Api;
  readonly call: DriverCalls;
  /** Bytes of dynamic shared memory that a launch gets without raising a function's limit. */
  readonly freeShared: number;
}

/** A device's context and the one stream that all its work goes to. */
export interface Session {
  readonly driver: Driver;
  readonly stream: bigint;
  /** Multiprocessors or compute units. */
  readonly units: number;
  /** Makes the context current: before anything that allocates, loads or creates. */
  enter(): void;
}

type Api = "CUDA" | "HIP";

// deno-fmt-ignore: a table of CUDA's name, HIP's name, and parameters
const CALLS = {
  init: ["cuInit", "hipInit", ["u32"]],
  driverVersion: ["cuDriverGetVersion", "hipDriverGetVersion", ["buffer"]],
  deviceCount: ["cuDeviceGetCount", "hipGetDeviceCount", ["buffer"]],
  deviceGet: ["cuDeviceGet", "hipDeviceGet", ["buffer", "i32"]],
  deviceName: ["cuDeviceGetName", "hipDeviceGetName", ["buffer", "i32", "i32"]],
  deviceAttribute: ["cuDeviceGetAttribute", "hipDeviceGetAttribute", ["buffer", "i32", "i32"]],
  deviceBusId: ["cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", ["buffer", "i32", "i32"]],
  contextRetain: ["cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain", ["buffer", "i32"]],
  contextRelease: ["cuDevicePrimaryCtxRelease_v2", "hipDevicePrimaryCtxRelease", ["i32"]],
  contextEnter: ["cuCtxSetCurrent", "hipCtxSetCurrent", ["u64"]],
  memInfo: ["cuMemGetInfo_v2", "hipMemGetInfo", ["buffer", "buffer"]],
  memAlloc: ["cuMemAlloc_v2", "hipMalloc", ["buffer", "u64"]],
  memFree: ["cuMemFree_v2", "hipFree", ["u64"]],
  memUpload: ["cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", ["u64", "buffer", "u64", "u64"]],
  memDownload: ["cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", ["buffer", "u64", "u64", "u64"]],
  memCopy: ["cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", ["u64", "u64", "u64", "u64"]],
  memFill: ["cuMemsetD8Async", "hipMemsetD8Async", ["u64", "u8", "u64", "u64"]],
  moduleLoad: ["cuModuleLoadData", "hipModuleLoadData", ["buffer", "buffer"]],
  moduleUnload: ["cuModuleUnload", "hipModuleUnload", ["u64"]],
  moduleFunction: ["cuModuleGetFunction", "hipModuleGetFunction", ["buffer", "u64", "buffer"]],
  functionAttribute: ["cuFuncSetAttribute", "hipFuncSetAttribute", ["u64", "i32", "i32"]],
  launch: ["cuLaunchKernel", "hipModuleLaunchKernel", [
    "u64", // function
    "u32", "u32", "u32", // grid
    "u32", "u32", "u32", // block
    "u32", // bytes of dynamic shared memory
    "u64", // stream
    "u64", // array of pointers to the parameters
    "u64", // extra: not used
  ]],
  streamCreate: ["cuStreamCreate", "hipStreamCreateWithFlags", ["buffer", "u32"]],
  streamDestroy: ["cuStreamDestroy_v2", "hipStreamDestroy", ["u64"]],
  streamSynchronize: ["cuStreamSynchronize", "hipStreamSynchronize", ["u64"]],
  eventCreate: ["cuEventCreate", "hipEventCreateWithFlags", ["buffer", "u32"]],
  eventDestroy: ["cuEventDestroy_v2", "hipEventDestroy", ["u64"]],
  eventRecord: ["cuEventRecord", "hipEventRecord", ["u64", "u64"]],
  eventElapsed: ["cuEventElapsedTime", "hipEventElapsedTime", ["buffer", "u64", "u64"]],
  captureBegin: ["cuStreamBeginCapture_v2", "hipStreamBeginCapture", ["u64", "i32"]],
  captureEnd: ["cuStreamEndCapture", "hipStreamEndCapture", ["u64", "buffer"]],
  graphInstantiate: ["cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags", ["buffer", "u64", "u64"]],
  graphDestroy: ["cuGraphDestroy", "hipGraphDestroy", ["u64"]],
  graphExecDestroy: ["cuGraphExecDestroy", "hipGraphExecDestroy", ["u64"]],
  graphLaunch: ["cuGraphLaunch", "hipGraphLaunch", ["u64", "u64"]],
} as const;

/** Functions that older drivers lack; HIP has no name for those that are called none. */
// deno-fmt-ignore: as above
const OPTIONAL = {
  // Configuration, function, array of pointers to the parameters, extra.
  launchEx: ["cuLaunchKernelEx", "hipDrvLaunchKernelEx", ["u64", "u64", "u64", "u64"]],
  // 16 bytes, device.
  deviceUuid: ["cuDeviceGetUuid_v2", "hipDeviceGetUuid", ["buffer", "i32"]],
  // Blocks of a multiprocessor, function, threads, bytes of dynamic shared memory.
  occupancyBlocks: ["cuOccupancyMaxActiveBlocksPerMultiprocessor", "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", ["buffer", "u64", "i32", "u64"]],
  // Clusters, function, configuration.
  occupancyClusters: ["cuOccupancyMaxActiveClusters", "none", ["buffer", "u64", "u64"]],
  // Leaves reporting earlier failures to the synchronisation.
  eventElapsedNew: ["cuEventElapsedTime_v2", "none", ["buffer", "u64", "u64"]],
  // Where the value goes, limit; limit, value.
  limitGet: ["cuCtxGetLimit", "none", ["buffer", "u32"]],
  limitSet: ["cuCtxSetLimit", "none", ["u32", "u64"]],
  // Bytes, properties, option.
  memGranularity: ["cuMemGetAllocationGranularity", "none", ["buffer", "buffer", "u32"]],
  // Address, bytes, alignment, wanted address, flags.
  addressReserve: ["cuMemAddressReserve", "none", ["buffer", "u64", "u64", "u64", "u64"]],
  addressFree: ["cuMemAddressFree", "none", ["u64", "u64"]],
  // Handle, bytes, properties, flags.
  memCreate: ["cuMemCreate", "none", ["buffer", "u64", "buffer", "u64"]],
  memRelease: ["cuMemRelease", "none", ["u64"]],
  // Address, bytes, offset, handle, flags.
  memMap: ["cuMemMap", "none", ["u64", "u64", "u64", "u64", "u64"]],
  memUnmap: ["cuMemUnmap", "none", ["u64", "u64"]],
  // Address, bytes, accesses, their number.
  memAccess: ["cuMemSetAccess", "none", ["u64", "u64", "buffer", "u64"]],
  tensorMapEncode: ["cuTensorMapEncodeTiled", "none", [
    "buffer", // 128 bytes at a multiple of 64: the map
    "u32", // type of the elements
    "u32", // number of dimensions
    "u64", // address of the first element
    "buffer", // u64: elements along each dimension, the contiguous one first
    "buffer", // u64: bytes from one to the next along each dimension but the first
    "buffer", // u32: elements of a box along each dimension
    "buffer", // u32: steps along each dimension
    "u32", "u32", "u32", "u32", // interleave, swizzle, promotion, fill
  ]],
} as const;

type Table = Readonly<
  Record<string, readonly [string, string, readonly Deno.NativeType[]]>
>;
type Parameters<T extends Table> = { readonly [V in keyof T]: T[V][2] };

/** The functions' definitions for `Deno.dlopen`. */
type DriverSymbols =
  & StatusCalls<Parameters<typeof CALLS>>
  & OptionalCalls<Parameters<typeof OPTIONAL>>;

/** The functions, each throwing on a bad status. */
type DriverCalls = Checked<DriverSymbols>;

function parametersOf<const T extends Table>(table: T): Parameters<T> {
  return Object.fromEntries(
    Object.entries(table).map(([verb, [, , parameters]]) => [verb, parameters]),
  ) as Parameters<T>;
}

/**
 * Opens and initialises the driver at `path`.
 *
 * @param more Functions that the API has besides.
 * @param explain Returns the API's name and text of a status.
 * @throws {CallError} If its first call fails: a driver without a usable device.
 * @throws {Error} If there is no such library.
 */
export function openDriver<const D extends Deno.ForeignLibraryInterface>(
  path: string,
  api: Api,
  more: D,
  explain: NonNullable<Statuses<D>["explain"]>,
): Checked<DriverSymbols & D> {
  const named = (table: Table) => (verb: string) =>
    table[verb]![api === "CUDA" ? 0 : 1];
  const symbols: DriverSymbols & D = {
    ...statusCalls(parametersOf(CALLS), named(CALLS)),
    ...optionalCalls(parametersOf(OPTIONAL), named(OPTIONAL)),
    ...more,
  };
  const call = openChecked(path, symbols, {
    releasing: [
      "contextRelease",
      "memFree",
      "memUnmap",
      "memRelease",
      "addressFree",
      "moduleUnload",
      "streamDestroy",
      "eventDestroy",
      "graphDestroy",
      "graphExecDestroy",
    ],
    failure: (status) => status === OUT_OF_MEMORY ? "oom" : "launch",
    explain: explain as (symbols: unknown, status: number) => StatusText,
  });
  (call as DriverCalls).init(0);
  return call;
}
