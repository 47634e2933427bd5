/**
 * Device memory behind a driver, and memory between addresses that nothing may touch (a fence).
 *
 * @module
 */

import type { Memory } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { type Bytes, demandWithin, out64 } from "../ffi.ts";
import { CallError } from "./checked.ts";
import { OUT_OF_MEMORY, type Session } from "./session.ts";
import type { Fence } from "../../../bench/device/device.ts";

/**
 * Allocates `bytes` of device memory.
 *
 * @throws {CaseError} `oom`, with what was asked for and what the device has.
 */
export function allocate(session: Session, bytes: number): Memory {
  const { call } = session.driver;
  session.enter();
  let address: bigint;
  try {
    // Drivers refuse to allocate nothing, which an empty operand may ask for.
    const size = BigInt(Math.max(1, bytes));
    address = out64((to) => call.memAlloc(to, size));
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.status !== OUT_OF_MEMORY) throw error;
    const [free, total] = memoryInfo(session);
    throw new CaseError(
      "oom",
      `Cannot allocate ${bytes} bytes of device memory: ${free} of ${total} bytes are free`,
      { cause: error },
    );
  }
  return new DriverMemory(session, address, bytes, true);
}

/** The `bytes` of device memory at `address`, which somebody else owns. */
function memoryAt(
  session: Session,
  address: bigint,
  bytes: number,
): Memory {
  return new DriverMemory(session, address, bytes, false);
}

/** Returns the bytes that are free on the device, and all that it has. */
export function memoryInfo({ driver }: Session): readonly [bigint, bigint] {
  const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
  driver.call.memInfo(free, total);
  return [free[0]!, total[0]!];
}

class DriverMemory implements Memory {
  readonly #session: Session;
  #owned: boolean;

  constructor(
    session: Session,
    readonly address: bigint,
    readonly bytes: number,
    owned: boolean,
  ) {
    this.#session = session;
    this.#owned = owned;
  }

  upload(from: Bytes): void {
    demandWithin(this, 0, from.byteLength);
    const { driver: { call }, stream } = this.#session;
    this.#session.enter();
    const size = BigInt(from.byteLength);
    if (size > 0n) call.memUpload(this.address, from, size, stream);
    call.streamSynchronize(stream);
  }

  download(): Bytes {
    const { driver: { call }, stream } = this.#session;
    this.#session.enter();
    const into = new Uint8Array(this.bytes);
    const size = BigInt(this.bytes);
    if (size > 0n) call.memDownload(into, this.address, size, stream);
    call.streamSynchronize(stream);
    return into;
  }

  fill(byte: number): void {
    const { driver: { call }, stream } = this.#session;
    if (this.bytes === 0) return;
    call.memFill(this.address, byte, BigInt(this.bytes), stream);
  }

  copyFrom(from: Memory): void {
    demandWithin(this, 0, from.bytes);
    const { driver: { call }, stream } = this.#session;
    if (from.bytes === 0) return;
    call.memCopy(this.address, from.address, BigInt(from.bytes), stream);
  }

  slice(offset: number, bytes: number): Memory {
    demandWithin(this, offset, bytes);
    const address = this.address + BigInt(offset);
    return new DriverMemory(this.#session, address, bytes, false);
  }

  [Symbol.dispose](): void {
    if (!this.#owned) return;
    this.#owned = false;
    this.#session.driver.call.memFree(this.address);
  }
}

/** Numbers of cuda.h: CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE. */
const [PINNED, ON_DEVICE] = [1, 1];
/** CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE. */
const [READ, READ_WRITE] = [1, 3];
/** CU_MEM_ALLOC_GRANULARITY_MINIMUM */
const MINIMUM = 0;
/** Bytes on either side. They take no memory. */
const BEYOND = 64 << 20;
/** What allocations are aligned to: so many bytes less one after the end are not seen. */
const ALIGNMENT = 256;

/** CUmemAllocationProp: type, handle types, location; the rest is zeros. */
function propertiesOn(ordinal: number): Bytes {
  const properties = new Int32Array(8);
  properties.set([PINNED, 0, ON_DEVICE, ordinal]);
  return new Uint8Array(properties.buffer);
}

/** Opens a fence on the device `ordinal`; nothing where its driver cannot map memory. */
export function fenceOn(session: Session, ordinal: number): Fence | undefined {
  const { call } = session.driver;
  const { memGranularity, addressReserve, addressFree } = call;
  const { memCreate, memRelease, memMap, memUnmap, memAccess } = call;
  if (
    !memGranularity || !addressReserve || !addressFree || !memCreate ||
    !memRelease || !memMap || !memUnmap || !memAccess
  ) return undefined;
  session.enter();
  const properties = propertiesOn(ordinal);
  let granularity: number;
  try {
    granularity = Number(
      out64((to) => memGranularity(to, properties, MINIMUM)),
    );
  } catch (error) {
    // A device without virtual memory management.
    if (error instanceof CallError) return undefined;
    throw error;
  }
  const up = (bytes: number, unit: number) => Math.ceil(bytes / unit) * unit;
  const beyond = up(BEYOND, granularity);
  const scope = new DisposableStack();
  const rooms = new Map<bigint, readonly [address: bigint, bytes: bigint]>();
  const allow = (address: bigint, bytes: bigint, flags: number) =>
    memAccess(
      address,
      bytes,
      new Uint8Array(Int32Array.of(ON_DEVICE, ordinal, flags).buffer),
      1n,
    );
  return {
    alloc(bytes) {
      const used = up(Math.max(1, bytes), ALIGNMENT);
      const room = BigInt(up(used, granularity));
      const all = room + 2n * BigInt(beyond);
      session.enter();
      using made = new DisposableStack();
      const from = out64((to) => addressReserve(to, all, 0n, 0n, 0n));
      made.defer(() => addressFree(from, all));
      const handle = out64((to) => memCreate(to, room, properties, 0n));
      made.defer(() => memRelease(handle));
      const address = from + BigInt(beyond);
      memMap(address, room, 0n, handle, 0n);
      made.defer(() => memUnmap(address, room));
      allow(address, room, READ_WRITE);
      const start = address + room - BigInt(used);
      rooms.set(start, [address, room]);
      scope.use(made.move());
      return memoryAt(session, start, bytes);
    },
    seal(memory) {
      session.enter();
      try {
        allow(...rooms.get(memory.address)!, READ);
      } catch (error) {
        // A driver that has no read-only memory: what stays changed is seen all the same.
        if (!(error instanceof CallError)) throw error;
      }
    },
    [Symbol.dispose]: () => scope.dispose(),
  };
}
