/**
 * Defines kernels: sources or library calls, tunables, and the plan of one timed call.
 *
 * @module
 */

import type { Build, Device } from "../device/device.ts";
import type { LaunchShape } from "../device/queue.ts";
import { type Axes, type ChoiceOf, grid, type Values } from "./grid.ts";
import { candidatesOf, demandFew } from "./candidates.ts";
import { demandKernel, demandLaunch } from "./spec_schema.ts";
import type { Op } from "./op.ts";
import { reasonOf } from "./errors.ts";
import type { Context, Kernel, KernelSpec, LaunchSpec } from "./kernel_spec.ts";

export type { Candidate, Rule, Rules } from "./candidates.ts";

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
