/**
 * Compiles kernels for an architecture that need not be present.
 *
 * @module
 */

import { basename, dirname } from "node:path";
import { BinaryCache } from "../../../bench/device/binary_cache.ts";
import {
  type Backend,
  type Build,
  buildText,
  type DeviceInfo,
} from "../../../bench/device/device.ts";
import { CaseError, UserError } from "../../../bench/model/errors.ts";
import type { Case } from "../../../bench/model/suite.ts";
import { backendNamed } from "../../../session/take_device.ts";
import { kernelCacheOf } from "../../../session/home.ts";
import type { Choice } from "../../../session/options.ts";
import { logLine, printLine, Progress } from "../../terminal/output.ts";
import {
  casesWithin,
  choose,
  type Filter,
  nothing,
} from "../../../session/cases.ts";
import { isAuto } from "../../../bench/tune/auto_kernel.ts";
import { distinctBuilds } from "../../../session/build_ahead.ts";
import { recordedRows } from "../../../session/hints.ts";
import { suiteNames } from "../../../suites/mod.ts";

/** Selects kernels and the folder that they are built into. */
export interface KernelChoice extends Choice {
  readonly kernelCache: string | undefined;
}

/** An architecture of each backend, as examples in errors. */
export const SOME_ARCHS: Readonly<Record<string, string>> = {
  cuda: "sm_90a",
  hip: "gfx942",
  metal: "applegpu_g16s",
  cpu: Deno.build.arch,
};

/**
 * Refuses an architecture that the kernel of a file cannot be built for.
 *
 * @param backend That of the file.
 * @throws {UserError} For one of another backend.
 */
export function demandBuildable(
  file: string,
  { backend, arch }: { readonly backend: string; readonly arch: string },
): void {
  const own = archInfo(arch).backend;
  if (own === backend) return;
  throw new UserError(
    `Cannot build ${file} for ${arch}: the kernel is for ${backend}, and ${arch} is of ${own}; give --arch ${
      SOME_ARCHS[backend]
    }`,
  );
}

/** The outcome of a build. */
export interface BuiltKernels {
  readonly failed: number;
  /** The entries of the kernel cache, by name. */
  readonly entries: readonly string[];
}

/** Compiles for `arch`, saying what fails. */
export async function buildFor(
  arch: string,
  options: KernelChoice,
): Promise<BuiltKernels> {
  const { info, backend: name } = archInfo(arch);
  const backend = await backendNamed(name);
  const { suites, filter: usual } = await choose(options);
  const filter: Filter = { ...usual, backend: name };
  const builds = unitsOf(casesWithin(suites, filter), { backend, info });
  if (builds.length === 0) {
    throw nothing(`no selected kernel of ${backend.name} has a source`);
  }
  const dir = kernelCacheOf(options.kernelCache);
  const cache = new BinaryCache(dir, { note: logLine });
  const { paths, failed } = await buildAll(builds, { cache, backend, arch });
  printLine(`${arch}: ${builds.length - failed} built, ${failed} failed`);
  logLine(`Kernels are in ${dir}`);
  const built = paths.filter((path) => path !== undefined);
  return { failed, entries: built.map((path) => basename(dirname(path))) };
}

/** Compiles `builds`, as many at a time as the machine has cores, saying what fails. @returns The binary of each that does not. */
export async function buildAll(
  builds: readonly Build[],
  { cache, backend, arch }: {
    readonly cache: BinaryCache;
    readonly backend: Backend;
    readonly arch: string;
  },
): Promise<
  { readonly paths: readonly (string | undefined)[]; readonly failed: number }
> {
  using progress = new Progress(`build ${arch}`, builds.length);
  const paths: (string | undefined)[] = builds.map(() => undefined);
  let failed = 0;
  const left = builds.entries();
  const hand = async () => {
    for (const [i, build] of left) {
      try {
        paths[i] = (await cache.get(build, backend, arch)).path;
      } catch (error) {
        if (!(error instanceof CaseError)) throw error;
        failed++;
        progress.print(`FAIL ${titleOf(build)}: ${error.message}`);
      }
      progress.step({ failed });
    }
  };
  await Promise.all(
    Array.from({ length: navigator.hardwareConcurrency }, hand),
  );
  return { paths, failed };
}

/**
 * The names of the suites with recorded configs on devices of `arch`; none, which stands for all,
 * where there is no such device. For the points of other suites nothing says which configs are worth
 * their place in an archive.
 *
 * @param note Takes a line about suites that are left out.
 * @param names Of the suites. @default {all of mnkbench}
 */
export function recordedSuites(
  arch: string,
  note: (line: string) => void,
  names: readonly string[] = suiteNames,
): readonly string[] {
  const recorded = new Set(
    recordedRows(archInfo(arch).info)
      .filter(({ kernel, config, source_hash }) =>
        config !== "" && source_hash !== "" && !isAuto(kernel)
      )
      .map(({ suite }) => suite),
  );
  const suites = names.filter((name) => recorded.has(name));
  const others = names.filter((name) => !recorded.has(name));
  if (suites.length > 0 && others.length > 0) {
    note(
      `Packing for the suites with recorded rows on ${arch}, without ${
        others.join(", ")
      }: --suite names others`,
    );
  }
  return suites;
}

/** The different translation units of a selection, the instruments' first. */
export function unitsOf(
  cases: readonly Case[],
  { backend, info }: { backend: Backend; info: DeviceInfo },
): readonly Build[] {
  const instruments = { source: backend.instruments, defines: {} };
  const referenceKernels = cases.flatMap(({ problem }) =>
    problem.referenceKernel(backend.name)?.builds({}) ?? []
  );
  const units = [
    instruments,
    ...distinctBuilds(cases, info),
    ...referenceKernels,
  ];
  return [...new Map(units.map((unit) => [buildText(unit), unit])).values()];
}

/** Returns a build as a line of a listing. */
function titleOf({ source, defines }: Build): string {
  const name = source.pathname.split("/").at(-1);
  const values = Object.entries(defines).map(([k, v]) => `${k}=${v}`);
  return [name, ...values].join(" ");
}

interface Arch {
  readonly pattern: RegExp;
  readonly backend: string;
  readonly name: string;
  /** Multiprocessors or compute units of the largest device sold: what configs are laid out for. */
  readonly units: number;
  /** Bytes of shared memory that a block may use. */
  readonly sharedBytes: number;
  /** {@linkcode DeviceInfo.clusters} of that device, where somebody asked one. */
  readonly clusters?: readonly number[];
}

const KIB = 1024;

/**
 * NVIDIA's figures are the largest dynamic shared memory per block of the CUDA C
 * Programming Guide's table of technical specifications; AMD's are the local data share of
 * a workgroup in the manuals of the CDNA 3 and CDNA 4 instruction sets.
 */
const ARCHS: readonly Arch[] = [
  {
    pattern: /^sm_90a?$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 132,
    sharedBytes: 227 * KIB,
    // Of an H200.
    clusters: [132, 66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7],
  },
  {
    pattern: /^sm_(100|103)[af]?$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 148,
    sharedBytes: 227 * KIB,
  },
  {
    pattern: /^sm_(80|87)$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 108,
    sharedBytes: 163 * KIB,
  },
  {
    pattern: /^sm_(86|89|120|121)[af]?$/,
    backend: "cuda",
    name: "NVIDIA GPU",
    units: 128,
    sharedBytes: 99 * KIB,
  },
  {
    pattern: /^gfx950$/,
    backend: "hip",
    name: "AMD GPU",
    units: 256,
    sharedBytes: 160 * KIB,
  },
  {
    pattern: /^gfx\d+[a-f]?$/,
    backend: "hip",
    name: "AMD GPU",
    units: 304,
    sharedBytes: 64 * KIB,
  },
  {
    pattern: /^applegpu_g\d+[a-z]$/,
    backend: "metal",
    name: "Apple GPU",
    units: 40,
    sharedBytes: 32 * KIB,
  },
  {
    pattern: /^(x86_64|aarch64|arm64)\b/,
    backend: "cpu",
    name: "CPU",
    units: 1,
    sharedBytes: 0,
  },
];

/** Compute capability 9.0 and later: CUDA C Programming Guide, "Feature Support". */
const TENSOR_MAPS = /^sm_(9\d|1\d\d)/;

/**
 * A stand-in for a device of `arch`, and its backend.
 *
 * @throws {UserError} For a name of no known architecture.
 */
export function archInfo(
  arch: string,
): { readonly backend: string; readonly info: DeviceInfo } {
  const known = ARCHS.find(({ pattern }) => pattern.test(arch));
  if (known === undefined) {
    throw new UserError(
      `No architecture is named ${arch}: give one such as sm_90a, gfx942 or x86_64`,
    );
  }
  const { backend, name, units, sharedBytes, clusters } = known;
  return {
    backend,
    info: {
      index: 0,
      name,
      arch,
      units,
      cacheBytes: 0,
      flushBytes: 0,
      sharedBytes,
      driver: "",
      tensorMaps: TENSOR_MAPS.test(arch),
      ...(clusters ? { clusters } : {}),
    },
  };
}
