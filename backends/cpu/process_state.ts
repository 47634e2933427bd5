/**
 * Looks at the state of this process that kernels share with the harness: the floating-point
 * environment, alarms, limits, signals, files, threads and child processes.
 *
 * @module
 */

import type { Watch } from "../../bench/device/device.ts";
import { MARK } from "../../bench/files/run_program.ts";
import { addressOf, type Bytes } from "../shared/ffi.ts";
import { ProcFiles, STDOUT } from "./proc_files.ts";

const p = "buffer" as const;
const LIBC = {
  getitimer: { parameters: ["i32", p], result: "i32" },
  getrlimit: { parameters: ["i32", p], result: "i32" },
  sigaction: { parameters: ["i32", "usize", p], result: "i32" },
  waitid: { parameters: ["i32", "u32", p, "i32"], result: "i32" },
  getcwd: { parameters: [p, "usize"], result: "pointer" },
  // Not a function of its own before glibc 2.33.
  fstat: { parameters: ["i32", p], result: "i32", optional: true },
  prctl: {
    parameters: ["i32", "usize", "usize", "usize", "usize"],
    result: "i32",
    optional: true,
  },
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
  /** The signal of a child's end. */
  readonly child: number;
  /** Options of `waitid`: ended children too, without waiting and without taking them. */
  readonly wait: number;
  /**
   * Where `fenv_t` has bits that control arithmetic, by architecture: offset and mask. On x86-64 Linux
   * also which registers of the x87 are taken, as MMX leaves them without EMMS: later sums in `long
   * double` are NaN.
   */
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
    signals: [4, 5, 6, 7, 8, 11, 13, 14, 24, 26, 27],
    child: 17,
    wait: 0x0100_0005,
    control: {
      x86_64: [[0, 0xffff], [8, 0xffff], [28, 0xffc0]],
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
    signals: [4, 5, 6, 8, 10, 11, 13, 14, 24, 26, 27],
    child: 20,
    wait: 0x25,
    control: {
      x86_64: [[0, 0xffff], [4, 0xffc0]],
      aarch64: [[8, 0xffff_ffff]],
    },
  },
};

const TIMERS = ["an alarm", "a virtual timer", "a profiling timer"];
const P_ALL = 0;
const [PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER] = [1, 36];
/** What `prctl` writes as an `int`. */
const PR_GET = [
  ["another signal after the end of its parent", 2],
  ["another parent of its orphans", 37],
] as const;
/** The limit of open files in `getrlimit`, on Linux. */
const RLIMIT_NOFILE = 7;
/**
 * Files that calls may open and keep once, as a library does, or a thread of JavaScript, which has
 * six. Of a kernel that keeps one a call there are more: after its first calls it is called 10 times
 * or more.
 */
const KEPT_FILES = 8;
const SIGKILL = 9n;
const SIG_IGN = 1n;

/** Fields of `/proc/self/status`. */
const PROC_STATUS = [
  ["file mode mask", "Umask"],
  ["signal mask", "SigBlk"],
  ["user", "Uid"],
  ["group", "Gid"],
  ["set of capabilities", "CapEff"],
  ["right to new privileges", "NoNewPrivs"],
  ["filter of system calls", "Seccomp"],
  ["amount of locked memory", "VmLck"],
] as const;

/** Files of a process that its parent gave it, by their descriptors. */
const STANDARD = ["standard input", "standard output", "standard error"];
/** Bytes of `struct stat` that tell one file from another: device and inode. */
const STAT_IDENTITY = 16;

/**
 * Milliseconds in which a pool's threads do nothing, and how often that is waited for: those of LLVM's
 * OpenMP wait for work for 200 ms.
 */
const [QUIET_MS, QUIET_TURNS] = [12, 25];

/**
 * An inspection that takes more than this factor of the usual time counts as late: a call still
 * computes. With a cold cache it takes up to 6 times the usual time, and one in 200 is interrupted.
 */
const LATE = 20;
/** A kernel is reported to work on after its calls from so many late inspections, and this share of all. */
const [LEAST_LATE, LATE_SHARE] = [8, 1 / 16];
/** Inspections of which the fastest is the usual time. */
const USUAL_TURNS = 8;

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

/**
 * Has the orphans of this process's descendants become its children, on Linux with glibc: so it
 * finds them, whatever they and their parents changed.
 */
export function adoptOrphans(): void {
  if (Deno.build.os !== "linux") return;
  try {
    const { prctl } = Deno.dlopen("libc.so.6", LIBC).symbols;
    prctl?.(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n);
  } catch (error) {
    // Another C library: orphans are found by the mark in their environment alone.
    if (!(error instanceof Error)) throw error;
  }
}

type Calls =
  & Deno.DynamicLibrary<typeof LIBC>["symbols"]
  & Deno.DynamicLibrary<typeof LIBM>["symbols"];

/** What of this process calls may change. */
class ProcessState {
  readonly #environment = new Uint8Array(64);
  readonly #now = new Uint8Array(64);
  readonly #stat = new Uint8Array(256);
  readonly #proc = ProcFiles.open();
  readonly #parent = Deno.ppid;
  /** Of standard output. */
  readonly #output: Bytes;
  /** Handlers of {@linkcode System.signals} when it was watched last. */
  readonly #handlers: Uint32Array;
  readonly #action = new Uint32Array(64);
  readonly #actionBytes = new Uint8Array(this.#action.buffer);
  /** Signals whose handler a timed call replaced. */
  readonly #replaced = new Set<number>();
  /** Milliseconds of the fastest inspection. */
  #usualMs = Infinity;
  /** Timed calls, and those followed by a late inspection. */
  #timed = 0;
  #late = 0;
  #changed: string | undefined;
  #lostOutput = false;

  constructor(readonly system: System, readonly call: Calls) {
    call.fegetenv(this.#environment);
    this.#handlers = new Uint32Array(2 * system.signals.length);
    this.#fileAt(STDOUT);
    this.#output = this.#stat.slice(0, STAT_IDENTITY);
    // A daemon that a kernel starts becomes a child of this process, and is seen.
    if (Deno.build.os === "linux") {
      call.prctl?.(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n);
      // A kernel that kills the parent of each call kills no stranger with the second.
      if (Deno.env.get(MARK)) {
        call.prctl?.(PR_SET_PDEATHSIG, SIGKILL, 0n, 0n, 0n);
      }
    }
  }

  #noteHandlers(): void {
    for (const [i, signal] of this.system.signals.entries()) {
      this.call.sigaction(signal, 0n, this.#actionBytes);
      this.#handlers.set(this.#action.subarray(0, 2), 2 * i);
    }
  }

  /** Returns whether standard output is the file that it was. */
  #isOutputKept(): boolean {
    if (this.call.fstat!(STDOUT, this.#stat) !== 0) return false;
    for (let i = 0; i < STAT_IDENTITY; i++) {
      if (this.#stat[i] !== this.#output[i]) return false;
    }
    return true;
  }

  /** Returns whether the bits `control` of the environments are the same. */
  #isControlKept(control: System["control"][string]): boolean {
    for (const [offset, mask] of control) {
      for (let i = 0; i < 4; i++) {
        const changed = this.#environment[offset + i]! ^ this.#now[offset + i]!;
        if ((changed & (mask >>> 8 * i)) !== 0) return false;
      }
    }
    return true;
  }

  /**
   * Restores the floating-point environment and standard output where a call changed them. It cannot
   * free registers of the x87, but reports them. Makes no garbage after each call: new pages of the
   * heap would pass for a leak of the kernel.
   */
  settle(): void {
    const { call, system } = this;
    // Rows are written there.
    if (call.fstat && !this.#isOutputKept()) {
      this.#lostOutput = true;
      this.#proc?.restoreOutput();
    }
    call.fegetenv(this.#now);
    if (this.#isControlKept(system.control[Deno.build.arch] ?? [])) return;
    this.#changed = `${this.#control(this.#environment)} to ${
      this.#control(this.#now)
    }`;
    this.call.fesetenv(this.#environment);
  }

  /**
   * Calls {@linkcode settle} after a timed call of `ms` milliseconds, and records signal handlers that
   * the call replaced: one may compute an output when it is read. Only timed calls count, because the
   * program itself replaces handlers between others.
   * A handler that computes during the first system call may be removed before it is seen; the
   * inspection then takes longer than usual.
   */
  settleTimed(ms: number): void {
    const start = performance.now();
    this.#inspect();
    const took = performance.now() - start;
    this.#timed++;
    if (took > LATE * this.#usualMs && took > ms) this.#late++;
  }

  #inspect(): void {
    const { call, system: { signals } } = this;
    for (let i = 0; i < signals.length; i++) {
      call.sigaction(signals[i]!, 0n, this.#actionBytes);
      const isKept = this.#action[0] === this.#handlers[2 * i] &&
        this.#action[1] === this.#handlers[2 * i + 1];
      if (!isKept) this.#replaced.add(signals[i]!);
    }
    this.settle();
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
    this.#lostOutput = false;
    this.#noteHandlers();
    for (let i = 0; i < USUAL_TURNS; i++) {
      const start = performance.now();
      this.#inspect();
      this.#usualMs = Math.min(this.#usualMs, performance.now() - start);
    }
    this.#replaced.clear();
    this.#timed = this.#late = 0;
    const before = this.#shared();
    const waiting = this.#proc?.waiting() ?? [];
    const surroundings = this.#surroundings();
    const own = new Set(this.#proc?.tasks());
    let threads = Infinity;
    const count = () => this.#proc?.tasks().length ?? 0;
    const start = this.#proc?.openFiles() ?? Infinity;
    let files = Infinity;
    return {
      warm: () => {
        threads = count();
        // Those that cannot be listed are as many as there can be.
        files = this.#proc?.openFiles() ?? start;
      },
      left: () => {
        this.settle();
        const now = this.#shared();
        const replaced = new Set([...this.#replaced].map(handlerOf));
        const more = count() - threads;
        const moreFiles = (this.#proc?.openFiles() ?? this.#mostFiles()) -
          files;
        const open = this.#proc?.waiting() ?? waiting;
        const closed = waiting.filter((one) => !open.includes(one)).length;
        return [
          ...(this.#changed === undefined ? [] : [
            `changed the floating-point environment (control bits ${this.#changed})`,
          ]),
          // What cannot be read, as with no file left to open, is empty.
          ...[...now].filter(([name, value]) =>
            replaced.has(name) || value !== "" && before.get(name) !== value
          )
            .map(([name]) => `left ${name} behind`),
          ...(this.#late >= LEAST_LATE && this.#late > LATE_SHARE * this.#timed
            ? ["worked on after its timed calls had returned"]
            : []),
          ...(this.#lostOutput
            ? ["left another file as standard output behind"]
            : []),
          ...(closed > 0
            ? [`closed descriptors of the program (${closed})`]
            : []),
          ...(more > 0
            ? [`left ${more} more thread${more > 1 ? "s" : ""} running`]
            : []),
          ...(moreFiles > KEPT_FILES
            ? [`left ${moreFiles} more files open`]
            : []),
        ];
      },
      spoilt: () => surroundings !== this.#surroundings(),
      working: () => this.#busy(own),
    };
  }

  /** The files that this process may have open. */
  #mostFiles(): number {
    const limits = new BigUint64Array(2);
    this.call.getrlimit(RLIMIT_NOFILE, new Uint8Array(limits.buffer));
    return Number(limits[0]);
  }

  /** What kernels may change, but not without others' noticing, as text. */
  #surroundings(): string {
    const environment = Object.entries(Deno.env.toObject())
      // Intel's OpenMP notes there that it was loaded.
      .filter(([name]) => !name.startsWith("__KMP_"))
      .toSorted();
    return JSON.stringify([environment, this.#proc?.status("Cpus_allowed")]);
  }

  /** Returns whether a thread that is not among `own` works on though nothing calls it. */
  #busy(own: ReadonlySet<string>): boolean {
    const proc = this.#proc;
    const more = proc?.tasks().filter((task) => !own.has(task)) ?? [];
    if (!proc || more.length === 0) return false;
    const look = () => more.map((task) => proc.activity(task));
    let before = look();
    for (let turn = 0; turn < QUIET_TURNS; turn++) {
      Atomics.wait(NEVER, 0, 0, QUIET_MS);
      const now = look();
      const quiet = now.every(({ ran, running }, i) =>
        !running && ran === before[i]!.ran
      );
      if (quiet) return false;
      before = now;
    }
    return true;
  }

  /** The bits of a `fenv_t` that control arithmetic. */
  #control(environment: Bytes): string {
    const view = new DataView(environment.buffer);
    return (this.system.control[Deno.build.arch] ?? []).map((
      [offset, mask],
    ) => `0x${((view.getUint32(offset, true) & mask) >>> 0).toString(16)}`)
      .join(" ");
  }

  /** Says which file a descriptor is; empty where that cannot be told. */
  #fileAt(fd: number): string {
    const { fstat } = this.call;
    if (!fstat) return "";
    if (fstat(fd, this.#stat) !== 0) return "closed";
    return `${this.#stat.subarray(0, STAT_IDENTITY)}`;
  }

  /** Alarms, limits, handlers, files and children, as text by name. */
  #shared(): ReadonlyMap<string, string> {
    const { call, system } = this;
    const all = new Map<string, string>();
    const bytes = new Uint8Array(256);
    TIMERS.forEach((name, which) => {
      // On macOS microseconds are an `int`, and what is beside it stays as it was.
      bytes.fill(0);
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
      all.set(handlerOf(signal), `${bytes.subarray(0, 8)}`);
    }
    all.set("another number of POSIX timers", `${this.#proc?.timers()}`);
    // Deno sets a handler of its own once it starts a program.
    const isKnown = call.sigaction(system.child, 0n, bytes) === 0;
    const isIgnored = new BigUint64Array(bytes.buffer)[0] === SIG_IGN;
    all.set("an ignored SIGCHLD", `${isKnown && isIgnored}`);
    STANDARD.forEach((name, fd) => {
      all.set(`another file as ${name}`, this.#fileAt(fd));
    });
    const cwd = call.getcwd(bytes, BigInt(bytes.length)) === null
      ? "gone"
      : `${bytes.subarray(0, bytes.indexOf(0))}`;
    all.set("another working directory", cwd);
    for (const [name, field] of PROC_STATUS) {
      all.set(`another ${name}`, this.#proc?.status(field) ?? "");
    }
    for (const [name, option] of this.#proc ? PR_GET : []) {
      bytes.fill(0, 0, 4);
      const address = addressOf(bytes.buffer, bytes.byteOffset);
      if (call.prctl?.(option, address, 0n, 0n, 0n) !== 0) continue;
      all.set(name, `${bytes.subarray(0, 4)}`);
    }
    all.set("another priority", this.#proc?.priority() ?? "");
    all.set("a dead parent", `${this.#proc?.lost(this.#parent)}`);
    // Fails where there is no child, running or ended.
    const children = call.waitid(P_ALL, 0, bytes, system.wait) === 0;
    all.set("a child process", `${children}`);
    return all;
  }
}

function handlerOf(signal: number): string {
  return `another handler of signal ${signal}`;
}

/** Waited for in vain. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));
