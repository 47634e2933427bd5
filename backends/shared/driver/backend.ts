/**
 * A backend whose devices are behind a driver: CUDA's, or HIP's runtime.
 *
 * @module
 */

import type {
  Backend,
  Device,
  DeviceInfo,
  Telemetry,
} from "../../../bench/device/device.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { out32, textIn } from "../ffi.ts";
import { type LibraryQuery, messageOf, openWanted } from "../find_library.ts";
import { CallError } from "./checked.ts";
import { type BlasFound, openDevice } from "./device.ts";
import type { Driver, Session } from "./session.ts";

/** The least flush: what Triton's do_bench overwrites. */
const FLUSH_FLOOR = 256 * 2 ** 20;

/** Properties of a device that each API finds in its own way. */
export type Traits = Pick<
  DeviceInfo,
  "arch" | "units" | "cacheBytes" | "sharedBytes" | "overlaps" | "tensorMaps"
>;

/** An opened driver. */
interface OpenedDriver {
  readonly driver: Driver;
  /** The version that rows name. */
  readonly version: string;
  /** Reads a device; `attribute` returns one of its attributes by number. */
  traits(ordinal: number, attribute: (which: number) => number): Traits;
  /** Returns the function that reads the device at `busId`, if there is one. */
  telemetry(busId: string): (() => Telemetry) | undefined;
}

/** The parts of a backend that each API has its own of. */
interface DriverApi extends
  Pick<
    Backend,
    | "name"
    | "openings"
    | "placement"
    | "instruments"
    | "readers"
    | "target"
    | "compiler"
  > {
  /** The driver's library, and where it is looked for. */
  readonly library: LibraryQuery;
  readonly places: Parameters<typeof openWanted>[1];
  /** Opens the driver at `path`. @throws {Error} Where it does not start. */
  openDriver(path: string): OpenedDriver;
  /** The driver in messages. */
  readonly title: string;
  /** The way out on a machine without a GPU, or in a container that cannot see it. */
  readonly wayOut: string;
  openBlas(session: Session, device: Device): BlasFound;
  /** Looks at the device at `busId`, once the driver is open; see {@linkcode Backend.machine}. */
  machine?(busId: string): readonly string[];
}

/** Creates the backend. Opens nothing before it is asked. */
export function driverBackend(
  { library, places, openDriver, title, wayOut, openBlas, machine, ...backend }:
    DriverApi,
): Backend {
  let opened: { path: string; value: OpenedDriver } | undefined;

  /** Opens the first driver that starts. @throws {Error} Where none does. */
  function use() {
    if (opened) return opened;
    let refused: Error | undefined;
    const found = openWanted(library, places, (path) => {
      try {
        return openDriver(path);
      } catch (error) {
        // It is there and says no: another of the same machine would say the same.
        if (error instanceof CallError) {
          refused ??= new Error(`${path}: ${error.message}`);
        }
        throw error;
      }
    });
    if ("value" in found) return opened = found;
    throw refused ?? new Error(`no ${title}: ${found.reason}`);
  }
  const why = (error: unknown) =>
    error instanceof CallError && opened
      ? `${opened.path}: ${error.message}`
      : messageOf(error);
  return {
    ...backend,
    find() {
      try {
        const { value, path } = use();
        const count = out32((to) => value.driver.call.deviceCount(to));
        const devices = Array.from(
          { length: count },
          (_, index) => describe(value, index),
        );
        const reason = count > 0 ? "" : `${path} has no devices; ${wayOut}`;
        return { devices, reason };
      } catch (error) {
        return { devices: [], reason: `${why(error)}; ${wayOut}` };
      }
    },
    ...(machine
      ? {
        machine(info: DeviceInfo) {
          try {
            return machine(busId(use().value.driver, info.index));
          } catch (error) {
            // Opening the device will say what is wrong with it.
            if (error instanceof Error) return [];
            throw error;
          }
        },
      }
      : {}),
    open(info) {
      try {
        const { driver, telemetry } = use().value;
        const read = telemetry(busId(driver, info.index));
        const extras = { openBlas, ...(read ? { telemetry: read } : {}) };
        return openDevice(driver, info, extras);
      } catch (error) {
        throw new UserError(
          `Cannot open ${backend.name.toUpperCase()} device ${info.index}: ${
            why(error)
          }`,
          EXIT.nothing,
        );
      }
    },
  };
}

/** Returns where the device is on the PCI bus, e.g. `0000:18:00.0`. */
function busId({ call }: Driver, index: number): string {
  const ordinal = out32((to) => call.deviceGet(to, index));
  const text = new Uint8Array(32);
  call.deviceBusId(text, text.length, ordinal);
  return textIn(text);
}

function describe(
  { driver: { call }, version, traits }: OpenedDriver,
  index: number,
): DeviceInfo {
  const ordinal = out32((to) => call.deviceGet(to, index));
  const name = new Uint8Array(256);
  call.deviceName(name, name.length, ordinal);
  const own = traits(
    ordinal,
    (which) => out32((to) => call.deviceAttribute(to, which, ordinal)),
  );
  const uuid = uuidOf(call, ordinal, textIn(name));
  return {
    index,
    name: textIn(name),
    ...(uuid === undefined ? {} : { uuid }),
    ...own,
    flushBytes: Math.max(FLUSH_FLOOR, 2 * own.cacheBytes),
    driver: version,
  };
}

/** Returns what the vendor's tools call the device named `name`; nothing where no driver tells. */
function uuidOf(
  { deviceUuid }: Driver["call"],
  ordinal: number,
  name: string,
): string | undefined {
  if (deviceUuid === null) return undefined;
  const bytes = new Uint8Array(16);
  deviceUuid(bytes, ordinal);
  const kind = name.includes(" MIG ") ? "MIG" : "GPU";
  // AMD's are digits already.
  const text = textIn(bytes);
  if (/^[0-9a-f]{16}$/i.test(text)) return `${kind}-${text}`;
  const parts = [[0, 4], [4, 6], [6, 8], [8, 10], [10, 16]] as const;
  return [kind, ...parts.map(([from, to]) => bytes.slice(from, to).toHex())]
    .join("-");
}
