/**
 * One opened device as the parts of a driver see it.
 *
 * @module
 */

import type { Checked } from "./checked.ts";

/** The numbers in which driver APIs differ. */
export interface Codes {
  /** The status of an allocation that does not fit. */
  readonly outOfMemory: number;
  /** The function attribute that raises the limit of dynamic shared memory. */
  readonly dynamicShared: number;
  /** Bytes of shared memory that a block gets without that attribute. */
  readonly freeShared: number;
  /** The function attribute that allows clusters of more than 8 blocks. */
  readonly nonPortableCluster: number;
  /** The stream flag of a stream that does not wait for the default one. */
  readonly nonBlocking: number;
  /** The capture mode that forbids unsafe calls to the capturing thread alone. */
  readonly captureThreadLocal: number;
}

/** An opened driver library. */
export interface Driver {
  /** The API's name in messages, e.g. `CUDA`. */
  readonly api: string;
  readonly call: DriverCalls;
  readonly codes: Codes;
}

/** A device's context and the one stream that all its work goes to. */
export interface Session {
  readonly driver: Driver;
  readonly stream: bigint;
  /** Makes the context current: before anything that allocates, loads or creates. */
  enter(): void;
}

/** The parameters of each verb. */
export const VERBS = {
  init: ["u32"],
  driverVersion: ["buffer"],
  deviceCount: ["buffer"],
  deviceGet: ["buffer", "i32"],
  deviceName: ["buffer", "i32", "i32"],
  deviceAttribute: ["buffer", "i32", "i32"],
  deviceBusId: ["buffer", "i32", "i32"],
  contextRetain: ["buffer", "i32"],
  contextRelease: ["i32"],
  contextEnter: ["u64"],
  memInfo: ["buffer", "buffer"],
  memAlloc: ["buffer", "u64"],
  memFree: ["u64"],
  memUpload: ["u64", "buffer", "u64", "u64"],
  memDownload: ["buffer", "u64", "u64", "u64"],
  memFill: ["u64", "u8", "u64", "u64"],
  moduleLoad: ["buffer", "buffer"],
  moduleUnload: ["u64"],
  moduleFunction: ["buffer", "u64", "buffer"],
  functionAttribute: ["u64", "i32", "i32"],
  launch: [
    "u64", // function
    ...["u32", "u32", "u32"] as const, // grid
    ...["u32", "u32", "u32"] as const, // block
    "u32", // bytes of dynamic shared memory
    "u64", // stream
    "u64", // array of pointers to the parameters
    "u64", // extra: not used
  ],
  streamCreate: ["buffer", "u32"],
  streamDestroy: ["u64"],
  streamSynchronize: ["u64"],
  eventCreate: ["buffer", "u32"],
  eventDestroy: ["u64"],
  eventRecord: ["u64", "u64"],
  eventElapsed: ["buffer", "u64", "u64"],
  captureBegin: ["u64", "i32"],
  captureEnd: ["u64", "buffer"],
  graphInstantiate: ["buffer", "u64", "u64"],
  graphDestroy: ["u64"],
  graphExecDestroy: ["u64"],
  graphLaunch: ["u64", "u64"],
} as const satisfies Record<string, readonly Deno.NativeType[]>;

/** A shared verb. */
export type Verb = keyof typeof VERBS;

/** Verbs that older drivers lack. */
export const OPTIONAL_VERBS = {
  /** Configuration, function, array of pointers to the parameters, extra. */
  launchEx: ["u64", "u64", "u64", "u64"],
  /** The newer form: it leaves reporting earlier failures to the synchronisation. */
  eventElapsedNew: ["buffer", "u64", "u64"],
  /** Refused by what is in `cuda.h` at cuTensorMapEncodeTiled. */
  tensorMapEncode: [
    "buffer", // 128 bytes at a multiple of 64: the map
    "u32", // type of the elements
    "u32", // number of dimensions
    "u64", // address of the first element
    "buffer", // u64: elements along each dimension, the contiguous one first
    "buffer", // u64: bytes from one to the next along each dimension but the first
    "buffer", // u32: elements of a box along each dimension
    "buffer", // u32: steps along each dimension
    ...["u32", "u32", "u32", "u32"] as const, // interleave, swizzle, promotion, fill
  ],
} as const satisfies Record<string, readonly Deno.NativeType[]>;

/** A verb that may be missing. */
export type OptionalVerb = keyof typeof OPTIONAL_VERBS;

/** The verbs that only give something back. */
export const RELEASING = [
  "contextRelease",
  "memFree",
  "moduleUnload",
  "streamDestroy",
  "eventDestroy",
  "graphDestroy",
  "graphExecDestroy",
] as const satisfies Verb[];

/** The verbs' definitions for `Deno.dlopen`, under a library's names. */
export type DriverSymbols =
  & {
    readonly [V in Verb]: {
      readonly name: string;
      readonly parameters: (typeof VERBS)[V];
      readonly result: "i32";
    };
  }
  & {
    readonly [V in OptionalVerb]: {
      readonly name: string;
      readonly parameters: (typeof OPTIONAL_VERBS)[V];
      readonly result: "i32";
      readonly optional: true;
    };
  };

/** The verbs, each throwing on a bad status. */
export type DriverCalls = Checked<DriverSymbols>;

/** A library's names for the verbs; an optional one that it never had has none. */
export type DriverNames =
  & Readonly<Record<Verb, string>>
  & { readonly [V in OptionalVerb]?: string };

/** Returns the verbs under a library's own names. */
export function driverSymbols(names: DriverNames): DriverSymbols {
  const define = (
    [verb, parameters]: readonly [string, readonly Deno.NativeType[]],
  ) => [verb, {
    // No library has a function of the verb's own name: it is found to be missing.
    name: names[verb as Verb] ?? verb,
    parameters,
    result: "i32",
    ...(verb in OPTIONAL_VERBS ? { optional: true } : {}),
  }];
  return Object.fromEntries(
    [...Object.entries(VERBS), ...Object.entries(OPTIONAL_VERBS)].map(define),
  ) as unknown as DriverSymbols;
}
