/**
 * Kernels of one launch, their arguments, and the f64 references.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import {
  type Arg,
  i32,
  i64,
  type LaunchShape,
  mem,
  type Memory,
  type Step,
} from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type {
  Context,
  Kernel,
  KernelSpec,
} from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";

/** An argument: memory, a null pointer where it is missing, an `int`, or a flag as an `int`. */
export type Value = Arg | Memory | undefined | number | boolean;

/** Packs arguments in the order of the C parameters. */
export function packed(values: readonly Value[]): Arg[] {
  return values.map((value) => {
    if (value === undefined) return i64(0);
    if (typeof value !== "object") return i32(Number(value));
    return "kind" in value ? value : mem(value);
  });
}

/** Little-endian records of C structs: `bigint`s are 64 bits, at multiples of 8, and numbers 32. */
export function structs(
  records: readonly (readonly (bigint | number)[])[],
): Uint8Array<ArrayBuffer> {
  const fields = records.flat();
  const sizes = fields.map((field) => typeof field === "bigint" ? 8 : 4);
  const view = new DataView(
    new ArrayBuffer(sizes.reduce((sum, size) => sum + size, 0)),
  );
  let at = 0;
  fields.forEach((field, i) => {
    if (typeof field === "bigint") view.setBigInt64(at, field, true);
    else view.setInt32(at, field, true);
    at += sizes[i]!;
  });
  return new Uint8Array(view.buffer);
}

/** Memory of the device with `bytes`; waits. */
export function uploaded(
  { alloc }: { alloc(bytes: number): Memory },
  bytes: Uint8Array<ArrayBuffer>,
): Memory {
  const memory = alloc(bytes.length);
  memory.upload(bytes);
  return memory;
}

/** What is queued: arguments and, unless it has the name of its source, the entry. */
interface Launch {
  readonly args: readonly Value[];
  /** @default {one block of one thread: C starts threads of its own} */
  readonly shape?: LaunchShape;
  /** @default {the name of the source, without its extension} */
  readonly entry?: string;
}

const ONE: LaunchShape = { grid: [1, 1, 1], block: [1, 1, 1] };

/** A launch of an entry of `build`. */
export function launch<P, C>(
  { program }: Pick<Context<P, C>, "program">,
  build: Build,
  {
    args,
    shape = ONE,
    entry = build.source.pathname.split("/").at(-1)!.split(".")[0]!,
  }: Launch,
): Step {
  return program(build, entry).step(packed(args), shape);
}

/** Describes a kernel of one launch. */
interface LaunchSpec<P, C extends Values>
  extends Omit<KernelSpec<P, C>, "builds" | "prepare"> {
  build(point: P, config: C): Build;
  launch(site: Context<P, C>): Launch;
}

/**
 * Defines a kernel of one launch whose macros, arguments or launch shape follow from its config. Where
 * it `startsEarly`, its shape `waits`.
 * `defineLaunch()` is simpler where the macros are the tunables.
 */
export function launched<P, C extends Values = Values>(
  op: Op<P>,
  { build, launch: queued, ...spec }: LaunchSpec<P, C>,
): Kernel<P> {
  return defineKernel<P, C>(op, {
    ...spec,
    builds: (point, config) => [build(point, config)],
    prepare(site) {
      const { shape = ONE, ...rest } = queued(site);
      const waits = spec.startsEarly?.(site.point) ? { waits: true } : {};
      return {
        steps: [
          launch(site, build(site.point, site.config), {
            ...rest,
            shape: { ...shape, ...waits },
          }),
        ],
      };
    },
  });
}

/** Warps, or waves, of a block of a reference, each at work on one output. */
const WARPS = 4;
/** Blocks at most: enough to fill any device. */
const MOST_BLOCKS = 1 << 16;

/** Lanes of a warp or wave. */
const LANES = { cuda: 32, hip: 64 } as const;

/** A plain kernel with f64 sums that writes outputs as unpadded f64. */
export interface ReferenceSpec<P> {
  readonly source: URL;
  defines?(point: P): Values;
  /** @default {those of the operation} */
  args?(site: Context<P, Values>): readonly Value[];
  /** @default {a warp for each of M x N outputs on a GPU} */
  shape?(point: P): LaunchShape;
}

/** The references of an operation, by backend. */
export function referenceKernels<P>(
  op: Op<P>,
  specs: Partial<Readonly<Record<"cuda" | "hip" | "cpu", ReferenceSpec<P>>>>,
): readonly Kernel<P>[] {
  return (["cuda", "hip", "cpu"] as const).flatMap((backend) => {
    const spec = specs[backend];
    if (!spec) return [];
    const { source, defines } = spec;
    const shapeOf = (point: P): Pick<Launch, "shape"> => {
      if (spec.shape) return { shape: spec.shape(point) };
      if (backend === "cpu") return {};
      const { m, n } = op.key(point);
      const blocks = Math.min(MOST_BLOCKS, Math.ceil(m * n / WARPS));
      const block = [LANES[backend] * WARPS, 1, 1] as const;
      return { shape: { grid: [blocks, 1, 1], block } };
    };
    return launched(op, {
      name: "reference",
      backend,
      idea: backend === "cpu"
        ? "plain loops, f64 sums and output"
        : "the definition, accumulated in double precision",
      build: (point) => ({ source, defines: defines?.(point) ?? {} }),
      launch: (site) => ({
        ...shapeOf(site.point),
        args: spec.args?.(site) ?? op.args(site.point, site.operands),
        entry: "reference",
      }),
    });
  });
}

/**
 * Demands that the operand `name` starts at a multiple of `bytes`.
 *
 * @param who What needs it, in the error, such as tensor maps.
 * @throws {CaseError} `unsupported`, where it does not.
 */
export function demandAligned(
  { address }: Memory,
  name: string,
  who: string,
  bytes = 16n,
): void {
  if (address % bytes === 0n) return;
  throw new CaseError(
    "unsupported",
    `${name} starts at no multiple of ${bytes} bytes, which ${who} need`,
  );
}
