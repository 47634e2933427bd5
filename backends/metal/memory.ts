/**
 * Buffers that an Apple GPU and the host share.
 *
 * @module
 */

import type { Memory } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Bytes } from "../shared/ffi.ts";
import type { MetalQueue } from "./queue.ts";

/** MTLResourceStorageModeShared: memory is one, and nothing is copied. */
const SHARED = 0n;

/**
 * Allocates `bytes` on `device`.
 *
 * @throws {CaseError} `oom`, with what was asked for and what the device has.
 */
export function allocateMetal(
  queue: MetalQueue,
  device: bigint,
  bytes: number,
): Memory {
  const { objc } = queue;
  // A buffer of nothing is refused, which an empty operand may ask for.
  const size = BigInt(Math.max(1, bytes));
  const buffer = objc.send(
    device,
    "newBufferWithLength:options:",
    size,
    SHARED,
  );
  if (buffer === 0n) {
    const [most, all, used] = [
      "maxBufferLength",
      "recommendedMaxWorkingSetSize",
      "currentAllocatedSize",
    ].map((what) => objc.send(device, what));
    throw new CaseError(
      "oom",
      `Cannot allocate ${bytes} bytes of device memory: ${used} of ${all} bytes are taken, and a buffer has at most ${most}`,
    );
  }
  return new MetalMemory(queue, { buffer, offset: 0, owned: true }, bytes);
}

interface Place {
  readonly buffer: bigint;
  /** Bytes from its start. */
  readonly offset: number;
  owned: boolean;
}

/** A buffer, or a part of one. */
export class MetalMemory implements Memory {
  readonly address: bigint;
  readonly #queue: MetalQueue;
  readonly #place: Place;

  constructor(queue: MetalQueue, place: Place, readonly bytes: number) {
    this.#queue = queue;
    this.#place = place;
    const start = queue.objc.send(place.buffer, "gpuAddress");
    this.address = start + BigInt(place.offset);
  }

  /** The `MTLBuffer`, and where in it this begins. */
  get place(): { readonly buffer: bigint; readonly offset: number } {
    return this.#place;
  }

  upload(from: Bytes): void {
    this.#within(0, from.byteLength);
    this.#queue.wait();
    this.#host(from.byteLength)?.set(from);
  }

  download(): Bytes {
    this.#queue.wait();
    return this.#host(this.bytes)?.slice() ?? new Uint8Array();
  }

  fill(byte: number): void {
    if (this.bytes === 0) return;
    const { objc } = this.#queue;
    const { buffer, offset } = this.#place;
    const range = new BigUint64Array([BigInt(offset), BigInt(this.bytes)]);
    objc.calls.fill(
      this.#queue.encoder("blitCommandEncoder"),
      objc.sel("fillBuffer:range:value:"),
      buffer,
      new Uint8Array(range.buffer),
      byte,
    );
  }

  slice(offset: number, bytes: number): Memory {
    this.#within(offset, bytes);
    const { buffer, offset: start } = this.#place;
    const place = { buffer, offset: start + offset, owned: false };
    return new MetalMemory(this.#queue, place, bytes);
  }

  /** The first `bytes` of it, as they lie in memory. */
  #host(bytes: number): Bytes | undefined {
    if (bytes === 0) return undefined;
    const { buffer, offset } = this.#place;
    const start = this.#queue.objc.send(buffer, "contents");
    const pointer = Deno.UnsafePointer.create(start + BigInt(offset))!;
    return new Uint8Array(
      Deno.UnsafePointerView.getArrayBuffer(pointer, bytes),
    );
  }

  #within(offset: number, bytes: number): void {
    if (offset >= 0 && bytes >= 0 && offset + bytes <= this.bytes) return;
    throw new RangeError(
      `Cannot use bytes ${offset} to ${
        offset + bytes
      } of device memory: it has ${this.bytes}`,
    );
  }

  [Symbol.dispose](): void {
    if (!this.#place.owned) return;
    this.#place.owned = false;
    // A command buffer that still uses it keeps it.
    this.#queue.objc.release(this.#place.buffer);
  }
}
