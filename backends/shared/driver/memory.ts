/**
 * Device memory behind a driver.
 *
 * @module
 */

import type { Memory } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { type Bytes, demandWithin, out64 } from "../ffi.ts";
import { CallError } from "./checked.ts";
import { OUT_OF_MEMORY, type Session } from "./session.ts";

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
export function memoryAt(
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
