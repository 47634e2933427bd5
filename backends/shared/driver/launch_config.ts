/**
 * The configuration of a launch with attributes, as C has it.
 *
 * @module
 */

import type { LaunchShape } from "../../../bench/device/queue.ts";
import { addressOf } from "../ffi.ts";

/** CUfunction_attribute: the limit of dynamic shared memory in bytes. */
export const DYNAMIC_SHARED = 8;
/** CUfunction_attribute: whether clusters beyond the portable size are allowed. */
export const NON_PORTABLE_CLUSTER = 14;

/** Bytes of a `CUlaunchConfig`. */
const CONFIG_BYTES = 56;
/** Bytes of a `CUlaunchAttribute`: the id, 4 bytes of padding, a union of 64 bytes. */
const ATTRIBUTE_BYTES = 72;
const VALUE_OFFSET = 8;

// CUlaunchAttributeID.
const CLUSTER_DIMENSION = 4;
const COOPERATIVE = 2;
const PROGRAMMATIC_STREAM_SERIALIZATION = 6;

/** A configuration, where C can read it. */
export interface LaunchConfig {
  readonly bytes: ArrayBuffer;
  readonly attributes: ArrayBuffer;
  /** The address of `bytes`, valid while this object is reachable. */
  readonly address: bigint;
}

/** Lays out `shape` for a launch on `stream`. Clusters extend along the grid's x. */
export function launchConfig(shape: LaunchShape, stream: bigint): LaunchConfig {
  const { grid, block, sharedBytes = 0, cluster = 1 } = shape;
  const { overlap = false, cooperative = false } = shape;
  const values = [
    ...(cluster === 1
      ? []
      : [{ id: CLUSTER_DIMENSION, value: [cluster, 1, 1] }]),
    ...(cooperative ? [{ id: COOPERATIVE, value: [1] }] : []),
    ...(overlap ? [{ id: PROGRAMMATIC_STREAM_SERIALIZATION, value: [1] }] : []),
  ];
  const attributes = new ArrayBuffer(ATTRIBUTE_BYTES * values.length);
  const to = new DataView(attributes);
  for (const [i, { id, value }] of values.entries()) {
    const start = i * ATTRIBUTE_BYTES;
    to.setUint32(start, id, true);
    for (const [j, word] of value.entries()) {
      to.setUint32(start + VALUE_OFFSET + 4 * j, word, true);
    }
  }
  const bytes = new ArrayBuffer(CONFIG_BYTES);
  const config = new DataView(bytes);
  for (const [i, word] of [...grid, ...block, sharedBytes].entries()) {
    config.setUint32(4 * i, word, true);
  }
  config.setBigUint64(32, stream, true);
  config.setBigUint64(40, addressOf(attributes), true);
  config.setUint32(48, values.length, true);
  return { bytes, attributes, address: addressOf(bytes) };
}
