/**
 * Defines kernels: sources or library calls, tunables, and the plan of one timed call.
 *
 * @module
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Build, Device, DeviceInfo } from "../device/device.ts";
import type { LaunchShape } from "../device/queue.ts";
import { CaseError, reasonOf, UserError } from "./errors.ts";
import { type Axes, type ChoiceOf, grid, type Values } from "./grid.ts";
import {
  type Candidate,
  type Context,
  type Kernel,
  type KernelSpec,
  type LaunchSpec,
  PYTHON_BACKEND,
  type PythonSource,
  type PythonSpec,
  type Rule,
  type Rules,
} from "./kernel_spec.ts";
import type { Op } from "./op.ts";
import { demandKernel, demandLaunch, demandPython } from "./spec_schema.ts";

export type { Candidate, Rule, Rules } from "./kernel_spec.ts";

/**
 * Defines a kernel that prepares its own plan.
 *
 * @throws {UserError} If a field is missing or invalid.
 */
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
    ...(spec.library ? { library: true } : {}),
    ...(spec.teaching ? { teaching: true } : {}),
    unsupported: (point, info) =>
      undone(op.demands?.(point), spec.takes) ?? reasonOf(
        `unsupported() of ${spec.name}`,
        spec.unsupported?.(point, info),
      ),
    candidates: (point, info) => candidatesOf(spec, { point, info }),
    ...(spec.offers === undefined ? {} : {
      *offers(point: P, device: Device) {
        for (const config of spec.offers!(point, device)) yield { config };
      },
    }),
    ...(spec.isFitted === undefined ? {} : { isFitted: spec.isFitted }),
    ...(spec.predict === undefined ? {} : {
      predict: (point: P, config: Values, info: DeviceInfo) =>
        spec.predict!(point, config as C, info),
    }),
    ...(spec.startsEarly === undefined
      ? {}
      : { startsEarly: (point: P) => spec.startsEarly!(point) }),
    builds: (point, config) => spec.builds?.(point, config as C) ?? [],
    ...(spec.tolerance === undefined ? {} : {
      tolerance: (point: P, config: Values) =>
        spec.tolerance!(point, config as C),
    }),
    prepare: (context) => spec.prepare(context as Context<P, C>),
  };
}

/** Returns the first reason of `demands` that is not in `takes`. */
function undone(
  demands: Readonly<Record<string, string>> = {},
  takes: readonly string[] = [],
): string | undefined {
  return Object.entries(demands).find(([name]) => !takes.includes(name))?.[1];
}

const ONE: LaunchShape = { grid: [1, 1, 1], block: [1, 1, 1] };

/**
 * Defines a kernel of one launch: a source, an entry and a launch shape.
 *
 * @throws {UserError} If a field is missing or invalid, or the tunables make too many
 * configs.
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
  const { source, entry, macroPrefix = "", flags, includes, compiler } = spec;
  const build = (point: P, config: C): Build => ({
    source: typeof source === "function" ? source(point, config) : source,
    defines: Object.fromEntries(
      Object.entries({ ...spec.defines?.(point), ...config })
        .map(([name, value]) => [macroPrefix + name, value]),
    ),
    ...(flags ? { flags } : {}),
    ...(includes ? { includes } : {}),
    ...(compiler === undefined ? {} : { compiler }),
  });
  return defineKernel<P, C>(op, {
    name: spec.name,
    backend: spec.backend,
    idea: spec.idea ?? "one launch",
    takes: spec.takes ?? [],
    ...(spec.teaching ? { teaching: true } : {}),
    configs: () => grid(spec.tunables ?? {}) as Iterable<C>,
    unsupported: (point, info) => spec.unsupported?.(point, info),
    ...(spec.rules === undefined ? {} : { rules: spec.rules }),
    ...(spec.predict === undefined ? {} : { predict: spec.predict.bind(spec) }),
    builds: (point, config) => [build(point, config)],
    ...(spec.tolerance === undefined
      ? {}
      : { tolerance: spec.tolerance.bind(spec) }),
    prepare({ point, config, operands, program }) {
      const args = (spec.args ?? op.args)(point, operands, config);
      const shape = spec.shape ? shaped(spec.shape(point, config)) : ONE;
      const name = typeof entry === "function" ? entry(point, config) : entry;
      return {
        steps: [program(build(point, config), name).step(args, shape)],
      };
    },
  });
}

/** Returns `shape` if it is one. @throws {CaseError} `launch`, for what a suite file without types may give. */
function shaped(shape: LaunchShape | undefined): LaunchShape {
  for (const field of ["grid", "block"] as const) {
    if (shape?.[field]?.length === 3) continue;
    throw new CaseError(
      "launch",
      `Cannot launch the kernel: its shape() gave ${
        JSON.stringify(shape)
      }: give a ${field} of three numbers, such as [16, 16, 1]`,
    );
  }
  return shape!;
}

/**
 * Defines a kernel that a Python function makes. The function gets operands and axes by the names of
 * its parameters, operands as tensors of PyTorch, and returns a function without arguments: the call.
 * A call writes the outputs that it was given, or returns them as tensors. It is recorded in a CUDA
 * graph, and checked and timed as other kernels are with `--timer graph`.
 *
 * @throws {UserError} If a field is missing or invalid.
 * @example
 * ```ts ignore
 * definePython(matmul, { name: "mine", python: import.meta.resolve("./mine.py:fn") });
 * ```
 */
export function definePython<P>(op: Op<P>, spec: PythonSpec<P>): Kernel<P> {
  demandPython(op, spec);
  const { name, idea = "a Python function" } = spec;
  const python = pythonSource(spec.python);
  const kernel = defineKernel<P>(op, {
    name,
    idea,
    backend: PYTHON_BACKEND,
    takes: spec.takes ?? [],
    unsupported: (point, info) => spec.unsupported?.(point, info),
    builds: () => [{ source: python.file, defines: { entry: python.entry } }],
    prepare() {
      throw new CaseError(
        "unsupported",
        `${name} is run by Python, in a process of its own: run it by bench, check or compare`,
      );
    },
  });
  return { ...kernel, python };
}

/** Takes `mine.py:fn` apart. */
function pythonSource(name: string | URL): PythonSource {
  const [, path, entry] = /^(.*\.py):(\w+)$/.exec(`${name}`)!;
  const file = path!.startsWith("file:")
    ? path!
    : pathToFileURL(resolve(path!));
  return { file: new URL(file), entry: entry! };
}

/** More are not listed in any time that a person waits, let alone searched. */
const MOST_CONFIGS = 200_000;

/**
 * Makes sure that `count` configs can be listed, the illegal ones among them.
 *
 * @param who Whose they are, in errors.
 * @throws {UserError} Where they are too many.
 */
function demandFew(who: string, count: number): void {
  if (count <= MOST_CONFIGS) return;
  throw new UserError(
    `${who} more than ${MOST_CONFIGS} configs, legal and illegal: give its tunables shorter lists`,
  );
}

/**
 * Lists every config of `spec`; with a model the legal ones first, by its order.
 *
 * @throws {UserError} For more of them than a search can use, and a rule that gives no reason.
 */
export function candidatesOf<P, C extends Values>(
  spec: Pick<KernelSpec<P, C>, "configs" | "rules" | "predict">,
  { point, info }: { point: P; info: DeviceInfo },
): Candidate<C>[] {
  const rules = rulesOf(spec.rules ?? []);
  const all: Candidate<C>[] = [];
  for (const config of spec.configs?.(point, info) ?? [{} as C]) {
    demandFew("It has", all.length + 1);
    const broken = brokenBy(
      rules,
      (rule) => rule(point, config, info),
    );
    if (broken || !spec.predict) all.push({ config, ...broken });
    else {
      const predicted = spec.predict(point, config, info);
      // What the model cannot place comes last.
      all.push({ config, predicted: predicted >= 0 ? predicted : Infinity });
    }
  }
  if (!spec.predict) return all;
  const [legal = [], illegal = []] = [false, true].map((is) =>
    all.filter((one) => (one.illegal !== undefined) === is)
  );
  // Compared, not subtracted: two infinities are as good as one another.
  legal.sort(({ predicted: a = 0 }, { predicted: b = 0 }) =>
    a < b ? -1 : a > b ? 1 : 0
  );
  return [...legal, ...illegal];
}

/** Returns the first of `rules` that `ask` gives a reason of. */
function brokenBy<P, C>(
  rules: readonly (readonly [string, Rule<P, C>])[],
  ask: (rule: Rule<P, C>) => unknown,
): Pick<Candidate, "illegal" | "rule"> | undefined {
  for (const [rule, test] of rules) {
    const who = `Its rule ${rule.replace(/^rule /, "")}`;
    const illegal = reasonOf(who, ask(test));
    if (illegal !== undefined) return { illegal, rule };
  }
}

function rulesOf<P, C>(rules: Rules<P, C>): [string, Rule<P, C>][] {
  if (!Array.isArray(rules)) return Object.entries(rules);
  return rules.map((rule, i) => [rule.name || `rule ${i + 1}`, rule]);
}
