/**
 * Metal's command queue: work is gathered in a command buffer, which is committed when it is
 * waited for, when it is long, and before and after what is timed.
 *
 * @module
 */

import { CallError } from "../shared/driver/checked.ts";
import type { Objc } from "./objc.ts";

/** Steps after which a command buffer is committed, so that the GPU starts on it. */
const MOST_STEPS = 64;
/** MTLCommandBufferStatusError and MTLCommandBufferErrorOutOfMemory of MTLCommandBuffer.h. */
const STATUS_ERROR = 5n;
const OUT_OF_MEMORY = 8;

/** MTLCommandBufferError. */
const ERRORS: Readonly<Record<number, string>> = {
  1: "Internal",
  2: "Timeout",
  3: "PageFault",
  4: "AccessRevoked",
  7: "NotPermitted",
  8: "OutOfMemory",
  9: "InvalidResource",
  10: "Memoryless",
  11: "DeviceRemoved",
  12: "StackOverflow",
};

/** Gathers work: in a compute encoder dispatches follow one another, as do encoders. */
type Kind = "computeCommandEncoder" | "blitCommandEncoder";

/** A queue of one device. */
export class MetalQueue implements Disposable {
  #buffer = 0n;
  #encoder = 0n;
  #kind: Kind | undefined;
  #steps = 0;
  #flying: bigint[] = [];
  #taken: bigint[] | undefined;

  /** Takes the queue `handle` over. */
  constructor(readonly objc: Objc, readonly handle: bigint) {}

  /** The encoder to give one step to. */
  encoder(kind: Kind): bigint {
    if (this.#steps >= MOST_STEPS && !this.#taken) this.commit();
    this.#steps++;
    if (this.#kind === kind) return this.#encoder;
    this.#endEncoding();
    const buffer = this.#open();
    this.#encoder = this.#retained(buffer, kind);
    this.#kind = kind;
    return this.#encoder;
  }

  /** The command buffer, without an encoder, to give one step to that encodes itself. */
  buffer(): bigint {
    if (this.#steps >= MOST_STEPS && !this.#taken) this.commit();
    this.#steps++;
    this.#endEncoding();
    return this.#open();
  }

  #open(): bigint {
    if (this.#buffer !== 0n) return this.#buffer;
    // The queue makes a caller wait where 64 are under way.
    return this.#buffer = this.#retained(this.handle, "commandBuffer");
  }

  /** Retains what `selector` of `object` returns. @throws {CallError} For nil. */
  #retained(object: bigint, selector: string): bigint {
    using _pool = this.objc.pool();
    const made = this.objc.send(this.objc.send(object, selector), "retain");
    if (made !== 0n) return made;
    throw new CallError("launch", `${selector}: nil`, 0);
  }

  #endEncoding(): void {
    if (this.#kind === undefined) return;
    this.objc.send(this.#encoder, "endEncoding");
    this.objc.release(this.#encoder);
    this.#kind = undefined;
  }

  /** Gives what was gathered to the GPU. */
  commit(): void {
    this.#endEncoding();
    this.#steps = 0;
    if (this.#buffer === 0n) return;
    const buffer = this.#buffer;
    this.#buffer = 0n;
    this.objc.send(buffer, "commit");
    this.#flying.push(buffer);
    if (this.#taken) this.#taken.push(this.objc.send(buffer, "retain"));
  }

  /**
   * Queues `work` in command buffers of its own, one unless it waits in between. They are
   * the caller's to release.
   */
  collect(work: () => void): readonly bigint[] {
    this.commit();
    const taken: bigint[] = this.#taken = [];
    try {
      work();
      this.commit();
    } catch (error) {
      for (const buffer of taken) this.objc.release(buffer);
      throw error;
    } finally {
      this.#taken = undefined;
    }
    return taken;
  }

  /** Waits for all work. @throws {CallError} Where some of it failed: what failed first. */
  wait(): void {
    this.commit();
    const flying = this.#flying;
    this.#flying = [];
    let first: CallError | undefined;
    for (const buffer of flying) {
      this.objc.send(buffer, "waitUntilCompleted");
      if (this.objc.send(buffer, "status") === STATUS_ERROR) {
        first ??= this.#errorOf(buffer);
      }
      this.objc.release(buffer);
    }
    if (first) throw first;
  }

  #errorOf(buffer: bigint): CallError {
    const { objc } = this;
    using _pool = objc.pool();
    const error = objc.send(buffer, "error");
    const code = Number(objc.send(error, "code"));
    const name = ERRORS[code]
      ? `MTLCommandBufferError${ERRORS[code]}`
      : "error";
    const text = objc.textOf(error, "localizedDescription");
    return new CallError(
      code === OUT_OF_MEMORY ? "oom" : "launch",
      `waitUntilCompleted: ${name} (${code}): ${text}`,
      code,
    );
  }

  [Symbol.dispose](): void {
    // Giving back never throws: what failed was told when it was waited for.
    this.#endEncoding();
    for (const buffer of [...this.#flying, this.#buffer]) {
      this.objc.release(buffer);
    }
    this.#flying = [];
    this.#buffer = 0n;
    this.objc.release(this.handle);
  }
}
