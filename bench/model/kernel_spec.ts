/**
 * The interfaces of a kernel: what its author defines and what the engine calls.
 *
 * @module
 */

import type { Build, Device, DeviceInfo, Program } from "../device/device.ts";
import type { Arg, LaunchShape, Memory, Step } from "../device/queue.ts";
import type { Candidate, Rules } from "./candidates.ts";
import type { Axes, ChoiceOf, Values } from "./grid.ts";
import type { Operands, Tolerance } from "./problem.ts";

/** What a kernel runs for one timed call, in order. */
export interface Plan {
  readonly steps: readonly Step[];
  /**
   * What is queued once before them, untimed: what a model does when it loads its weights,
   * such as bringing them into the form that a kernel reads.
   *
   * @default {nothing}
   */
  readonly setup?: readonly Step[];
}

/** What a kernel is prepared with. Everything it makes is freed after the case. */
export interface Context<P, C> {
  readonly point: P;
  readonly config: C;
  readonly device: Device;
  readonly operands: Operands;
  /** An entry of a binary that {@linkcode Kernel.builds} named. */
  program(build: Build, entry: string): Program;
  /** A workspace, poisoned with NaN bytes as outputs are. */
  alloc(bytes: number): Memory;
}

/** One way to compute an operation over points of type `P`, on one backend. */
export interface Kernel<P> {
  readonly name: string;
  readonly backend: string;
  /** The one idea it adds to the kernels before it, for listings. */
  readonly idea: string;
  /** The kernel whose winning config this one runs at, instead of a search of its own. */
  readonly follows?: string;
  /** Why it cannot run at `point` on such a device; nothing where it can. */
  unsupported(point: P, info: DeviceInfo): string | undefined;
  /** Every config, legal or not, best guess first. */
  candidates(point: P, info: DeviceInfo): Iterable<Candidate>;
  /**
   * The configs that only an open device can name, such as its library's algorithms, best
   * guess first; searched in the place of {@linkcode candidates}.
   */
  offers?(point: P, device: Device): Iterable<Candidate>;
  /** The translation units that a config needs. */
  builds(point: P, config: Values): readonly Build[];
  /**
   * What right means for one that rounds more often than the operation allows for, as its
   * idea has it: never narrower than the operation's. Its rows say so.
   *
   * @default {the operation's}
   */
  tolerance?(point: P, config: Values): Tolerance;
  /** Allocates, loads and packs; launches nothing. */
  prepare(context: Context<P, Values>): Plan;
}

/** What {@linkcode defineKernel} takes, whatever the kernel runs. */
export interface KernelSpec<P, C extends Values> {
  readonly name: string;
  readonly backend: string;
  readonly idea: string;
  readonly follows?: string;
  unsupported?(point: P, info: DeviceInfo): string | undefined;
  /** All configs. @default {one without tunables} */
  configs?(point: P, info: DeviceInfo): Iterable<C>;
  /** As {@linkcode Kernel.offers}. */
  offers?(point: P, device: Device): Iterable<C>;
  /** What makes a config illegal; the first rule that speaks is the reason. */
  readonly rules?: Rules<P, C>;
  /**
   * A rough model: about how many µs a legal config takes. Only its order counts: configs
   * are tried in it, and the tuner leaves out what it puts far behind.
   */
  predict?(point: P, config: C, info: DeviceInfo): number;
  builds?(point: P, config: C): readonly Build[];
  /** As {@linkcode Kernel.tolerance}. */
  tolerance?(point: P, config: C): Tolerance;
  prepare(context: Context<P, C>): Plan;
}

/** What {@linkcode defineLaunch} takes. */
export interface LaunchSpec<P, T extends Axes> {
  readonly name: string;
  readonly backend: string;
  readonly idea?: string;
  readonly source: URL;
  readonly entry: string;
  /** Lists of compile-time constants; each is a macro of the source. */
  readonly tunables?: T;
  readonly rules?: Rules<P, ChoiceOf<T>>;
  /** As {@linkcode KernelSpec.predict}. */
  predict?(point: P, config: ChoiceOf<T>, info: DeviceInfo): number;
  /** Why it cannot run at a point. @default {it can} */
  unsupported?(point: P, info: DeviceInfo): string | undefined;
  /** More macros. */
  defines?(point: P): Values;
  /** A CPU calls the entry once, whatever the shape. @default {one block of one thread} */
  shape?(point: P, config: ChoiceOf<T>): LaunchShape;
  /** The C parameters. @default {those of the operation} */
  args?(point: P, operands: Operands): readonly Arg[];
}
