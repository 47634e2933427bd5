/**
 * The harness's own kernels on a device: what makes its cache cold, its clocks high, and
 * its limits known.
 *
 * @module
 */

import type { BinaryCache } from "./binary_cache.ts";
import type { Backend, Device, Fence, Module, Reader } from "./device.ts";
import {
  type Arg,
  i32,
  i64,
  type LaunchShape,
  mem,
  type Memory,
  type Step,
} from "./queue.ts";
import { CaseError, UserError } from "../model/errors.ts";

/** Bytes that one block of the load kernel reads: 128 threads of 8 float4. */
const LOAD_BLOCK = 16 * 1024;
/** The same as a reader. */
const TILES: Reader = {
  entry: "load_only",
  threads: 128,
  blockBytes: LOAD_BLOCK,
};
const THREADS = 256;
/** Readers of every backend. */
const LOOPS = [1, 4, 8].map((perUnit): Reader => ({
  entry: "read_flush",
  threads: THREADS,
  perUnit,
  blockBytes: 16 * THREADS,
}));
const FILLER_ITERATIONS = 20_000;

/** The reason why the instruments cannot be built, and what cannot be done without them. */
export class Instruments implements Disposable {
  readonly #scope = new DisposableStack();
  readonly #device: Device;
  readonly #backend: Backend;
  readonly #buffer: Memory;
  readonly #sink: Memory;
  readonly #module: Module | undefined;
  /** The reason why our kernels could not be built; empty where they were. */
  readonly missing: string;

  private constructor(
    device: Device,
    backend: Backend,
    module: Module | string,
  ) {
    this.#device = device;
    this.#backend = backend;
    this.#buffer = this.#scope.use(device.alloc(device.info.flushBytes));
    this.#buffer.fill(0);
    this.#sink = this.#scope.use(device.alloc(4096));
    if (typeof module === "string") this.missing = module;
    else {
      this.missing = "";
      this.#module = this.#scope.use(module);
    }
  }

  /** Builds and loads them; without a compiler, all but the zeroing flush is missing. */
  static async open(
    device: Device,
    { backend, cache }: { backend: Backend; cache: BinaryCache },
  ): Promise<Instruments> {
    const build = { source: backend.instruments, defines: {} };
    try {
      const built = await cache.get(build, backend, device.info.arch);
      const module = device.load(cache.copyOf(built));
      return new Instruments(device, backend, module);
    } catch (error) {
      if (!(error instanceof CaseError) || error.failure !== "compile") {
        throw error;
      }
      return new Instruments(device, backend, error.message);
    }
  }

  /** Opens a fence, where the device has one. */
  fence(): Fence | undefined {
    return this.#module && this.#device.fence?.(this.#module);
  }

  /** Bytes that a flush writes or reads. */
  get flushBytes(): number {
    return this.#buffer.bytes;
  }

  /**
   * Returns the flush that makes the cache cold.
   *
   * @throws {UserError} For `read` without kernels.
   */
  flush(kind: "zero" | "read"): () => void {
    if (kind === "zero") return () => this.#buffer.fill(0);
    if (this.missing) {
      throw new UserError(
        `--flush read needs a compiler for ${this.#device.info.arch}: ${this.missing}; use --flush zero`,
      );
    }
    const step = this.#step("read_flush", {
      args: [mem(this.#buffer), i64(this.#buffer.bytes), mem(this.#sink)],
      blocks: this.#device.info.units * 8,
    });
    return () => step.enqueue();
  }

  /** Arithmetic on all units for a fraction of a millisecond; a flush without kernels. */
  filler(): () => void {
    if (this.missing) return () => this.#buffer.fill(0);
    const step = this.#step("filler", {
      args: [mem(this.#sink), i32(FILLER_ITERATIONS)],
      blocks: this.#device.info.units * 2,
    });
    return () => step.enqueue();
  }

  /** A launch that does nothing, and so may start early. */
  empty(): Step {
    return this.#step("empty", {
      args: [],
      blocks: 1,
      threads: 32,
      waits: true,
    });
  }

  /** Queues an empty launch; missing without kernels. */
  nudge(): () => void {
    if (this.missing) return () => {};
    const step = this.empty();
    return () => step.enqueue();
  }

  /** A launch that reads `bytes` of memory and does nothing else. */
  load(bytes: number): Step {
    return this.#reads(TILES, this.#buffer, bytes);
  }

  /**
   * Returns all launches that read the `bytes` of `memory` and do nothing else: which one is the
   * fastest depends on the device and the size.
   */
  loads(memory: Memory): readonly Step[] {
    const others = this.#backend.readers?.(this.#device.info.arch) ?? LOOPS;
    return [TILES, ...others].map((reader) =>
      this.#reads(reader, memory, memory.bytes)
    );
  }

  #reads(
    { entry, threads, blockBytes, perUnit = Infinity, ...reader }: Reader,
    memory: Memory,
    bytes: number,
  ): Step {
    const { sharedBytes = 0, parameters = [] } = reader;
    const most = perUnit * this.#device.info.units;
    return this.#step(entry, {
      args: [
        ...[mem(memory), i64(bytes), mem(this.#sink)],
        ...parameters.map(i32),
      ],
      blocks: Math.min(most, Math.ceil(bytes / blockBytes)),
      // Nothing writes what it reads.
      threads,
      sharedBytes,
      waits: true,
    });
  }

  #step(
    entry: string,
    { args, blocks, threads = THREADS, ...shape }:
      & { args: readonly Arg[]; blocks: number; threads?: number }
      & Pick<LaunchShape, "sharedBytes" | "waits">,
  ): Step {
    if (!this.#module) {
      throw new CaseError(
        "compile",
        `Cannot run the harness's own kernel ${entry}: ${this.missing}`,
      );
    }
    return this.#module.program(entry).step(args, {
      grid: [blocks, 1, 1],
      block: [threads, 1, 1],
      ...shape,
    });
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}
