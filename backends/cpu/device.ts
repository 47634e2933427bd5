/**
 * The opened CPU: memory, shared libraries, intervals.
 *
 * @module
 */

import os from "node:os";
import type { Blas } from "../../bench/device/blas.ts";
import type {
  Device,
  DeviceInfo,
  Fence,
  Interval,
  Module,
  Program,
  Telemetry,
  Watch,
} from "../../bench/device/device.ts";
import type { Arg, Memory, Step } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { addressOf, demandWithin } from "../shared/ffi.ts";
import { openFence, pointerOf } from "./fence.ts";
import { openBlas } from "./openblas.ts";
import { openProcessState } from "./process_state.ts";

/** The C type of each kind of argument. */
const NATIVE = {
  memory: "pointer",
  bytes: "pointer",
  i32: "i32",
  early: "i32",
  u32: "u32",
  i64: "i64",
  f32: "f32",
  f64: "f64",
} as const satisfies Record<Arg["kind"], Deno.NativeType>;

type Native = Deno.PointerValue | number | bigint;

/** The CPU as a device. */
export class CpuDevice implements Device {
  readonly #state = openProcessState();
  #blas: { readonly blas?: Blas; readonly reason: string } | undefined;

  constructor(
    readonly info: DeviceInfo,
    private readonly libraries: readonly string[],
  ) {}

  alloc(bytes: number): Memory {
    return CpuMemory.alloc(bytes);
  }

  load(binary: string): Module {
    return new CpuModule(binary);
  }

  interval(): Interval {
    let [start, end] = [NaN, NaN];
    const state = this.#state;
    return {
      measure(work) {
        start = performance.now();
        work();
        end = performance.now();
        state?.settleTimed(end - start);
      },
      // The clock has nanoseconds; its milliseconds have digits below them that mean nothing.
      nanoseconds: () => Math.round((end - start) * 1e6),
      [Symbol.dispose]() {},
    };
  }

  /** Nothing to wait for: a step is done when `enqueue` returns. */
  synchronize(): void {
    this.#state?.settle();
  }

  watch(): Watch {
    return this.#state?.watch() ??
      { warm() {}, left: () => [], spoilt: () => false };
  }

  used(): readonly number[] {
    return this.#state?.used() ?? [];
  }

  /** The fastest core's clock, where the system tells it. */
  telemetry(): Telemetry {
    const mhz = Math.max(0, ...os.cpus().map(({ speed }) => speed));
    return mhz > 0 ? { sm_mhz: mhz } : {};
  }

  fence(instruments: Module): Fence | undefined {
    return instruments instanceof CpuModule
      ? openFence(instruments.binary, CpuMemory.at)
      : undefined;
  }

  get blas(): Blas | undefined {
    return this.#open().blas;
  }

  get blasReason(): string {
    return this.#open().reason;
  }

  #open() {
    return this.#blas ??= openBlas(this.libraries, this.info.units);
  }

  [Symbol.dispose](): void {}
}

/** A loaded shared library. Each list of argument types opens it once more. */
class CpuModule implements Module {
  readonly #opened = new Map<string, Deno.DynamicLibrary<Calls>>();

  constructor(readonly binary: string) {}

  program(entry: string): Program {
    // As a variable a symbol can be looked up before its parameters are known.
    this.#dlopen(entry, { [entry]: { type: "pointer" } }).close();
    return {
      step: (args): Step => {
        const call = this.#entry(entry, args.map(({ kind }) => NATIVE[kind]));
        // Bytes are copied here, where their step keeps them alive.
        const kept = args.map(hold);
        const values = kept.map(({ value }) => value);
        return {
          label: entry,
          capturable: false,
          enqueue: () => call(...values),
        };
      },
    };
  }

  #entry(entry: string, parameters: Deno.NativeType[]) {
    const key = [entry, ...parameters].join(" ");
    let library = this.#opened.get(key);
    if (library === undefined) {
      const symbols: Calls = { [entry]: { parameters, result: "void" } };
      library = this.#dlopen(entry, symbols);
      this.#opened.set(key, library);
    }
    return library.symbols[entry] as (...values: Native[]) => void;
  }

  #dlopen<S extends Deno.ForeignLibraryInterface>(entry: string, symbols: S) {
    try {
      return Deno.dlopen(this.binary, symbols);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // Of a missing function deno and the system name the library, not what is to be mended.
      const why = error.message.startsWith("Failed to register symbol")
        ? "its source has no function of that name that is not static"
        : error.message.split("\n")[0];
      throw new CaseError("launch", `Cannot load ${entry}: ${why}`, {
        cause: error,
      });
    }
  }

  [Symbol.dispose](): void {
    for (const library of this.#opened.values()) library.close();
    this.#opened.clear();
  }
}

type Calls = Record<string, Deno.ForeignFunction>;

function hold(arg: Arg): { readonly value: Native; readonly owner?: Memory } {
  if (arg.kind === "memory") {
    return { value: pointerOf(arg.memory), owner: arg.memory };
  }
  if (arg.kind === "early") return { value: 0 };
  if (arg.kind === "i64") return { value: BigInt(arg.value) };
  if (arg.kind !== "bytes") return { value: arg.value };
  const owner = CpuMemory.alloc(arg.bytes.length);
  owner.upload(arg.bytes);
  return { value: pointerOf(owner), owner };
}

/** Bytes; a cache line, and the widest vector. */
const ALIGNMENT = 64;

/** Bytes that are taken without asking what the system has left. */
const UNASKED = 1 << 28;

/** Bytes below which memset keeps what it writes in the cache, on every libc in use. */
const PIECE = 1 << 16;

/** An array buffer, or a part of one. */
class CpuMemory implements Memory {
  readonly address: bigint;

  private constructor(
    readonly host: Uint8Array<ArrayBuffer>,
    private readonly owns: boolean,
  ) {
    this.address = addressOf(host.buffer, host.byteOffset);
  }

  /** `bytes` of zeros. @throws {CaseError} `oom`, where the machine has no such room. */
  static alloc(bytes: number): CpuMemory {
    const refuse = (why: string) =>
      new CaseError(
        "oom",
        `Cannot allocate ${bytes} bytes of host memory: ${why}`,
      );
    // Linux hands out more than it has, and kills the process that then uses it.
    if (bytes > UNASKED && bytes > Deno.systemMemoryInfo().available) {
      throw refuse("the machine has less free");
    }
    try {
      // Zero bytes have no address.
      const raw = new ArrayBuffer(Math.max(bytes, 1) + ALIGNMENT - 1);
      const offset = Number(-addressOf(raw) & BigInt(ALIGNMENT - 1));
      return new CpuMemory(new Uint8Array(raw, offset, bytes), true);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw refuse(error.message);
    }
  }

  /** The `bytes` at `data`, which somebody else owns. */
  static at(data: Deno.PointerObject, bytes: number): CpuMemory {
    const buffer = Deno.UnsafePointerView.getArrayBuffer(data, bytes);
    return new CpuMemory(new Uint8Array(buffer), false);
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

  copyFrom(from: Memory): void {
    this.host.set(from.host!);
  }

  slice(offset: number, bytes: number): Memory {
    demandWithin(this, offset, bytes);
    return new CpuMemory(this.host.subarray(offset, offset + bytes), false);
  }

  /** Detaches the buffer, which frees it now instead of at some garbage collection. */
  [Symbol.dispose](): void {
    if (this.owns && !this.host.buffer.detached) this.host.buffer.transfer(0);
  }
}
