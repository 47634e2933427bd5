/**
 * Suites: an operation, its points, its kernels and the order of its baselines; and the
 * cases that they expand to. The types of points and configs end here.
 *
 * @module
 */

import type { Build, Device, DeviceInfo } from "../device/device.ts";
import { choices, type Overrides } from "./axes.ts";
import { UserError } from "./errors.ts";
import { formatValues, parseValues, type Values } from "./grid.ts";
import type { InputOptions } from "./inputs.ts";
import type { Candidate } from "./kernel.ts";
import type { Context, Kernel, Plan } from "./kernel_spec.ts";
import { type ReadPoint, readPoint, wholePoint } from "./point.ts";
import { demandSuite, leaderOf } from "./suite_rules.ts";
import type { Op } from "./op.ts";
import type {
  Mutant,
  Operand,
  OpKey,
  Reference,
  Tolerance,
  Work,
} from "./problem.ts";
import { type SuiteSpec } from "./suite_spec.ts";

/** An operation at a point: all that its kernels share. */
export interface Problem {
  readonly op: string;
  readonly key: OpKey;
  /** `m=16 n=16 k=8192 epilogue=relu`, for people. */
  readonly title: string;
  readonly operands: readonly Operand[];
  readonly tolerance: Tolerance;
  readonly work: Work;
  inputs(options: InputOptions): readonly Uint8Array<ArrayBuffer>[];
  reference(inputs: readonly Uint8Array<ArrayBuffer>[]): Reference;
  /** The operation's f64 kernel for `backend`, if it has one. */
  referee(backend: string): Runnable | undefined;
  mutants(
    inputs: readonly Uint8Array<ArrayBuffer>[],
    right: Reference,
  ): readonly Mutant[];
}

/** A kernel at a point, its type forgotten. */
export interface Runnable {
  unsupported(info: DeviceInfo): string | undefined;
  candidates(info: DeviceInfo): Iterable<Candidate>;
  /** As {@linkcode Kernel.offers}. */
  offers?(device: Device): Iterable<Candidate>;
  builds(config: Values): readonly Build[];
  /** As {@linkcode Kernel.tolerance}. */
  tolerance?(config: Values): Tolerance;
  prepare(context: Omit<Context<unknown, Values>, "point">): Plan;
}

/** One row to be: a kernel at a point of a suite. Its config is chosen when it runs. */
export interface Case extends Runnable {
  readonly suite: string;
  readonly kernel: string;
  readonly backend: string;
  readonly problem: Problem;
  /** The case of the same problem whose winning config this one takes. */
  readonly follows?: Case;
}

/** What a listing says of a kernel. */
export interface KernelNote {
  readonly name: string;
  readonly backend: string;
  readonly idea: string;
}

export type { Overrides } from "./axes.ts";

/**
 * Which points of a suite: its own grid, its quick one, its operation's odd ones, or the
 * sizes of these with the suite's own types, epilogue and layout.
 */
export type PointSet = "all" | "quick" | "odd" | "odd-own";

/** A suite, as everything but its author sees it. */
export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly op: string;
  readonly kernels: readonly KernelNote[];
  /** Kernels that speed-ups are relative to, the preferred first. */
  readonly baselines: readonly string[];
  /**
   * @throws {UserError} If an override names no axis of the suite or has a bad value, and if
   * a field of the suite is none of its operation.
   */
  cases(points: PointSet, overrides?: Overrides): Iterable<Case>;
}

/** A suite from its parts. @throws {UserError} Where a part is missing or off. */
export function defineSuite<P>(spec: SuiteSpec<P>): Suite {
  demandSuite(spec);
  const { op, kernels } = spec;
  const names = { suite: spec.name, op: op.name };
  /** A point of an odd size; none where the suite's own fields do not go with it. */
  function readOrNone(values: Values): ReadPoint<P> | undefined {
    try {
      return readPoint(op, values);
    } catch (error) {
      if (error instanceof UserError) return undefined;
      throw error;
    }
  }
  function* points(set: PointSet, overrides: Overrides): Generator<P> {
    if (set === "odd") return yield* op.oddities;
    if (set === "odd-own") {
      const sizes = op.oddities.map((p) => op.key(p)).map(({ m, n, k }) =>
        formatValues({ m, n, k })
      );
      for (const size of new Set(sizes)) {
        const read = readOrNone({ ...spec.fixed, ...parseValues(size) });
        if (read !== undefined) yield wholePoint(read, names);
      }
      return;
    }
    const axes = set === "quick" ? { ...spec.axes, ...spec.quick } : spec.axes;
    for (const chosen of choices({ ...spec, axes }, overrides)) {
      yield wholePoint(readPoint(op, { ...spec.fixed, ...chosen }), names);
    }
  }
  return {
    name: spec.name,
    title: spec.title,
    op: op.name,
    kernels: kernels.map(({ name, backend, idea }) => ({
      name,
      backend,
      idea,
    })),
    baselines: spec.baselines,
    *cases(set, overrides = {}) {
      for (const point of points(set, overrides)) {
        const problem = problemOf(op, point);
        const made = new Map<Kernel<P>, Case>();
        const caseOf = (kernel: Kernel<P>): Case => {
          const leader = leaderOf(kernel, kernels);
          const known = made.get(kernel) ?? {
            suite: spec.name,
            kernel: kernel.name,
            backend: kernel.backend,
            problem,
            ...(leader ? { follows: caseOf(leader) } : {}),
            ...runnable(kernel, point),
          };
          made.set(kernel, known);
          return known;
        };
        for (const kernel of kernels) yield caseOf(kernel);
      }
    },
  };
}

function runnable<P>(kernel: Kernel<P>, point: P): Runnable {
  return {
    unsupported: (info) => kernel.unsupported(point, info),
    candidates: (info) => kernel.candidates(point, info),
    ...(kernel.offers
      ? { offers: (device: Device) => kernel.offers!(point, device) }
      : {}),
    builds: (config) => kernel.builds(point, config),
    ...(kernel.tolerance
      ? { tolerance: (config: Values) => kernel.tolerance!(point, config) }
      : {}),
    prepare: (context) => kernel.prepare({ ...context, point }),
  };
}

/** `op` at `point`, its type forgotten. */
export function problemOf<P>(op: Op<P>, point: P): Problem {
  const key = op.key(point);
  const { m, n, k, params } = key;
  return {
    op: op.name,
    key,
    title: [formatValues({ m, n, k }), params].filter(Boolean).join(" "),
    operands: op.operands(point),
    tolerance: op.tolerance(point),
    work: op.work(point),
    inputs: (options) => op.inputs(point, options),
    reference: (inputs) => op.reference(point, inputs),
    referee: (backend) => {
      const kernel = op.referees?.find((r) => r.backend === backend);
      return kernel && runnable(kernel, point);
    },
    mutants: (inputs, right) => op.mutants(point, inputs, right),
  };
}
