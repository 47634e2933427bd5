/**
 * One way to compute an operation: its sources or library calls, its tunables, and what
 * it runs for one timed call.
 *
 * @module
 */

import type {
  Arg,
  Build,
  Device,
  DeviceInfo,
  LaunchShape,
  Memory,
  Program,
  Step,
} from "../device/device.ts";
import { type Axes, type ChoiceOf, grid, type Values } from "./grid.ts";
import {
  type Candidate,
  candidatesOf,
  demandFew,
  type Rules,
} from "./candidates.ts";
import { demandKernel, demandLaunch } from "./kernel_rules.ts";
import type { Op, Operands, Tolerance } from "./op.ts";
import { reasonOf } from "./reason.ts";

export type { Candidate, Rule, Rules } from "./candidates.ts";

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
  readonly offers?: (point: P, device: Device) => Iterable<Candidate>;
  /** The translation units that a config needs. */
  builds(point: P, config: Values): readonly Build[];
  /**
   * What right means for one that rounds more often than the operation allows for, as its
   * idea has it: never narrower than the operation's. Its rows say so.
   *
   * @default {the operation's}
   */
  readonly tolerance?: (point: P, config: Values) => Tolerance;
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

/** A kernel that prepares its own plan. @throws {UserError} Where a field is missing or off. */
export function defineKernel<P, C extends Values = Values>(
  op: Op<P>,
  spec: KernelSpec<P, C>,
): Kernel<P> {
  demandKernel(op, spec);
  return {
    name: spec.name,
    backend: spec.backend,
    idea: spec.idea,
    ...(spec.follows === undefined ? {} : { follows: spec.follows }),
    unsupported: (point, info) =>
      reasonOf(
        `unsupported() of ${spec.name}`,
        spec.unsupported?.(point, info),
      ),
    candidates: (point, info) => candidatesOf(spec, { point, info }),
    ...(spec.offers === undefined ? {} : {
      *offers(point: P, device: Device) {
        for (const config of spec.offers!(point, device)) yield { config };
      },
    }),
    builds: (point, config) => spec.builds?.(point, config as C) ?? [],
    ...(spec.tolerance === undefined ? {} : {
      tolerance: (point: P, config: Values) =>
        spec.tolerance!(point, config as C),
    }),
    prepare: (context) => spec.prepare(context as Context<P, C>),
  };
}

const ONE: LaunchShape = { grid: [1, 1, 1], block: [1, 1, 1] };

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

/**
 * A kernel of one launch: a source, an entry, a launch shape.
 *
 * @throws {UserError} Where a field is missing or off, or its tunables make more configs
 * than can be listed.
 * @example
 * ```ts ignore
 * defineLaunch(matmul, {
 *   name: "mine",
 *   backend: "cuda",
 *   source: new URL("./mine.cu", import.meta.url),
 *   entry: "mine",
 *   tunables: { BM: [16, 32] },
 *   shape: ({ m, n }, { BM }) => ({ grid: [Math.ceil(m / BM), n, 1], block: [128, 1, 1] }),
 * });
 * ```
 */
export function defineLaunch<P, const T extends Axes = Record<never, never>>(
  op: Op<P>,
  spec: LaunchSpec<P, T>,
): Kernel<P> {
  demandLaunch(op, spec);
  type C = ChoiceOf<T> & Values;
  demandFew(
    `Cannot define the kernel ${spec.name}: its tunables make`,
    Object.values(spec.tunables ?? {}).reduce((n, list) => n * list.length, 1),
  );
  const build = (point: P, config: Values): Build => ({
    source: spec.source,
    defines: { ...spec.defines?.(point), ...config },
  });
  return defineKernel<P, C>(op, {
    name: spec.name,
    backend: spec.backend,
    idea: spec.idea ?? "one launch",
    configs: () => grid(spec.tunables ?? {}) as Iterable<C>,
    unsupported: (point, info) => spec.unsupported?.(point, info),
    ...(spec.rules === undefined ? {} : { rules: spec.rules }),
    ...(spec.predict === undefined ? {} : { predict: spec.predict.bind(spec) }),
    builds: (point, config) => [build(point, config)],
    prepare({ point, config, operands, program }) {
      const args = (spec.args ?? op.args)(point, operands);
      const shape = spec.shape?.(point, config) ?? ONE;
      return {
        steps: [program(build(point, config), spec.entry).step(args, shape)],
      };
    },
  });
}
