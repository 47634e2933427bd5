/**
 * A fake device whose clock advances only with its own work: no driver, no compiler, no noise.
 *
 * For tests of everything above the backends. A kernel's "source" is looked up by its
 * entry among functions given to {@linkcode fake}.
 *
 * @module
 */

import { setTimeout } from "node:timers/promises";
import type {
  Backend,
  Device,
  DeviceInfo,
  Graph,
  Interval,
  Module,
  Persisting,
  Placement,
  Telemetry,
} from "../../bench/device/device.ts";
import type {
  Arg,
  LaunchShape,
  Memory,
  Step,
} from "../../bench/device/queue.ts";
import type { Values } from "../../bench/model/grid.ts";
import { CaseError } from "../../bench/model/errors.ts";

/** Computes the outputs of a fake kernel from its arguments. */
export interface FakeKernel {
  /** Nanoseconds of a launch, by how often the entry ran before, its constants and arguments. */
  readonly ns:
    | number
    | ((
      launch: number,
      defines: Values,
      args: readonly Arg[],
      shape: LaunchShape,
    ) => number);
  /** The work itself. @default {none} */
  run?(args: readonly Arg[], shape: LaunchShape): void;
}

/** Kernels, timing and failures of a fake device. */
export interface FakeOptions {
  /** By entry name. */
  readonly kernels: Readonly<Record<string, FakeKernel>>;
  /** Bytes of memory. @default {1 GiB} */
  readonly memoryBytes?: number;
  /** Compiler errors by entry of a source's file name, e.g. `bad.cu`. */
  readonly compileErrors?: Readonly<Record<string, string>>;
  /** Milliseconds that its compiler takes. @default {0} */
  readonly compileMs?: number;
  /** The device's telemetry. @default {nothing} */
  telemetry?(): Telemetry;
  /** Its cache's part for lines that are kept. @default {there is none} */
  readonly persisting?: Persisting;
  /** How operands are placed. @default {one set, anywhere} */
  readonly placement?: Placement;
  /** Whether it is a part of the host, as a CPU is. @default {false} */
  readonly shared?: boolean;
  /**
   * Takes what the device does, in order: the entry of a launch, `graph` of a replay, `fill` or
   * `copy` and the bytes that are written, `start` and `end` of an interval, `synchronize`, and `read` of an interval.
   */
  log?(what: string): void;
}

/** Nanoseconds of a fill or a copy, so that a test sees whether a flush was timed. */
const FILL_NS = 10_000;

const INFO: DeviceInfo = {
  index: 0,
  name: "Fake GPU",
  arch: "fake_1",
  units: 4,
  cacheBytes: 4096,
  flushBytes: 16384,
  sharedBytes: 1 << 16,
  driver: "1.0",
};

const INSTRUMENTS: Readonly<Record<string, FakeKernel>> = {
  empty: { ns: 2000 },
  filler: { ns: 100_000 },
  read_flush: { ns: 8000 },
  // 2 µs and 1 byte a nanosecond: a device of 1 GB/s.
  load_only: { ns: 3000 },
};

/** A backend of one device, named `fake`. */
export function fake(options: FakeOptions): Backend {
  return {
    name: "fake",
    ...(options.placement ? { placement: options.placement } : {}),
    shared: options.shared ?? false,
    find: () => ({ devices: [INFO], reason: "" }),
    target: (arch) => ({ arch, extension: "fake", flags: ["-fake"] }),
    compiler: () => ({
      signature: "fakecc 1",
      async compile({ source, defines }, binary) {
        const file = source.pathname.split("/").at(-1)!;
        const log = options.compileErrors?.[file];
        if (log !== undefined) {
          throw new CaseError("compile", log.split("\n")[0]!, { cause: log });
        }
        await setTimeout(options.compileMs ?? 0);
        await Deno.writeTextFile(binary, JSON.stringify(defines));
        return "";
      },
    }),
    open: () => new FakeDevice(options),
    instruments: new URL("./fake.ts", import.meta.url),
  };
}

class FakeMemory implements Memory {
  constructor(
    readonly host: Uint8Array<ArrayBuffer>,
    /** Queues the time of a fill or a copy. */
    readonly moved: (what: string) => void,
    readonly free: () => void = () => {},
  ) {}
  get bytes(): number {
    return this.host.length;
  }
  get address(): bigint {
    return BigInt(this.host.byteOffset);
  }
  upload(from: Uint8Array<ArrayBuffer>): void {
    this.host.set(from);
  }
  download(): Uint8Array<ArrayBuffer> {
    return this.host.slice();
  }
  fill(byte: number): void {
    this.moved(`fill ${this.host.length}`);
    this.host.fill(byte);
  }
  copyFrom(from: Memory): void {
    this.moved(`copy ${from.bytes}`);
    this.host.set(from.host!);
  }
  slice(offset: number, bytes: number): Memory {
    return new FakeMemory(
      this.host.subarray(offset, offset + bytes),
      this.moved,
    );
  }
  [Symbol.dispose](): void {
    this.free();
  }
}

class FakeDevice implements Device {
  readonly info = INFO;
  #clock = 0;
  #used = 0;
  #waits = 0;
  #failed: CaseError | undefined;
  #recording: (() => void)[] | undefined;
  readonly #launches = new Map<string, number>();

  constructor(readonly options: FakeOptions) {}

  alloc(bytes: number): Memory {
    const room = this.options.memoryBytes ?? 2 ** 30;
    if (this.#used + bytes > room) {
      throw new CaseError(
        "oom",
        `Cannot allocate ${bytes} bytes: ${
          room - this.#used
        } of ${room} are free`,
      );
    }
    this.#used += bytes;
    return new FakeMemory(
      new Uint8Array(bytes),
      (what) =>
        this.#queue(() => {
          this.#log(what);
          this.#clock += FILL_NS;
        }),
      () => this.#used -= bytes,
    );
  }

  free(): number {
    return (this.options.memoryBytes ?? 2 ** 30) - this.#used;
  }

  load(binary: string): Module {
    const defines: Values = JSON.parse(Deno.readTextFileSync(binary));
    const kernels = { ...INSTRUMENTS, ...this.options.kernels };
    return {
      program: (entry) => {
        const kernel = kernels[entry];
        if (!kernel) {
          throw new CaseError("launch", `Cannot load ${entry}: no such entry`);
        }
        return {
          step: (args, shape) =>
            this.#step(entry, { kernel, args, shape, defines }),
        };
      },
      [Symbol.dispose]: () => {},
    };
  }

  #step(
    label: string,
    { kernel, args, shape, defines }: {
      kernel: FakeKernel;
      defines: Values;
      args: readonly Arg[];
      shape: LaunchShape;
    },
  ): Step {
    const launch = () => {
      this.#log(label);
      const before = this.#launches.get(label) ?? 0;
      this.#launches.set(label, before + 1);
      this.#clock += typeof kernel.ns === "number"
        ? kernel.ns
        : kernel.ns(before, defines, args, shape);
      try {
        kernel.run?.(args, shape);
      } catch (error) {
        // Like a real device: found out when somebody waits.
        if (!(error instanceof CaseError)) throw error;
        this.#failed ??= error;
      }
    };
    return {
      label,
      capturable: true,
      enqueue: () => this.#queue(launch),
      ...(shape.waits
        ? {
          early: () =>
            this.#queue(() => {
              this.#log("early");
              launch();
            }),
        }
        : {}),
    };
  }

  #log(what: string): void {
    this.options.log?.(what);
  }

  #queue(work: () => void): void {
    if (this.#recording) this.#recording.push(work);
    else work();
  }

  interval(): Interval {
    let ns = NaN;
    let waits = Infinity;
    return {
      measure: (work) => {
        this.#log("start");
        const start = this.#clock;
        work();
        ns = this.#clock - start;
        waits = this.#waits;
        this.#log("end");
      },
      nanoseconds: () => {
        this.#log("read");
        // Like a real device, whose markers have no time before they are reached.
        if (waits < this.#waits) return ns;
        throw new Error("Cannot read an interval: nobody waited for its end");
      },
      [Symbol.dispose]: () => {},
    };
  }

  get persisting(): Persisting | undefined {
    return this.options.persisting;
  }

  capture(work: () => void): Graph {
    const recorded: (() => void)[] = [];
    this.#recording = recorded;
    try {
      work();
    } finally {
      this.#recording = undefined;
    }
    return {
      launch: () => {
        this.#log("graph");
        recorded.forEach((step) => step());
      },
      [Symbol.dispose]: () => {},
    };
  }

  telemetry(): Telemetry {
    return this.options.telemetry?.() ?? {};
  }

  synchronize(): void {
    this.#log("synchronize");
    this.#waits++;
    const error = this.#failed;
    this.#failed = undefined;
    if (error) throw error;
  }

  [Symbol.dispose](): void {}
}
