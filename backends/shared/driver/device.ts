/**
 * A device behind CUDA's driver or one that is like it.
 *
 * @module
 */

import type { Blas } from "../../../bench/device/blas.ts";
import type {
  Device,
  DeviceInfo,
  Telemetry,
} from "../../../bench/device/device.ts";
import { out32, out64 } from "../ffi.ts";
import { capture } from "./graph.ts";
import { createInterval } from "./interval.ts";
import { allocate } from "./memory.ts";
import { loadModule } from "./module.ts";
import type { Driver, Session } from "./session.ts";
import { tensorMapsOf } from "./tensor_map.ts";

/** A vendor's matrix library, or why there is none. */
export type BlasFound =
  | { readonly blas: Blas & Disposable }
  | { readonly reason: string };

/** What an API adds to the driver. */
export interface Extras {
  /** Opens the matrix library; called once, when it is first asked for. */
  openBlas(session: Session, device: Device): BlasFound;
  /** What the device says of itself; missing where nothing can be asked. */
  readonly telemetry?: () => Telemetry;
}

/** Opens a device of `driver`: retains its context and creates the stream of all its work. */
export function openDevice(
  driver: Driver,
  info: DeviceInfo,
  extras: Extras,
): Device {
  const { call, codes } = driver;
  const ordinal = out32((to) => call.deviceGet(to, info.index));
  const context = out64((to) => call.contextRetain(to, ordinal));
  let stream: bigint;
  try {
    call.contextEnter(context);
    stream = out64((to) => call.streamCreate(to, codes.nonBlocking));
  } catch (error) {
    call.contextRelease(ordinal);
    throw error;
  }
  const enter = () => call.contextEnter(context);
  const session: Session = { driver, stream, enter };
  let found: BlasFound | undefined;
  let open = true;
  const device: Device = {
    info,
    alloc: (bytes) => allocate(session, bytes),
    load: (binary) => loadModule(session, binary),
    interval: () => createInterval(session),
    capture: (work) => capture(session, work),
    synchronize() {
      enter();
      call.streamSynchronize(stream);
    },
    ...(info.tensorMaps ? tensorMapsOf(session) : {}),
    ...(extras.telemetry ? { telemetry: extras.telemetry } : {}),
    get blas() {
      const library = openBlas();
      return "blas" in library ? library.blas : undefined;
    },
    get blasReason() {
      const library = openBlas();
      return "blas" in library ? undefined : library.reason;
    },
    [Symbol.dispose]() {
      if (!open) return;
      open = false;
      if (found && "blas" in found) found.blas[Symbol.dispose]();
      call.streamDestroy(stream);
      call.contextRelease(ordinal);
    },
  };
  function openBlas(): BlasFound {
    return found ??= extras.openBlas(session, device);
  }
  return device;
}
