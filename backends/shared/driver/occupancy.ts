/**
 * Asks a driver how many blocks, or clusters of blocks, are on the device together.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import type { LaunchShape } from "../../../bench/device/queue.ts";
import { cstring, out32, out64 } from "../ffi.ts";
import { CallError } from "./checked.ts";
import {
  DYNAMIC_SHARED,
  launchConfig,
  NON_PORTABLE_CLUSTER,
} from "./launch_config.ts";
import type { Session } from "./session.ts";

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
