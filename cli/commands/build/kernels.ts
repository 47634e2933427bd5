/**
 * `mnkbench build`: compiles kernels for an architecture that need not be present.
 *
 * @module
 */

import { BinaryCache } from "../../../bench/device/binary_cache.ts";
import type {
  Backend,
  Build,
  DeviceInfo,
} from "../../../bench/device/device.ts";
import { CaseError, EXIT, UserError } from "../../../bench/model/errors.ts";
import { buildText } from "../../../bench/measure/prepared_plan.ts";
import type { Case } from "../../../bench/model/suite.ts";
import { archInfo } from "./archs.ts";
import { backendNamed } from "../../../session/devices.ts";
import { kernelCacheOf } from "../../../session/home.ts";
import type { BuildOptions, Choice } from "../../../session/options.ts";
import { Progress } from "../../terminal/progress.ts";
import {
  checkKernels,
  loadSuites,
  nothing,
  overridesOf,
  pointsOf,
} from "../../../session/select.ts";
import { casesWithin } from "../../../session/selection.ts";
import { say, tell } from "../../terminal/output.ts";
import { distinctBuilds } from "../../../session/build_ahead.ts";

/** The options of every architecture of {@linkcode BuildOptions.arch}. */
export type BuildChoice = Omit<BuildOptions, "arch">;

/** Compiles for every wanted architecture. @returns The exit code. */
export async function build(options: BuildOptions): Promise<number> {
  if (options.arch.length === 0) {
    throw new UserError(
      "Nothing to build for: give --arch, as in --arch sm_90a",
    );
  }
  let failed = 0;
  for (const arch of options.arch) failed += await buildFor(arch, options);
  return failed > 0 ? EXIT.failed : EXIT.ok;
}

/** Every case of the built-in suites. */
export const EVERYTHING: Choice = {
  suites: [],
  kernels: [],
  m: undefined,
  n: undefined,
  k: undefined,
  quick: false,
};

/** Compiles for `arch`, saying what fails. @returns How many failed. */
export async function buildFor(
  arch: string,
  options: BuildChoice,
): Promise<number> {
  const { info, backend: usual } = archInfo(arch);
  const backend = backendNamed(options.backend ?? usual);
  const suites = await loadSuites(options.suites);
  checkKernels(suites, options.kernels);
  const filter = {
    kernels: options.kernels,
    points: pointsOf(options),
    overrides: overridesOf(options),
    backend: backend.name,
  };
  const builds = unitsOf(casesWithin(suites, filter), { backend, info });
  if (builds.length === 0) {
    throw nothing(`no selected kernel of ${backend.name} has a source`);
  }
  const dir = kernelCacheOf(options.kernelCache);
  const cache = new BinaryCache(dir);
  let failed = 0;
  {
    using progress = new Progress(`build ${arch}`, builds.length);
    await inParallel(builds, async (unit) => {
      try {
        await cache.get(unit, backend, arch);
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
  return failed;
}

/** The different translation units of a selection, the instruments' first. */
export function unitsOf(
  cases: readonly Case[],
  { backend, info }: { backend: Backend; info: DeviceInfo },
): readonly Build[] {
  const instruments = { source: backend.instruments, defines: {} };
  const referees = cases.flatMap(({ problem }) =>
    problem.referee(backend.name)?.builds({}) ?? []
  );
  const units = [instruments, ...distinctBuilds(cases, info), ...referees];
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
