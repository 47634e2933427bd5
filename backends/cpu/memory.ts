/**
 * Host memory as device memory.
 *
 * @module
 */

import type { Memory } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";

/** Bytes; a cache line, and the widest vector. */
const ALIGNMENT = 64;

/** Bytes that are taken without asking what the system has left. */
const UNASKED = 1 << 28;

/** Bytes below which memset keeps what it writes in the cache, on every libc in use. */
const PIECE = 1 << 16;

/** An array buffer, or a part of one. */
export class CpuMemory implements Memory {
  readonly address: bigint;

  private constructor(
    readonly host: Uint8Array<ArrayBuffer>,
    private readonly owns: boolean,
  ) {
    this.address = addressOf(host);
  }

  /** `bytes` of zeros. @throws {CaseError} `oom`, where the machine has no such room. */
  static alloc(bytes: number): CpuMemory {
    // Linux hands out more than it has, and kills the process that then uses it.
    if (bytes > UNASKED && bytes > Deno.systemMemoryInfo().available) {
      throw outOfMemory(bytes, "the machine has less free");
    }
    try {
      // Zero bytes have no address.
      const raw = new ArrayBuffer(Math.max(bytes, 1) + ALIGNMENT - 1);
      const past = Number(addressOf(new Uint8Array(raw)) % BigInt(ALIGNMENT));
      const offset = (ALIGNMENT - past) % ALIGNMENT;
      return new CpuMemory(new Uint8Array(raw, offset, bytes), true);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw outOfMemory(bytes, error.message);
    }
  }

  get bytes(): number {
    return this.host.length;
  }

  upload(from: Uint8Array<ArrayBuffer>): void {
    this.host.set(from);
  }

  download(): Uint8Array<ArrayBuffer> {
    return this.host.slice();
  }

  fill(byte: number): void {
    // In pieces: memset writes a large block past the cache, and a flush by it would leave
    // what is in the cache there.
    for (let at = 0; at < this.bytes; at += PIECE) {
      this.host.fill(byte, at, at + PIECE);
    }
  }

  slice(offset: number, bytes: number): Memory {
    if (offset + bytes > this.bytes) {
      throw new RangeError(
        `Cannot slice ${bytes} bytes at ${offset} out of ${this.bytes}`,
      );
    }
    return new CpuMemory(this.host.subarray(offset, offset + bytes), false);
  }

  /** Detaches the buffer, which frees it now instead of at some garbage collection. */
  [Symbol.dispose](): void {
    if (this.owns && !this.host.buffer.detached) this.host.buffer.transfer(0);
  }
}

function outOfMemory(bytes: number, why: string): CaseError {
  return new CaseError(
    "oom",
    `Cannot allocate ${bytes} bytes of host memory: ${why}`,
  );
}

function addressOf(bytes: Uint8Array<ArrayBuffer>): bigint {
  return bytes.length === 0
    ? 0n
    : Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
}
