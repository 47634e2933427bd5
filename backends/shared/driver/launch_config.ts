/**
 * The configuration of a launch with attributes, as C has it, and how many of its blocks, or
 * clusters of blocks, are on the device together.
 *
 * @module
 */

import type { LaunchShape } from "../../../bench/device/queue.ts";
import { addressOf, cstring, out32, out64 } from "../ffi.ts";
import type { DeviceInfo } from "../../../bench/device/device.ts";
import { CallError } from "./checked.ts";
import type { Session } from "./session.ts";

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
interface LaunchConfig {
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

/**
 * Returns how many blocks of the function `handle` are on an idle device together in a launch of
 * `shape`; nothing where the driver has no cooperative launches, or cannot tell.
 */
export function blocksOn(
  session: Session,
  handle: bigint,
  shape: LaunchShape,
): number | undefined {
  const { call } = session.driver;
  if (call.launchEx === null) return undefined;
  const { cluster = 1, sharedBytes = 0 } = shape;
  if (cluster === 1) {
    const { occupancyBlocks } = call;
    const [x, y, z] = shape.block;
    if (occupancyBlocks === null) return undefined;
    const room = BigInt(sharedBytes);
    return session.units *
      out32((to) => occupancyBlocks(to, handle, x * y * z, room));
  }
  const { occupancyClusters } = call;
  if (occupancyClusters === null) return undefined;
  const { grid, block } = shape;
  const config = launchConfig(
    { grid, block, sharedBytes, cluster },
    session.stream,
  );
  return cluster *
    out32((to) => occupancyClusters(to, handle, config.address));
}

/** Blocks of the largest cluster. */
const LARGEST_CLUSTER = 16;

/** A kernel that does nothing, which every driver that knows clusters compiles. */
const NOTHING = `.version 7.8
.target sm_90
.address_size 64
.visible .entry nothing() { ret; }
`;

/**
 * Returns {@linkcode DeviceInfo.clusters} of an open device; nothing where it has no clusters, or
 * its driver does not tell.
 */
export function clustersOn(
  session: Session,
  { sharedBytes }: Pick<DeviceInfo, "sharedBytes">,
): readonly number[] | undefined {
  const { call } = session.driver;
  if (call.occupancyClusters === null) return undefined;
  session.enter();
  try {
    const module = out64((to) => call.moduleLoad(to, cstring(NOTHING)));
    using stack = new DisposableStack();
    stack.defer(() => call.moduleUnload(module));
    const handle = out64((to) =>
      call.moduleFunction(to, module, cstring("nothing"))
    );
    call.functionAttribute(handle, DYNAMIC_SHARED, sharedBytes);
    call.functionAttribute(handle, NON_PORTABLE_CLUSTER, 1);
    return Array.from({ length: LARGEST_CLUSTER }, (_, i) => {
      const cluster = i + 1;
      const grid = [cluster, 1, 1] as const;
      const shape = { grid, block: [32, 1, 1], sharedBytes, cluster } as const;
      return blocksOn(session, handle, shape)! / cluster;
    });
  } catch (error) {
    if (error instanceof CallError) return undefined;
    throw error;
  }
}
