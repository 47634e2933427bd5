/**
 * The cases of the tests that go through the registry: what a folder of an operation gives them
 * in `testdata/cases.ts` and `testdata/<backend>_mutants.ts`.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import {
  parseValues,
  type Scalar,
  type Values,
} from "../../bench/model/grid.ts";
import type { Fill } from "../../bench/model/inputs.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { columnOf } from "../../bench/model/axes.ts";
import { defineSuite, type Suite } from "../../bench/model/suite.ts";
import { ops, type RegisteredOp } from "../mod.ts";
import type { Emulated } from "./emulated.ts";

/** The backends that the lane emulator runs. */
export const EMULATED = ["cuda", "hip", "metal"] as const;
/** The name of one of them. */
export type EmulatedBackend = typeof EMULATED[number];

/** The cases of an operation. */
export interface OpCases<P> {
  /** Points as long as those of the suites, at which mutants of the operation must fail too. @default {none} */
  readonly long?: readonly P[];
  /** Points of several blocks, ragged and not, at which CPU kernels must be right too. @default {none} */
  readonly larger?: readonly P[];
  /** The fill of the inputs of CPU kernels. @default {"normal"} */
  readonly fill?: Fill;
  /**
   * Points of the CUDA reference on the emulator: each type, layout and format.
   *
   * @default {the edge-case shapes}
   */
  readonly references?: readonly P[];
  /** Points of `check` on the emulator, by backend. @default {the edge-case shapes} */
  readonly checked?: Partial<Readonly<Record<EmulatedBackend, readonly P[]>>>;
  /** Matches the notes of unsupported rows of `check`. @default {there are none} */
  readonly unsupported?: RegExp;
  /** Kernels that no H200 runs: tests of their own compile them. @default {none} */
  readonly neverRun?: readonly string[];
  /** Points whose CUDA builds nvcc compiles. @default {the edge-case shapes} */
  readonly built?: readonly P[];
  /** Of these builds those that differ most, in registers and in headers. @default {all} */
  chosen?(builds: readonly Build[]): readonly Build[];
  /** The paths of sources that may keep arrays on a stack: they are never timed. @default {none} */
  readonly stack?: RegExp;
}

/** A case at which a kernel is right and each of `mutants` must be caught. */
export interface MutantCase<P> extends Emulated<P> {
  /** The architecture of the emulated GPU, of CUDA or HIP. @default {"sm_90a" or "gfx942"} */
  readonly arch?: string;
  readonly mutants: readonly string[];
}

/**
 * Returns the cases of the operation in `folder`.
 *
 * @throws {Error} Where the folder has no `testdata/cases.ts`, in one line.
 */
export async function casesOf(
  { folder }: Pick<RegisteredOp, "folder">,
): Promise<OpCases<unknown>> {
  const file = new URL(`../${folder}/testdata/cases.ts`, import.meta.url);
  if (!isThere(file)) {
    throw new Error(
      `Cannot test the op of kernels/${folder}/: testdata/cases.ts is missing; add it with \`export const cases: OpCases<Point> = {}\``,
    );
  }
  const module: { readonly cases: OpCases<unknown> } = await import(file.href);
  return module.cases;
}

/** An operation with its cases. */
export interface OpWithCases {
  readonly entry: RegisteredOp;
  readonly cases: OpCases<unknown>;
}

/**
 * Loads the cases of each operation. One whose cases cannot be loaded becomes a failed test, so
 * that the tests of the others run.
 */
export async function opsWithCases(): Promise<readonly OpWithCases[]> {
  const loaded: OpWithCases[] = [];
  for (const entry of ops) {
    try {
      loaded.push({ entry, cases: await casesOf(entry) });
    } catch (error) {
      Deno.test(`casesOf() loads the cases of ${entry.folder}/`, () => {
        throw error;
      });
    }
  }
  return loaded;
}

/** The exports of `testdata/<backend>_mutants.ts` of a folder. */
export interface MutantModule {
  readonly mutantCases: Readonly<Record<string, MutantCase<unknown>>>;
  /** Mutants that a test of their own catches. @default {none} */
  readonly otherMutants?: readonly string[];
}

/** The mutants of a folder's kernels for `backend`; none where there is no file of them. */
export async function mutantsFor(
  folder: string,
  backend: EmulatedBackend,
): Promise<MutantModule> {
  const file = new URL(
    `../${folder}/testdata/${backend}_mutants.ts`,
    import.meta.url,
  );
  return isThere(file) ? await import(file.href) : { mutantCases: {} };
}

function isThere(file: URL): boolean {
  try {
    return Deno.statSync(file).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Returns whether a kernel is the vendor's: it has no source here. */
export function isLibrary<P>({ name }: Kernel<P>): boolean {
  return /blas|^bmm-sum$/.test(name);
}

/** The values on the axes of `op` that name `point`. */
export function valuesOf<P>(op: Op<P>, point: P): Values {
  const key = op.key(point);
  const params = parseValues(key.params);
  return Object.fromEntries(
    op.axes.flatMap((axis): [string, Scalar][] => {
      const column = columnOf(axis);
      const value = params[axis.name] ?? (column ? key[column] : undefined);
      return value === undefined ? [] : [[axis.name, value]];
    }),
  );
}

/** A point, for messages. */
export function title<P>(op: Op<P>, point: P): string {
  const { a_type, layout, m, n, k, params } = op.key(point);
  return `${a_type} ${layout} ${m}x${n}x${k} ${params}`;
}

/** Sources of kernels, and headers that they include. */
const SOURCE = /\.(cu|cuh|hip|metal|c|h)$/;
const ROOT = new URL("../", import.meta.url);
const SITE = /\bMUTANT\((\w+)\)/g;

function* sources(folder: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* sources(new URL(`${name}/`, folder));
    else if (SOURCE.test(name) && name !== "mutant.h") {
      yield new URL(name, folder);
    }
  }
}

/** The names of all mutants in the sources of kernels, one for each site. */
export function sites(): string[] {
  return [...sources(ROOT)].flatMap((source) =>
    [...Deno.readTextFileSync(source).matchAll(SITE)].map(([, name]) => name!)
  );
}

const known = new Map<string, ReadonlySet<string>>();

/** The names of the mutants in `source` and in all that it includes. */
export function mutantsOf(source: URL): ReadonlySet<string> {
  const found = known.get(source.href);
  if (found) return found;
  const names = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: URL) => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const text = Deno.readTextFileSync(file);
    for (const [, name] of text.matchAll(SITE)) names.add(name!);
    for (const [, path] of text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
      visit(new URL(path!, file));
    }
  };
  visit(source);
  known.set(source.href, names);
  return names;
}

/** The suite of the operation in `folder`, with its own kernels for `backend`. */
export async function edgeSuite(
  folder: string,
  backend: EmulatedBackend,
): Promise<Suite> {
  const { op, kernels } = ops.find((entry) => entry.folder === folder)!;
  const points = (await casesOf({ folder })).checked?.[backend] ??
    op.edgeCases;
  return defineSuite({
    name: `${folder}-${backend}-edge`,
    title: `${op.name} for ${backend} at edge-case shapes`,
    // `check` adds the operation's own to the suite's.
    op: { ...op, edgeCases: points.slice(0, 1) },
    axes: { edge: points.map((point) => valuesOf(op, point)) },
    kernels: kernels.filter((kernel) =>
      kernel.backend === backend && !isLibrary(kernel)
    ),
    baselines: [],
  });
}
