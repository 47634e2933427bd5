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
import { CaseError } from "../../../bench/model/errors.ts";
import type { Case } from "../../../bench/model/suite.ts";
import { archInfo } from "./archs.ts";
import { backendNamed } from "../../../session/select.ts";
import { kernelCacheOf } from "../../../session/home.ts";
import type { Choice } from "../../../session/options.ts";
import { Progress } from "../../terminal/progress.ts";
import {
  casesWithin,
  checkAxes,
  checkKernels,
  type Filter,
  loadSuites,
  nothing,
} from "../../../session/cases.ts";
import { say, tell } from "../../terminal/output.ts";
import { distinctBuilds } from "../../../session/build_ahead.ts";

/** Selects kernels and the folder that they are built into. */
export interface KernelChoice extends Choice {
  readonly backend: string | undefined;
  readonly kernelCache: string | undefined;
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
  const { info, backend: usual } = archInfo(arch);
  const backend = backendNamed(options.backend ?? usual);
  const suites = await loadSuites(options.suites);
  checkKernels(suites, options.kernels);
  checkAxes(suites, options.where);
  const filter: Filter = {
    kernels: options.kernels,
    points: options.quick ? "quick" : "all",
    overrides: options.overrides,
    where: options.where,
    backend: backend.name,
  };
  const builds = unitsOf(casesWithin(suites, filter), { backend, info });
  if (builds.length === 0) {
    throw nothing(`no selected kernel of ${backend.name} has a source`);
  }
  const dir = kernelCacheOf(options.kernelCache);
  const cache = new BinaryCache(dir);
  const entries: string[] = [];
  let failed = 0;
  {
    using progress = new Progress(`build ${arch}`, builds.length);
    await inParallel(builds, async (unit) => {
      try {
        const { path } = await cache.get(unit, backend, arch);
        entries.push(basename(dirname(path)));
      } catch (error) {
        if (!(error instanceof CaseError)) throw error;
        failed++;
        progress.print(`FAIL ${titleOf(unit)}: ${error.message}`);
      }
      progress.step({ failed });
    });
  }
  say(`${arch}: ${builds.length - failed} built, ${failed} failed`);
  tell(`Kernels are in ${dir}`);
  return { failed, entries };
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

function titleOf({ source, defines }: Build): string {
  const name = source.pathname.split("/").at(-1);
  const values = Object.entries(defines).map(([k, v]) => `${k}=${v}`);
  return [name, ...values].join(" ");
}

/** `work` on every one of `items`, as many at a time as the machine has cores. */
async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const hand = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(
    Array.from({ length: navigator.hardwareConcurrency }, hand),
  );
}
