/**
 * The interface of a device API, by which kernels are built, run and timed on it.
 *
 * One file in `backends/` implements {@linkcode Backend} for each API. Nothing outside
 * that folder knows which API is at work.
 *
 * @module
 */

import type { Blas } from "./blas.ts";
import type { Arg, LaunchShape, Memory, Step } from "./queue.ts";
import type { TensorBox, TensorShape } from "./tensor_shape.ts";
import { CaseError } from "../model/errors.ts";

export type { TensorBox, TensorShape, TensorType } from "./tensor_shape.ts";

/** One device, as found on this machine. */
export interface DeviceInfo {
  /** Its position among the devices of its backend. */
  readonly index: number;
  /** The vendor's name for it, e.g. `NVIDIA H200`. */
  readonly name: string;
  /** The name that no other device has, such as `GPU-5d5ba0d6-...`. Missing where nobody tells. */
  readonly uuid?: string;
  /** The compiler's target, e.g. `sm_90a`, `gfx942`, `x86_64-avx512`. */
  readonly arch: string;
  /** Multiprocessors, compute units or cores. */
  readonly units: number;
  /** Bytes of the last-level cache. */
  readonly cacheBytes: number;
  /** Bytes to overwrite so that no input stays in the last-level cache. */
  readonly flushBytes: number;
  /** Bytes of shared memory that one block may use; 0 where there is no such thing. */
  readonly sharedBytes: number;
  /** The driver's version, or the operating system's for a CPU. */
  readonly driver: string;
  /**
   * True if a launch may start before its predecessor ends (programmatic dependent launch).
   *
   * @default {false}
   */
  readonly overlaps?: boolean;
  /**
   * True if kernels can be given tensor maps: the device copies by them, and the driver makes
   * them.
   *
   * @default {false}
   */
  readonly tensorMaps?: boolean;
  /**
   * The clusters of 1, 2, 3, ... blocks that are on the device together, of blocks that each take a
   * multiprocessor, as its driver says. Missing before the device is open, and where nobody tells.
   */
  readonly clusters?: readonly number[] | undefined;
}

/** The devices that were found. */
export interface Found {
  readonly devices: readonly DeviceInfo[];
  /** The reason why there is none, and what would help; empty where there is one. */
  readonly reason: string;
}

/** A device API: how to build for it and how to open its devices. */
export interface Backend {
  /** The name in `--backend`, in file names and in every row. */
  readonly name: string;
  /** The devices present now. Never throws: a missing driver is a reason, not an error. */
  find(): Found;
  /** Returns the target for `arch`. Needs neither a device nor a compiler. */
  target(arch: string): Target;
  /**
   * The compiler for `arch`. Needs no device.
   *
   * @param build What it is to compile. It may name its compiler, or be a file that needs none.
   * @default {a source of the backend's language, by the first compiler that is found}
   * @throws {CaseError} `compile`, where no compiler is found, with all that was tried.
   */
  compiler(
    arch: string,
    build?: Pick<Build, "source" | "compiler">,
  ): Compiler;
  /** Opens a device; dispose it to give its memory back. */
  open(info: DeviceInfo): Device;
  /**
   * The number of times a device is opened before one opening is kept, where launches cost more in
   * some openings than in others.
   *
   * @default {1}
   */
  readonly openings?: number;
  /**
   * True if other processes' work shows in its times. The limits of such a device are
   * not measured: they would be those of a moment.
   *
   * @default {false}
   */
  readonly shared?: boolean;
  /** False if no device of it records graphs. @default {true, where its driver can} */
  readonly graphs?: false;
  /**
   * Whether a cold sample has operands that took turns with others, and not a flush before it:
   * where writing much does not empty the last-level cache.
   *
   * @default {false}
   */
  readonly rotates?: boolean;
  /** How operands are placed where times depend on their pages. @default {one set, anywhere} */
  readonly placement?: Placement;
  /**
   * Looks for what moves times on the device `info`, and opens nothing: `processes=2`,
   * `power_cap=500W`. Never throws. Missing where nothing can be looked for.
   */
  machine?(info: DeviceInfo): readonly string[];
  /**
   * Says what to install so that more of the kernels named `kernels` can be measured, one sentence
   * each. Never throws. Missing where rows say it soon enough.
   */
  lacks?(kernels: ReadonlySet<string>): readonly string[];
  /** The source of the harness's own kernels: filler, read flush, load curve. */
  readonly instruments: URL;
  /**
   * The kernels of {@linkcode Backend.instruments} for `arch` that only read memory, besides
   * `load_only`. @default {`read_flush`, in grids of several sizes}
   */
  readers?(arch: string): readonly Reader[];
}

/** Copies of a case's operands that take turns in cold samples, so that no place decides. */
export interface Placement {
  /** Copies at most: fewer where operands are large, and lie in many pages anyway. */
  readonly copies: number;
  /** Bytes of a page. No two operands share one. */
  readonly pageBytes: number;
}

/** A kernel that only reads memory. Its parameters: address, bytes, where nothing is written. */
export interface Reader {
  readonly entry: string;
  /** Threads of a block. */
  readonly threads: number;
  /** Bytes that are worth a block. */
  readonly blockBytes: number;
  /** Most blocks on a multiprocessor, where a block can read more. @default {any number} */
  readonly perUnit?: number;
  /** Dynamic shared memory of a block. @default {0} */
  readonly sharedBytes?: number;
  /** Further parameters, each an `int`. @default {none} */
  readonly parameters?: readonly number[];
}

/** The inputs of a build besides its source. */
export interface Target {
  readonly arch: string;
  /** The end of a binary's file name, e.g. `cubin`. */
  readonly extension: string;
  /** Flags that change the code, the same for every compiler of this backend. */
  readonly flags: readonly string[];
}

/** How a source is compiled, besides the flags that its backend gives every source. */
export interface BuildOptions {
  /** Flags of the compiler, after those of the backend: `["--use_fast_math"]`. */
  readonly flags?: readonly string[];
  /**
   * Folders of headers, after the source's own: `[new URL("./include/", import.meta.url)]`. The
   * headers that are found there are part of the kernel's hash.
   */
  readonly includes?: readonly URL[];
  /**
   * The compiler: `nvrtc`, `nvcc` or the path of an nvcc for `cuda`; a program for `cpu`, such as
   * `clang`. @default {the first that is found}
   */
  readonly compiler?: string;
}

/** One translation unit: a source file, its compile-time constants and how it is compiled. */
export interface Build extends BuildOptions {
  readonly source: URL;
  readonly defines: Readonly<Record<string, string | number>>;
}

/** A translation unit as text: equal for equal units. */
export function buildText(build: Build): string {
  const { source, defines, includes = [] } = build;
  return JSON.stringify([
    ...[source.href, Object.entries(defines).toSorted()],
    ...[...includes].map(String),
    ...optionsText(build),
  ]);
}

/** What a build adds to its hash: nothing where it has no options, as of the kernels here. */
export function optionsText({ flags = [], compiler }: BuildOptions): string[] {
  return [
    ...(flags.length > 0 ? [JSON.stringify(flags)] : []),
    ...(compiler === undefined ? [] : [compiler]),
  ];
}

/** Turns one source file into one binary. */
export interface Compiler {
  /** The tool and its version, e.g. `nvrtc 13.0`. */
  readonly signature: string;
  /**
   * Compiles `build` into the file `binary` and returns the tool's log.
   *
   * @throws {CaseError} `compile`: the message is the compiler's first error; `cause`
   * holds the whole log as a string.
   */
  compile(build: Build, binary: string): Promise<string>;
}

/** A loaded binary. */
export interface Module extends Disposable {
  /** @throws {CaseError} `launch`, where the binary has no such entry. */
  program(entry: string): Program;
}

/** An entry point of a binary. */
export interface Program {
  /** A launch with everything packed, so that giving it to the queue is one call. */
  step(args: readonly Arg[], shape: LaunchShape): Step;
}

/** A stretch of the queue whose duration can be read once the device is synchronised. */
export interface Interval extends Disposable {
  /** Queues `work` between two timestamps. */
  measure(work: () => void): void;
  /** Nanoseconds between them. */
  nanoseconds(): number;
}

/** A recorded sequence of steps that is queued as one. */
export interface Graph extends Disposable {
  launch(): void;
}

/** Clocks and the like, as the device reports them now. */
export interface Telemetry {
  readonly sm_mhz?: number;
  readonly mem_mhz?: number;
  /** At the moment; of AMD's GPUs as the driver averages it. */
  readonly power_w?: number;
  readonly temp_c?: number;
  /**
   * The vendor's reasons for a lowered clock since the last look, joined by `+`; empty where there
   * is none.
   */
  readonly throttle?: string;
}

/** The part of the last-level cache that is set aside for lines which a program asks to keep. */
export interface Persisting {
  /** Sets nothing aside. @throws {CaseError} `launch`, where the driver refuses. */
  forbid(): void;
  /** Returns the bytes that are set aside. */
  bytes(): number;
}

/** Looks at what calls leave behind in what they share with the harness. */
export interface Watch {
  /** Ends the first calls: a pool of threads that a kernel keeps is there from then on. */
  warm(): void;
  /** Says what calls left behind, a line each; nothing where all is as it was. */
  left(): readonly string[];
  /** Returns whether calls left what is no mistake, but may move other kernels' times. */
  spoilt(): boolean;
  /**
   * Returns whether a thread that calls started works on though nothing calls it: it may compute ahead.
   *
   * @default {such threads are not looked for}
   */
  working?(): boolean;
}

/** Places memory so that what kernels touch outside of it is seen. */
export interface Fence extends Disposable {
  /** @throws {CaseError} `oom`, with the bytes that were asked for. */
  alloc(bytes: number): Memory;
  /** Forbids kernels to write to `memory`, where the device can. */
  seal(memory: Memory): void;
  /**
   * Says what was forbidden and done to `memory`. Missing where that is a failed launch, which
   * `synchronize` throws.
   */
  seen?(memory: Memory): string | undefined;
}

/** An open device. Work is queued in order; nothing waits but `synchronize` and copies. */
export interface Device extends Disposable {
  readonly info: DeviceInfo;
  /** @throws {CaseError} `oom`, with the bytes that were asked for. */
  alloc(bytes: number): Memory;
  /** @param binary Path of a binary that this backend's compiler made. */
  load(binary: string): Module;
  interval(): Interval;
  /** Waits for all work. @throws {CaseError} `launch`, where some of it failed. */
  synchronize(): void;
  /** Missing where the API has no such part of the cache. */
  readonly persisting?: Persisting | undefined;
  /** Records what `work` queues. Missing where the API has no graphs. */
  capture?(work: () => void): Graph;
  /**
   * Describes the matrix or tensor that starts where `memory` does: 128 bytes, by which kernels
   * copy boxes of it. Missing where {@linkcode DeviceInfo.tensorMaps} is not set.
   *
   * @throws {CaseError} `launch`, where it is not within `memory`, or its address, pitch or box are
   * none that the driver takes.
   */
  tensorMap?(memory: Memory, shape: TensorShape | TensorBox): Arg;
  /** Reads clocks, power and temperature. Missing where nothing can be read. */
  telemetry?(): Telemetry;
  /**
   * Opens a fence. Missing where there is none; gives none where `instruments`, the harness's own
   * kernels, lack what it needs.
   */
  fence?(instruments: Module): Fence | undefined;
  /** Watches what kernels share with the harness. Missing where they share nothing. */
  watch?(): Watch;
  /** Bytes that can be allocated now. Missing where nobody tells. */
  free?(): number;
  /** Bytes that are taken now, by each count that shows a leak. Missing where nobody tells. */
  used?(): readonly number[];
  /** The vendor's matrix library; where it is missing, `blasReason` says why. */
  readonly blas?: Blas | undefined;
  /** The reason why {@linkcode Device.blas} is missing: every path that was tried. */
  readonly blasReason?: string | undefined;
}

/**
 * Makes a tensor map of `memory` on `device`.
 *
 * @throws {CaseError} `unsupported`, where `device` has none; `launch`, where it refuses this one.
 */
export function tensorMapOn(
  device: Device,
  memory: Memory,
  shape: TensorShape | TensorBox,
): Arg {
  if (device.tensorMap) return device.tensorMap(memory, shape);
  const { name, arch, driver } = device.info;
  throw new CaseError(
    "unsupported",
    `${name} (${arch}) with driver ${driver} has no tensor maps: a GPU of sm_90 or later with a driver of CUDA 12 or later has`,
  );
}
