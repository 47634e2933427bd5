/**
 * The interfaces of a kernel: what its author defines and what the engine calls.
 *
 * @module
 */

import type {
  Build,
  BuildOptions,
  Device,
  DeviceInfo,
  Program,
} from "../device/device.ts";
import type { Arg, LaunchShape, Memory, Step } from "../device/queue.ts";
import type { Axes, ChoiceOf, Values } from "./grid.ts";
import type { Operands, Tolerance } from "./problem.ts";

/** Lists what one timed call runs. */
export interface Plan {
  /** Launches, library calls and other steps, in order. All of them are timed. */
  readonly steps: readonly Step[];
  /**
   * Steps that run once for given inputs and are not timed, such as repacking weights.
   *
   * @default {nothing}
   */
  readonly setup?: readonly Step[];
}

/** Gives `prepare()` its inputs. Everything made through it is freed after the case. */
export interface Context<P, C> {
  readonly point: P;
  readonly config: C;
  readonly device: Device;
  readonly operands: Operands;
  /**
   * Loads the function `entry` of a build that {@linkcode Kernel.builds} returned.
   *
   * @throws {CaseError} If the build failed or has no such function.
   */
  program(build: Build, entry: string): Program;
  /**
   * Allocates a workspace and fills it with `byte`, once: locks and counters need 0, and each call
   * must leave them as it found them.
   *
   * @param byte The value of each byte. @default {that of a NaN}
   * @throws {CaseError} If the device has no memory left.
   */
  alloc(bytes: number, byte?: number): Memory;
}

/** Computes an operation over points of type `P` on one backend. */
export interface Kernel<P> {
  readonly name: string;
  readonly backend: string;
  /** One line for listings: what the kernel adds to simpler ones. */
  readonly idea: string;
  /** The function of a kernel that Python runs. @default {the worker runs it} */
  readonly python?: PythonSource;
  /** Whether it calls a vendor's matrix library. @default {false} */
  readonly library?: boolean;
  /**
   * Whether it exists to be read, and may take seconds a call. Where no cases are chosen, a CPU that
   * has a compiler for the other kernels leaves it out.
   *
   * @default {false}
   */
  readonly teaching?: boolean;
  /** The name of the kernel whose config this one uses instead of a search. */
  readonly follows?: string;
  /** Returns why the kernel cannot run at `point` on this device, or `undefined`. */
  unsupported(point: P, info: DeviceInfo): string | undefined;
  /** Lists every config, legal or not, in the order of the model. */
  candidates(point: P, info: DeviceInfo): Iterable<Candidate>;
  /**
   * Lists configs that need an open device, such as its library's algorithms. They are
   * searched instead of {@linkcode candidates}.
   */
  offers?(point: P, device: Device): Iterable<Candidate>;
  /** As {@linkcode KernelSpec.predict}. */
  predict?(point: P, config: Values, info: DeviceInfo): number;
  /** As {@linkcode KernelSpec.isFitted}. */
  readonly isFitted?: boolean;
  /** As {@linkcode KernelSpec.startsEarly}. */
  startsEarly?(point: P): boolean;
  /** Lists the translation units of a config. */
  builds(point: P, config: Values): readonly Build[];
  /**
   * Returns the tolerance of a kernel that rounds more often than the operation allows,
   * never below the operation's. The note of its rows says so.
   *
   * @default {the operation's}
   */
  tolerance?(point: P, config: Values): Tolerance;
  /** Allocates workspaces, loads programs and packs steps. Launches nothing. */
  prepare(context: Context<P, Values>): Plan;
}

/** Describes a kernel of any number of steps for {@linkcode defineKernel}. */
export interface KernelSpec<P, C extends Values> {
  /** What it can do of that which `demands` of its operation asks for. @default {nothing} */
  readonly takes?: readonly string[];
  readonly name: string;
  readonly backend: string;
  readonly idea: string;
  readonly follows?: string;
  /** As {@linkcode Kernel.library}. */
  readonly library?: boolean;
  /** As {@linkcode Kernel.teaching}. */
  readonly teaching?: boolean;
  unsupported?(point: P, info: DeviceInfo): string | undefined;
  /** Lists all configs. @default {one config without tunables} */
  configs?(point: P, info: DeviceInfo): Iterable<C>;
  /** As {@linkcode Kernel.offers}. */
  offers?(point: P, device: Device): Iterable<C>;
  /** Return why a config is illegal, or `undefined`. The first reason counts. */
  readonly rules?: Rules<P, C>;
  /**
   * Estimates the time of a legal config in µs. Configs are tried in this order, and the
   * tuner omits those far behind the best; absolute values do not matter.
   */
  predict?(point: P, config: C, info: DeviceInfo): number;
  /**
   * Whether {@linkcode predict} is fitted to times of all configs at many points. `auto` then sooner
   * leaves a config that was recorded at another point for the one that it puts first.
   *
   * @default {false}
   */
  readonly isFitted?: boolean;
  /**
   * Whether the first launch may start before its predecessor ends: `waits` in its shape.
   *
   * @default {it does not}
   */
  startsEarly?(point: P): boolean;
  builds?(point: P, config: C): readonly Build[];
  /** As {@linkcode Kernel.tolerance}. */
  tolerance?(point: P, config: C): Tolerance;
  prepare(context: Context<P, C>): Plan;
}

/** Describes a kernel of one launch for {@linkcode defineLaunch}. */
export interface LaunchSpec<P, T extends Axes> extends BuildOptions {
  /** What it can do of that which `demands` of its operation asks for. @default {nothing} */
  readonly takes?: readonly string[];
  readonly name: string;
  readonly backend: string;
  readonly idea?: string;
  /** As {@linkcode Kernel.teaching}. */
  readonly teaching?: boolean;
  /**
   * A file of C (`cpu`), CUDA C++, HIP C++ or MSL; for CUDA also `.ptx` or `.cubin` of another
   * compiler, which must be for the device's architecture. A function chooses one.
   */
  readonly source: PerConfig<P, T, URL>;
  /** The name of its `extern "C"` function. */
  readonly entry: PerConfig<P, T, string>;
  /** Lists of values by macro name. Each combination is a config. */
  readonly tunables?: T;
  /**
   * What the macros of tunables and `defines` begin with, such as `MINE_`. A macro named `STAGES`
   * would also replace a template parameter of that name. @default {nothing}
   */
  readonly macroPrefix?: string;
  readonly rules?: Rules<P, ChoiceOf<T>>;
  /** As {@linkcode KernelSpec.predict}. */
  predict?(point: P, config: ChoiceOf<T>, info: DeviceInfo): number;
  /** Returns why the kernel cannot run at a point. @default {it can} */
  unsupported?(point: P, info: DeviceInfo): string | undefined;
  /** Returns macros that depend on the point. Each set of values is another build. */
  defines?(point: P): Values;
  /** Returns the launch shape. Only a CPU entry, which is called once, needs none. */
  shape?(point: P, config: ChoiceOf<T>): LaunchShape;
  /** As {@linkcode Kernel.tolerance}. */
  tolerance?(point: P, config: ChoiceOf<T>): Tolerance;
  /** Returns the arguments of the entry. @default {those of the operation} */
  args?(
    point: P,
    operands: Operands,
    config: ChoiceOf<T>,
  ): readonly Arg[];
}

/** A value, or a function that returns it for a point and config. */
export type PerConfig<P, T extends Axes, V> =
  | V
  | ((point: P, config: ChoiceOf<T>) => V);

/** The backend of Python kernels. */
export const PYTHON_BACKEND = "cuda";

/** A function of a Python file. */
export interface PythonSource {
  readonly file: URL;
  readonly entry: string;
}

/** Describes a kernel that a Python function makes, for {@linkcode definePython}. */
export interface PythonSpec<P> {
  /** What it can do of that which `demands` of its operation asks for. @default {nothing} */
  readonly takes?: readonly string[];
  readonly name: string;
  /**
   * A file and the name of its function, such as `mine.py:fn`. A relative path is relative to the
   * working directory; `import.meta.resolve("./mine.py:fn")` is relative to the suite file.
   */
  readonly python: string | URL;
  readonly idea?: string;
  /** Returns why the kernel cannot run at a point. @default {it can} */
  unsupported?(point: P, info: DeviceInfo): string | undefined;
}

/** A config and, where it cannot run, why. */
export interface Candidate<C = Values> {
  readonly config: C;
  /** Why it cannot run at the point. */
  readonly illegal?: string | undefined;
  /** The name of the rule that `illegal` comes from. */
  readonly rule?: string | undefined;
  /** The time that the kernel's model predicts, in µs; missing without a model. */
  readonly predicted?: number | undefined;
  /** What chose the only config of a kernel that chooses for itself. @default {nothing} */
  readonly by?: "table" | "model";
}

/** A rule that a config must obey: the reason it does not, or nothing. */
export type Rule<P, C> = (
  point: P,
  config: C,
  info: DeviceInfo,
) => string | undefined;

/** Rules by name; in a list, a rule has the name of its function or its place. */
export type Rules<P, C> =
  | Readonly<Record<string, Rule<P, C>>>
  | readonly Rule<P, C>[];
