/**
 * A device behind CUDA's driver or one that is like it.
 *
 * @module
 */

import type { Blas } from "../../../bench/device/blas.ts";
import type {
  Device,
  DeviceInfo,
  Graph,
  Interval,
  Telemetry,
} from "../../../bench/device/device.ts";
import { out32, out64 } from "../ffi.ts";
import { allocate, fenceOn, memoryInfo } from "./memory.ts";
import { loadModule } from "./module.ts";
import { clustersOn } from "./launch_config.ts";
import type { Driver, Session } from "./session.ts";
import { tensorMapsOf } from "./tensor_map.ts";
import { CallError } from "./checked.ts";

/** The stream flag of a stream that does not wait for the default one. */
const NON_BLOCKING = 1;
/** The capture mode that forbids unsafe calls to the capturing thread alone. */
const CAPTURE_THREAD_LOCAL = 1;

/** A vendor's matrix library, or why there is none. */
export type BlasFound =
  | { readonly blas: Blas & Disposable }
  | { readonly reason: string };

/** Additions of an API to the driver: telemetry and a matrix library. */
interface Extras {
  /** Opens the matrix library; called once, when it is first asked for. */
  openBlas(session: Session, device: Device): BlasFound;
  /** Reads clocks, power and temperature; missing where nothing can be read. */
  readonly telemetry?: () => Telemetry;
}

/** Opens a device of `driver`: retains its context and creates the stream of all its work. */
export function openDevice(
  driver: Driver,
  info: DeviceInfo,
  extras: Extras,
): Device {
  const { call } = driver;
  const ordinal = out32((to) => call.deviceGet(to, info.index));
  const context = out64((to) => call.contextRetain(to, ordinal));
  let stream: bigint;
  try {
    call.contextEnter(context);
    stream = out64((to) => call.streamCreate(to, NON_BLOCKING));
  } catch (error) {
    call.contextRelease(ordinal);
    throw error;
  }
  const enter = () => call.contextEnter(context);
  const session: Session = { driver, stream, units: info.units, enter };
  let clusters: { readonly fit: readonly number[] | undefined } | undefined;
  let found: BlasFound | undefined;
  let open = true;
  const device: Device = {
    info: {
      ...info,
      // Asked when first wanted: few kernels are laid out by it.
      get clusters() {
        return (clusters ??= { fit: clustersOn(session, info) }).fit;
      },
    },
    alloc: (bytes) => allocate(session, bytes),
    free() {
      enter();
      return Number(memoryInfo(session)[0]);
    },
    load: (binary) => loadModule(session, binary),
    interval: () => createInterval(session),
    capture: (work) => capture(session, work),
    synchronize() {
      enter();
      call.streamSynchronize(stream);
    },
    ...persistingOf(session),
    fence: () => fenceOn(session, ordinal),
    used() {
      enter();
      const [free, total] = memoryInfo(session);
      return [Number(total - free)];
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

/** CU_LIMIT_PERSISTING_L2_CACHE_SIZE */
const PERSISTING = 6;

function persistingOf(
  { enter, driver: { call: { limitGet, limitSet } } }: Session,
): Pick<Device, "persisting"> {
  if (!limitGet || !limitSet) return {};
  return {
    persisting: {
      forbid() {
        enter();
        limitSet(PERSISTING, 0n);
      },
      bytes() {
        enter();
        return Number(out64((to) => limitGet(to, PERSISTING)));
      },
    },
  };
}

const NS_PER_MS = 1e6;

/** Creates the events of one interval. */
function createInterval(session: Session): Interval {
  const { driver: { call }, stream } = session;
  session.enter();
  using stack = new DisposableStack();
  const create = () => {
    const event = out64((to) => call.eventCreate(to, 0));
    stack.defer(() => call.eventDestroy(event));
    return event;
  };
  const [start, end] = [create(), create()];
  const elapsed = call.eventElapsedNew ?? call.eventElapsed;
  const owned = stack.move();
  return {
    measure(work) {
      call.eventRecord(start, stream);
      work();
      call.eventRecord(end, stream);
    },
    nanoseconds() {
      const ms = new Float32Array(1);
      elapsed(ms, start, end);
      return Math.round(ms[0]! * NS_PER_MS);
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/**
 * Records what `work` queues, without running it.
 *
 * @throws {CaseError} `launch`, where something in it cannot be recorded; the stream is
 * usable again.
 */
function capture(session: Session, work: () => void): Graph {
  const { driver: { call }, stream } = session;
  session.enter();
  call.captureBegin(stream, CAPTURE_THREAD_LOCAL);
  try {
    work();
  } catch (error) {
    abandon(session);
    throw error;
  }
  const graph = out64((to) => call.captureEnd(stream, to));
  let exec: bigint;
  try {
    exec = out64((to) => call.graphInstantiate(to, graph, 0n));
  } finally {
    call.graphDestroy(graph);
  }
  let open = true;
  return {
    launch: () => call.graphLaunch(exec, stream),
    [Symbol.dispose]() {
      if (open) call.graphExecDestroy(exec);
      open = false;
    },
  };
}

/** Ends a capture whose work failed; what it recorded is dropped. */
function abandon({ driver: { call }, stream }: Session): void {
  try {
    const graph = out64((to) => call.captureEnd(stream, to));
    if (graph !== 0n) call.graphDestroy(graph);
  } catch (error) {
    // An invalidated capture ends with an error by design; the first one is thrown.
    if (!(error instanceof CallError)) throw error;
  }
}
