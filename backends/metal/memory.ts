/**
 * Buffers that an Apple GPU and the host share.
 *
 * @module
 */

import type { Memory } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { type Bytes, demandWithin } from "../shared/ffi.ts";
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

/** A buffer, or a part of one. */
export class MetalMemory implements Memory {
  readonly address: bigint;
  /** The `MTLBuffer`. */
  readonly buffer: bigint;
  /** Bytes from its start. */
  readonly offset: number;
  readonly #queue: MetalQueue;
  #owned: boolean;

  constructor(
    queue: MetalQueue,
    { buffer, offset, owned }: {
      readonly buffer: bigint;
      readonly offset: number;
      readonly owned: boolean;
    },
    readonly bytes: number,
  ) {
    [this.buffer, this.offset] = [buffer, offset];
    this.#queue = queue;
    this.#owned = owned;
    const start = queue.objc.send(buffer, "gpuAddress");
    this.address = start + BigInt(offset);
  }

  upload(from: Bytes): void {
    demandWithin(this, 0, from.byteLength);
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
    const { buffer, offset } = this;
    const range = new BigUint64Array([BigInt(offset), BigInt(this.bytes)]);
    objc.calls.fill(
      this.#queue.encoder("blitCommandEncoder"),
      objc.sel("fillBuffer:range:value:"),
      buffer,
      new Uint8Array(range.buffer),
      byte,
    );
  }

  copyFrom(from: Memory): void {
    demandWithin(this, 0, from.bytes);
    if (from.bytes === 0) return;
    if (!(from instanceof MetalMemory)) {
      throw new TypeError("Cannot copy memory of another device");
    }
    const { objc } = this.#queue;
    objc.calls.copy(
      this.#queue.encoder("blitCommandEncoder"),
      objc.sel(
        "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:",
      ),
      from.buffer,
      BigInt(from.offset),
      this.buffer,
      BigInt(this.offset),
      BigInt(from.bytes),
    );
  }

  slice(offset: number, bytes: number): Memory {
    demandWithin(this, offset, bytes);
    const at = this.offset + offset;
    const place = { buffer: this.buffer, offset: at, owned: false };
    return new MetalMemory(this.#queue, place, bytes);
  }

  /** The first `bytes` of it, as they lie in memory. */
  #host(bytes: number): Bytes | undefined {
    if (bytes === 0) return undefined;
    const { buffer, offset } = this;
    const start = this.#queue.objc.send(buffer, "contents");
    const pointer = Deno.UnsafePointer.create(start + BigInt(offset))!;
    return new Uint8Array(
      Deno.UnsafePointerView.getArrayBuffer(pointer, bytes),
    );
  }

  [Symbol.dispose](): void {
    // A command buffer that still uses it keeps it.
    if (this.#owned) this.#queue.objc.release(this.buffer);
    this.#owned = false;
  }
}
