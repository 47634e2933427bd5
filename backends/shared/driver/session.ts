/**
 * One opened device as the parts of a driver see it.
 *
 * @module
 */

import type { DriverCalls } from "./symbols.ts";

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
