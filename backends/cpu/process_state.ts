/**
 * Looks at the state of this process that kernels share with the harness: the floating-point
 * environment, alarms, limits, signal handlers, threads and child processes.
 *
 * @module
 */

import type { Watch } from "../../bench/device/device.ts";
import { type Bytes, cstring } from "../shared/ffi.ts";

const p = "buffer" as const;
const LIBC = {
  getitimer: { parameters: ["i32", p], result: "i32" },
  getrlimit: { parameters: ["i32", p], result: "i32" },
  sigaction: { parameters: ["i32", "usize", p], result: "i32" },
  waitid: { parameters: ["i32", "u32", p, "i32"], result: "i32" },
  open: { parameters: [p, "i32"], result: "i32" },
  read: { parameters: ["i32", p, "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
  // Ten numbers of bytes; missing before glibc 2.33, and elsewhere.
  mallinfo2: {
    parameters: [],
    result: { struct: Array<"usize">(10).fill("usize") },
    optional: true,
  },
} as const satisfies Deno.ForeignLibraryInterface;
const LIBM = {
  fegetenv: { parameters: [p], result: "i32" },
  fesetenv: { parameters: [p], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The parts of a system that differ. */
interface System {
  readonly libc: string;
  readonly libm: string;
  readonly limits: Readonly<Record<number, string>>;
  /** Signals of faults, alarms and limits, which the program itself does not handle later on. */
  readonly signals: readonly number[];
  /** Options of `waitid`: ended children too, without waiting and without taking them. */
  readonly wait: number;
  /** Where `fenv_t` has bits that control arithmetic, by architecture: offset and mask. */
  readonly control: Readonly<
    Record<string, readonly (readonly [offset: number, mask: number])[]>
  >;
}

/** By the headers of glibc and of macOS. */
const SYSTEMS: Readonly<Record<string, System>> = {
  linux: {
    libc: "libc.so.6",
    libm: "libm.so.6",
    limits: {
      0: "CPU time",
      1: "file size",
      2: "data size",
      3: "stack size",
      6: "processes",
      7: "open files",
      8: "locked memory",
      9: "address space",
    },
    signals: [4, 5, 6, 7, 8, 11, 14, 24, 26, 27],
    wait: 0x0100_0005,
    control: {
      x86_64: [[0, 0xffff], [28, 0xffc0]],
      aarch64: [[0, 0xffff_ffff]],
    },
  },
  darwin: {
    libc: "/usr/lib/libSystem.B.dylib",
    libm: "/usr/lib/libSystem.B.dylib",
    limits: {
      0: "CPU time",
      1: "file size",
      2: "data size",
      3: "stack size",
      5: "address space",
      6: "locked memory",
      7: "processes",
      8: "open files",
    },
    signals: [4, 5, 6, 8, 10, 11, 14, 24, 26, 27],
    wait: 0x25,
    control: {
      x86_64: [[0, 0xffff], [4, 0xffc0]],
      aarch64: [[8, 0xffff_ffff]],
    },
  },
};

const TIMERS = ["an alarm", "a virtual timer", "a profiling timer"];
const P_ALL = 0;

/** Opens what can be looked at on this system; nothing elsewhere than on Linux and macOS. */
export function openProcessState(
  os: string = Deno.build.os,
): ProcessState | undefined {
  const system = SYSTEMS[os];
  if (!system) return undefined;
  try {
    const libc = Deno.dlopen(system.libc, LIBC).symbols;
    const libm = Deno.dlopen(system.libm, LIBM).symbols;
    return new ProcessState(system, { ...libc, ...libm });
  } catch (error) {
    // A system with another C library: its kernels are not looked at.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

type Calls =
  & Deno.DynamicLibrary<typeof LIBC>["symbols"]
  & Deno.DynamicLibrary<typeof LIBM>["symbols"];

/** What of this process calls may change. */
export class ProcessState {
  readonly #environment = new Uint8Array(64);
  readonly #now = new Uint8Array(64);
  #changed: string | undefined;

  constructor(readonly system: System, readonly call: Calls) {
    call.fegetenv(this.#environment);
  }

  /** Restores the floating-point environment where a call changed it. */
  settle(): void {
    this.call.fegetenv(this.#now);
    const [was, is] = [
      this.#control(this.#environment),
      this.#control(this.#now),
    ];
    if (was === is) return;
    this.#changed = `${was} to ${is}`;
    this.call.fesetenv(this.#environment);
  }

  /**
   * Bytes in use: of the process, and of its allocator. What is JavaScript's, and freed when its
   * collector likes, does not count.
   */
  used(): readonly number[] {
    const { rss, heapTotal, external } = Deno.memoryUsage();
    const info = this.call.mallinfo2?.();
    if (!info) return [rss - heapTotal - external];
    const view = new DataView(info.buffer);
    const field = (index: number) => Number(view.getBigUint64(8 * index, true));
    const [mapped, inUse] = [field(4), field(7)]; // hblkhd, uordblks
    return [rss - heapTotal - external, mapped + inUse - external];
  }

  /** Watches from now on. */
  watch(): Watch {
    this.#changed = undefined;
    const before = this.#shared();
    let threads = Infinity;
    return {
      warm: () => void (threads = this.#threads()),
      left: () => {
        this.settle();
        const now = this.#shared();
        const more = this.#threads() - threads;
        return [
          ...(this.#changed === undefined ? [] : [
            `changed the floating-point environment (control bits ${this.#changed})`,
          ]),
          ...[...now].filter(([name, value]) => before.get(name) !== value)
            .map(([name]) => `left ${name} behind`),
          ...(more > 0
            ? [`left ${more} more thread${more > 1 ? "s" : ""} running`]
            : []),
        ];
      },
    };
  }

  /** The bits of a `fenv_t` that control arithmetic. */
  #control(environment: Bytes): string {
    const view = new DataView(environment.buffer);
    return (this.system.control[Deno.build.arch] ?? []).map((
      [offset, mask],
    ) => `0x${((view.getUint32(offset, true) & mask) >>> 0).toString(16)}`)
      .join(" ");
  }

  /** Alarms, limits, handlers and children, as text by name. */
  #shared(): ReadonlyMap<string, string> {
    const { call, system } = this;
    const all = new Map<string, string>();
    const bytes = new Uint8Array(256);
    TIMERS.forEach((name, which) => {
      call.getitimer(which, bytes);
      // What is left of it changes, so only whether there is one is compared.
      all.set(name, `${bytes.subarray(0, 32).some((byte) => byte !== 0)}`);
    });
    for (const [which, name] of Object.entries(system.limits)) {
      call.getrlimit(Number(which), bytes);
      all.set(`another limit of ${name}`, `${bytes.subarray(0, 16)}`);
    }
    for (const signal of system.signals) {
      if (call.sigaction(signal, 0n, bytes) !== 0) continue;
      all.set(`another handler of signal ${signal}`, `${bytes.subarray(0, 8)}`);
    }
    // Fails where there is no child, running or ended.
    const children = call.waitid(P_ALL, 0, bytes, system.wait) === 0;
    all.set("a child process", `${children}`);
    return all;
  }

  /** Threads of this process; 0 where the system does not tell. */
  #threads(): number {
    const file = this.call.open(cstring("/proc/self/stat"), 0);
    if (file < 0) return 0;
    const bytes = new Uint8Array(1024);
    const count = Number(this.call.read(file, bytes, 1024n));
    this.call.close(file);
    // The second field, the program's name, ends with the last parenthesis.
    const text = new TextDecoder().decode(bytes.subarray(0, count));
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(fields[17]);
  }
}
