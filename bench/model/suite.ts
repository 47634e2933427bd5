/**
 * Defines suites and expands them to cases. Point and config types are erased here.
 *
 * @module
 */

import type { Build, Device, DeviceInfo } from "../device/device.ts";
import {
  type Axed,
  type Axis,
  choices,
  columnOf,
  demandNames,
  isWhere,
  type Overrides,
  readAxes,
  type Where,
} from "./axes.ts";
import { blame, UserError } from "./errors.ts";
import { formatValues, parseValues, type Values } from "./grid.ts";
import type { InputOptions } from "./inputs.ts";
import type { Candidate } from "./kernel.ts";
import type { Context, Kernel, Plan, PythonSource } from "./kernel_spec.ts";
import { demandSuite, leaderOf, type SuiteSpec } from "./spec_schema.ts";
import type { Op } from "./op.ts";
import {
  checkedInputs,
  checkedReference,
  checkedTolerance,
  returned,
} from "./op_schema.ts";
import type {
  Mutant,
  Operand,
  OpKey,
  Reference,
  Tolerance,
  Work,
} from "./problem.ts";

/** An operation at one point. */
export interface Problem {
  readonly op: string;
  readonly key: OpKey;
  /** The value of each axis: `m=16 n=16 k=8192 type=bf16 epilogue=relu layout=nn`. */
  readonly title: string;
  readonly operands: readonly Operand[];
  readonly tolerance: Tolerance;
  /** The least effective bits of a result; missing where any number will do. */
  readonly bits?: number;
  readonly work: Work;
  inputs(options: InputOptions): readonly Uint8Array<ArrayBuffer>[];
  reference(inputs: readonly Uint8Array<ArrayBuffer>[]): Reference;
  /** Returns the operation's f64 reference kernel for `backend`, if there is one. */
  referenceKernel(backend: string): Runnable | undefined;
  mutants(
    inputs: readonly Uint8Array<ArrayBuffer>[],
    right: Reference,
  ): readonly Mutant[];
}

/** A kernel at one point, without the point's type. */
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

/**
 * A point of a suite as data, from which {@linkcode Suite.at} makes its cases again: values
 * of the suite's axes, or the number of an edge-case shape of its operation.
 */
export type Place =
  | { readonly values: Values }
  | { readonly edgeCase: number };

/** A kernel at a point of a suite, which becomes one row. Its config is chosen when it runs. */
export interface Case extends Runnable {
  readonly suite: string;
  readonly place: Place;
  readonly kernel: string;
  readonly backend: string;
  readonly problem: Problem;
  /** The case of the same problem whose winning config this one takes. */
  readonly follows?: Case;
  /**
   * What runs it: Python, peers in processes without kernels of the suite.
   *
   * @default {the worker itself, on its backend}
   */
  readonly runner?: "peers" | "python";
  /** The function of a Python kernel. */
  readonly python?: PythonSource;
  /** As {@linkcode Kernel.teaching}. */
  readonly teaching?: boolean;
}

/**
 * Returns why the kernel of `c` does not run on the device of `info`; undefined where it does.
 *
 * @throws {CaseError} `launch`, where it throws anything.
 */
export function reasonAgainst(
  c: Pick<Case, "unsupported">,
  info: DeviceInfo,
): string | undefined {
  return blame("say whether the kernel runs here", () => c.unsupported(info));
}

/** Describes a kernel in listings. */
export interface KernelNote
  extends Pick<Kernel<never>, "name" | "backend" | "idea"> {
  /** As {@linkcode Case.runner}. */
  readonly runner?: "python";
}

export type { Overrides, Where } from "./axes.ts";

/**
 * A set of points of a suite: its grid, its quick grid, the edge-case shapes of its operation,
 * or the sizes of these with the suite's own values of the other axes.
 */
export type PointSet = "all" | "quick" | "edge" | "edge-own";

/** A suite without the types of its points. */
export interface Suite {
  readonly name: string;
  readonly title: string;
  readonly op: string;
  readonly kernels: readonly KernelNote[];
  /** Kernels that speed-ups are relative to, in order of preference. */
  readonly baselines: readonly string[];
  /** The axes of its operation. */
  readonly axes: readonly Axis[];
  /** The names of axes that vary between its points. */
  readonly swept: readonly string[];
  /**
   * The cases at `points`, with the values of `overrides` in the place of the suite's own,
   * of which only those that `where` allows.
   *
   * @throws {UserError} If an override names no axis of the suite or has a bad value, and if
   * a field of the suite is none of its operation.
   */
  cases(
    points: PointSet,
    overrides?: Overrides,
    where?: Where,
  ): Iterable<Case>;
  /**
   * The number of points of {@linkcode Suite.cases} with the same options, of which none is
   * made. @throws {UserError}
   */
  count(points: PointSet, overrides?: Overrides): number;
  /** The cases at points that {@linkcode Case.place} names, in their order. @throws {UserError} */
  at(places: readonly Place[]): Iterable<Case>;
  /** Returns the suite with the kernels that `make` returns after its own. @throws {UserError} */
  beside(make: MoreKernels): Suite;
}

/** Makes kernels of an operation. @param kernels Those of the suite. */
export type MoreKernels = <P>(
  op: Op<P>,
  kernels: readonly Kernel<P>[],
) => readonly Kernel<P>[];

/** Defines a suite. @throws {UserError} If a field is missing or invalid. */
export function defineSuite<P>(spec: SuiteSpec<P>): Suite {
  demandSuite(spec);
  const { op, kernels, fixed = {}, tie = {} } = spec;
  const swept = sweptBy(spec);
  naming(
    spec,
    () =>
      demandNames(op, [
        ...[...Object.keys(fixed), ...swept, ...Object.values(tie)],
      ]),
  );
  const flaw = flawOfSources(spec);
  if (flaw !== undefined) {
    throw new UserError(`Cannot define the suite ${spec.name}: ${flaw}`);
  }
  return {
    name: spec.name,
    title: spec.title,
    op: op.name,
    kernels: kernels.map(({ name, backend, idea, python }) => ({
      name,
      backend,
      idea,
      ...(python && { runner: "python" }),
    })),
    baselines: spec.baselines,
    axes: op.axes,
    swept,
    *cases(set, overrides = {}, where = {}) {
      for (const place of placesOf(spec, set, overrides)) {
        // By the values first: a point that `where` excludes need not be a valid one.
        if ("values" in place && !isWhere(place.values, where)) continue;
        const cases = [...casesAt(spec, place)];
        const [first] = cases;
        if (first && isWhere(axisValues(op, first.problem.key), where)) {
          yield* cases;
        }
      }
    },
    count(set, overrides = {}) {
      return Iterator.from(placesOf(spec, set, overrides))
        .reduce((count) => count + 1, 0);
    },
    *at(places) {
      for (const place of places) yield* casesAt(spec, place);
    },
    beside: (make) =>
      defineSuite({ ...spec, kernels: [...kernels, ...make(op, kernels)] }),
  };
}

/** Runs `work` and names the suite in its errors. */
function naming<P, T>({ name }: SuiteSpec<P>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`Suite ${name} cannot be used: ${error.message}`);
  }
}

/** Makes the point with `values` and the fixed values of the suite. @throws {UserError} */
function pointOf<P>({ op, fixed }: SuiteSpec<P>, values: Values): P {
  return op.point(readAxes(op, { ...fixed, ...values }));
}

function pointAt<P>(spec: SuiteSpec<P>, place: Place): P {
  if ("values" in place) return naming(spec, () => pointOf(spec, place.values));
  const { name, op } = spec;
  const point = op.edgeCases[place.edgeCase];
  if (point !== undefined) return point;
  throw new UserError(
    `Suite ${name} has no edge-case shape ${place.edgeCase}: its operation has ${op.edgeCases.length}`,
  );
}

/** Yields the points of `set` as data. */
function* placesOf<P>(
  spec: SuiteSpec<P>,
  set: PointSet,
  overrides: Overrides,
): Generator<Place> {
  const { op } = spec;
  if (set === "edge") {
    yield* op.edgeCases.map((_, edgeCase) => ({ edgeCase }));
    return;
  }
  if (set === "edge-own") {
    const sizes = op.edgeCases.flatMap((p) => {
      const key = op.key(p);
      const dense = sizesOf(op, key);
      const all = axisValues(op, key);
      const strides = (spec.padding ?? []).flatMap((name) =>
        all[name] === undefined ? [] : [[name, all[name]] as const]
      );
      const padded = { ...dense, ...Object.fromEntries(strides) };
      return [formatValues(dense), formatValues(padded)];
    });
    for (const size of new Set(sizes)) {
      const values = parseValues(size);
      if (hasPoint(spec, values)) yield { values };
    }
    return;
  }
  const axes = set === "quick" ? { ...spec.axes, ...spec.quick } : spec.axes;
  const known = op.axes.map(({ name }) => name);
  for (const values of choices({ ...spec, axes, known }, overrides)) {
    yield { values };
  }
}

/**
 * Returns the sizes of a point of `op`, without optional ones and ones with a default, such as a
 * stride: the suite has its own values of these.
 */
function sizesOf<P>(op: Op<P>, key: OpKey): Values {
  const values = axisValues(op, key);
  const sizes = op.axes.filter((axis) =>
    typeof axis.values === "string" && !axis.optional &&
    axis.default === undefined && values[axis.name] !== undefined
  );
  return Object.fromEntries(sizes.map(({ name }) => [name, values[name]!]));
}

/** Returns whether there is a point with `values` and the fixed values of the suite. */
function hasPoint<P>(spec: SuiteSpec<P>, values: Values): boolean {
  try {
    pointOf(spec, values);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

/** Yields the cases of all kernels at `place`. */
function* casesAt<P>(spec: SuiteSpec<P>, place: Place): Generator<Case> {
  const { name: suite, op, kernels } = spec;
  const point = pointAt(spec, place);
  const problem = naming(spec, () => problemOf(op, point));
  const made = new Map<Kernel<P>, Case>();
  const caseOf = (kernel: Kernel<P>): Case => {
    const leader = leaderOf(kernel, kernels);
    const known = made.get(kernel) ?? {
      suite,
      place,
      kernel: kernel.name,
      backend: kernel.backend,
      problem,
      ...(kernel.python &&
        { runner: "python" as const, python: kernel.python }),
      ...(kernel.teaching ? { teaching: true } : {}),
      ...(leader ? { follows: caseOf(leader) } : {}),
      ...runnable(kernel, point),
    };
    made.set(kernel, known);
    return known;
  };
  for (const kernel of kernels) yield caseOf(kernel);
}

/** Returns the names of the axes that vary between the points of a suite. */
function sweptBy<P>({ axes, tie = {} }: SuiteSpec<P>): string[] {
  return [...new Set([...fieldsOf(axes), ...Object.keys(tie)])];
}

/** Returns the names of the axes that `axes` has values of, once for each list. */
function fieldsOf<P>(axes: SuiteSpec<P>["axes"]): string[] {
  return Object.entries(axes).flatMap(([axis, list]) => [
    ...new Set(
      list.flatMap((value) =>
        typeof value === "object" ? Object.keys(value) : [axis]
      ),
    ),
  ]);
}

/** Says which axis is set twice, tied to none or padded and unknown: nobody would see it. */
function flawOfSources<P>(
  { op, axes, quick = {}, tie = {}, fixed = {}, padding = [] }: SuiteSpec<P>,
): string | undefined {
  const fields = fieldsOf(axes);
  const all = [
    ...fields,
    ...Object.keys(tie),
    ...Object.keys(fixed).filter((axis) => fixed[axis] !== undefined),
  ];
  const twice = all.find((axis, i) => all.indexOf(axis) < i);
  if (twice !== undefined) {
    return `its axis ${twice} is set twice (in axes, tie or fixed): leave out one`;
  }
  const tied = Object.keys(tie).find((axis) => axis in quick);
  if (tied !== undefined) {
    return `its axis ${tied} is set twice (in quick and tie): leave out one`;
  }
  const strides = op.axes.filter((axis) =>
    typeof axis.values === "string" && axis.optional
  ).map(({ name }) => name);
  const unknown = padding.find((name) => !strides.includes(name));
  if (unknown !== undefined) {
    return `its padding names ${unknown}, which is no stride of ${op.name}: there are ${
      strides.join(", ") || "none"
    }`;
  }
  const loose = Object.entries(tie).find(([, other]) =>
    !fields.includes(other)
  );
  return loose && `it ties ${loose.join(" to ")}, which is not in its axes`;
}

/** Returns `kernel` at `point`, without the point's type. */
function runnable<P>(kernel: Kernel<P>, point: P): Runnable {
  return {
    unsupported: (info) => kernel.unsupported(point, info),
    candidates: (info) => kernel.candidates(point, info),
    ...(kernel.offers
      ? { offers: (device: Device) => kernel.offers!(point, device) }
      : {}),
    builds: (config) => kernel.builds(point, config),
    ...(kernel.tolerance
      ? {
        tolerance: (config: Values) =>
          checkedTolerance(
            () => kernel.tolerance!(point, config),
            kernel.name,
          ),
      }
      : {}),
    prepare: (context) => kernel.prepare({ ...context, point }),
  };
}

/** Returns the value of each axis of a point, as in the columns of its rows. */
function axisValues({ axes }: Axed, key: OpKey): Values {
  const params = parseValues(key.params);
  return Object.fromEntries(
    axes.flatMap((axis) => {
      const column = columnOf(axis);
      const value = params[axis.name] ?? (column && key[column]);
      return value === undefined ? [] : [[axis.name, value]];
    }),
  );
}

/**
 * Returns `op` at `point`, without the point's type.
 *
 * @throws {UserError} If a function of `op` returns what cannot be used.
 */
export function problemOf<P>(op: Op<P>, point: P): Problem {
  const { name } = op;
  const key = returned("key", op.key(point), { op: name, at: "" });
  const at = formatValues(axisValues(op, key));
  const here = { op: name, at };
  const operands = returned("operands", op.operands(point), here);
  const owned = { op: name, operands };
  return {
    op: name,
    key,
    title: at,
    operands,
    tolerance: returned("tolerance", op.tolerance(point), here),
    ...(op.bits ? { bits: returned("bits", op.bits(point), here) } : {}),
    work: returned("work", op.work(point), here),
    inputs: (options) => checkedInputs(op.inputs(point, options), owned),
    reference: (inputs) =>
      checkedReference(() => op.reference(point, inputs), owned),
    referenceKernel: (backend) => {
      // Reference kernels run only at points that every kernel can run.
      if (Object.keys(op.demands?.(point) ?? {}).length > 0) return undefined;
      const kernel = op.referenceKernels?.find((r) => r.backend === backend);
      return kernel && runnable(kernel, point);
    },
    mutants: (inputs, right) => op.mutants(point, inputs, right),
  };
}
