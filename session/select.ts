/**
 * Selects the cases of a command and the device that they run on.
 *
 * @module
 */

import { resolve } from "node:path";
import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import { counted } from "../bench/files/terminal_text.ts";
import { isPythonCase } from "../bench/model/peer.ts";
import type { Overrides } from "../bench/model/axes.ts";
import { CaseError, EXIT, UserError } from "../bench/model/errors.ts";
import {
  type DeviceSet,
  type Selection,
  type Shard,
  startsEarly,
  type Timer,
  usesGraph,
  withoutGraphs,
} from "../bench/model/settings.ts";
import type { Case, PointSet, Suite, Where } from "../bench/model/suite.ts";
import { isAuto } from "../bench/tune/auto_kernel.ts";
import type { Choice, PeerChoice, Running, Target, Timing } from "./options.ts";
import {
  besidePeers,
  casesWithin,
  choose,
  type Chosen,
  isFile,
  named,
  nothing,
} from "./cases.ts";
import { dealPoints } from "./share/shards.ts";
import { sharing, takeDevice, type TakenDevice } from "./take_device.ts";
import { builtInSuites, suiteNames, usualNames } from "../suites/mod.ts";

/** A device, and the cases that it is to run. */
export interface Selected extends TakenDevice {
  readonly suites: readonly Suite[];
  readonly selection: Selection;
  readonly cases: readonly Case[];
  /** True if the CPU runs only a few points, as the user named neither suites nor sizes. */
  readonly preset: boolean;
  /** The devices that share the cases; the first is `info`. @default {`info` alone} */
  readonly infos?: readonly DeviceInfo[];
  /** The cases of each shard, if a shard was selected. */
  readonly parts?: readonly (readonly Case[])[];
}

/** Options of a selection. */
export type Selecting =
  & Choice
  & Target
  & Partial<PeerChoice & Running & Timing>
  & {
    /** The suites if none is named. @default {the usual ones, or all if a kernel is in none of them} */
    readonly unnamed?: readonly string[];
    /** The devices that share the cases. @default {`device` alone} */
    readonly devices?: DeviceSet | undefined;
    /** Sizes that the command sets, which do not count as chosen by the user. */
    readonly sizes?: Overrides;
    /** The shard of the cases to take. */
    readonly shard?: Shard | undefined;
    /** Whether a shard may have no case. @default {false} */
    readonly orNone?: boolean;
  };

async function chosenBy(options: Selecting): Promise<Chosen> {
  const names = named(options.suites);
  return await choose({
    ...options,
    early: options.timer !== undefined && startsEarly(options.timer),
    suites: names.length > 0
      ? names
      : options.unnamed ?? await usualFor(options),
  });
}

/**
 * Returns the cases of `options` without a device: of every backend unless one is named.
 *
 * @throws {UserError} For unknown names, and more cases than a sweep can have.
 */
export async function casesAnywhere(
  options: Selecting,
): Promise<readonly Case[]> {
  const { suites, filter } = await chosenBy(options);
  const { backend, shard } = options;
  const all = casesWithin(suites, {
    ...filter,
    ...(backend === undefined ? {} : { backend }),
  });
  return shard === undefined
    ? all
    : dealPoints(all, shard.count)[shard.index - 1]!;
}

/**
 * Takes a device and the cases of `options` on it: the wanted points, or every point of
 * the suites on a GPU and, unless suites or sizes are named, a few on a CPU.
 *
 * @throws {UserError} For unknown names, no usable device, no case.
 */
export async function select(
  options: Selecting,
  wanted?: PointSet,
): Promise<Selected> {
  const names = named(options.suites);
  const { suites, own } = await chosenBy(options);
  const kernels = kernelsOf(suites, options);
  demandSome(suites, kernels);
  const taken = await takeDevice({
    ...options,
    useful: new Set(kernels.map(({ backend }) => backend)),
    isPython: kernels.some(({ runner }) => runner === "python"),
  });
  const { backend, info } = taken;
  const { devices, shard, timer, overrides, where } = options;
  const infos = devices && sharing(taken, devices);
  if (timer !== undefined) demandGraphs(backend, timer);
  const isChosen = names.length > 0 ||
    Object.keys({ ...overrides, ...where }).length > 0;
  const preset = backend.name === "cpu" && !isChosen && wanted === undefined;
  const points = wanted ?? (options.quick || preset ? "quick" : "all");
  const chosen = selectionOf(options, { suites, taken, points });
  const whole = casesWithin(suites, chosen);
  const parts = shard && dealPoints(whole, shard.count);
  const all = parts ? parts[shard.index - 1]! : whole;
  const lacking = backend.lacks?.(new Set(all.map((c) => c.kernel))) ?? [];
  const cases = preset && !parts && options.kernels.length === 0 &&
      canBuild(backend, info)
    ? all.filter(({ teaching }) => !teaching)
    : all;
  const selection = await withPython(chosen, cases, options);
  if (cases.length === 0) {
    if (shard === undefined || whole.length === 0) throw noCaseError(selection);
    if (!options.orNone) {
      throw nothing(`shard ${shard.index}/${shard.count} has no case`);
    }
  }
  const notes = [
    ...lacking,
    ...taken.notes,
    ...(infos ? [sharedBy(infos)] : []),
    ...elsewhere(names, own, selection),
    ...imprecise(cases, options),
    ...(selection.peers === undefined
      ? []
      : (await import("../peers/cases.ts")).peersElsewhere(selection)),
  ];
  return {
    ...taken,
    notes,
    suites,
    selection,
    cases,
    preset,
    ...(parts ? { parts } : {}),
    ...(infos ? { infos } : {}),
  };
}

/** Returns the selection of `options` on the taken device. */
function selectionOf(
  options: Selecting,
  { suites, taken: { backend, info }, points }: {
    readonly suites: readonly Suite[];
    readonly taken: TakenDevice;
    readonly points: PointSet;
  },
): Selection {
  const names = named(options.suites);
  const { kernels, device, overrides, sizes, where, shard, devices } = options;
  return {
    suites: names.length === 0
      ? suites.map(({ name }) => name)
      // Absolute, so that the run is the same from another folder.
      : names.map((name) => isFile(name) ? resolve(name) : name),
    kernels,
    backend: backend.name,
    device: typeof device === "string" ? device : info.index,
    points,
    overrides: points.startsWith("edge") ? {} : { ...overrides, ...sizes },
    where,
    ...(shard === undefined ? {} : { shard }),
    ...(devices === undefined ? {} : { devices }),
  };
}

/** Makes the error for a selection without a case. */
function noCaseError({ suites, backend, where }: Selection): UserError {
  return nothing(
    Object.keys(where).length > 0
      ? `no case is selected by --where ${
        formatWhere(where)
      }; \`list --cases\` shows what there is`
      : `no selected kernel runs on ${backend}; \`list\` says which kernels ${
        suites.join(", ")
      } has`,
  );
}

function sharedBy({ length }: readonly DeviceInfo[]): string {
  return length === 1
    ? "1 device has all cases"
    : `${length} devices share the cases`;
}

/** Returns `chosen` with the peers of `options` and the Python interpreter, if Python runs any case. */
async function withPython(
  chosen: Selection,
  cases: readonly Case[],
  { peers, python }: Partial<PeerChoice>,
): Promise<Selection> {
  if (peers === undefined && !cases.some(isPythonCase)) {
    if (python === undefined) return chosen;
    throw new UserError(
      "--python is of the peers and of Python kernels, and none is selected: add --peers torch, or leave out --python",
    );
  }
  const { pythonOf } = await import("../peers/cases.ts");
  const set = peers?.split(",").map((name) =>
    isFile(name) ? resolve(name) : name
  ).join();
  return {
    ...chosen,
    peers: { ...(set === undefined ? {} : { set }), python: pythonOf(python) },
  };
}

function canBuild(backend: Backend, { arch }: DeviceInfo): boolean {
  try {
    backend.compiler(arch);
    return true;
  } catch (error) {
    if (error instanceof CaseError) return false;
    throw error;
  }
}

/** @throws {UserError} If `timer` needs graphs and `backend` has none. */
function demandGraphs({ name, graphs }: Backend, timer: Timer): void {
  if (graphs === false && usesGraph(timer)) {
    throw new UserError(withoutGraphs(name));
  }
}

function formatWhere(where: Where): string {
  return Object.entries(where).map(([name, list]) => `${name}=${list.join()}`)
    .join(" --where ");
}

/** Returns the usual suites, or all suites if a named kernel is in none of these. */
async function usualFor(
  { kernels, peers }: Choice & Partial<PeerChoice>,
): Promise<readonly string[]> {
  const usual = await besidePeers(await builtInSuites(usualNames), peers);
  const known = usual.flatMap((suite) => suite.kernels.map(({ name }) => name));
  return kernels.every((name) => known.includes(name) || isAuto(name))
    ? usualNames
    : suiteNames;
}

/** Returns the selected kernels of `suites`. */
function kernelsOf(
  suites: readonly Suite[],
  { kernels }: Choice,
): Suite["kernels"] {
  return suites.flatMap((suite) => suite.kernels)
    .filter(({ name }) => kernels.length === 0 || kernels.includes(name));
}

/** @throws {UserError} If there is no kernel at all. Unknown names were refused before. */
function demandSome(
  suites: readonly Suite[],
  kernels: Suite["kernels"],
): void {
  if (kernels.length > 0) return;
  throw new UserError(
    `No kernels are in ${
      suites.map(({ name }) => name).join(", ")
    }: list some in it, as in \`kernels: [mine]\``,
    EXIT.nothing,
  );
}

/** Returns a note where the inputs of `cases` cannot tell TF32 from fp32; none where they can. */
function imprecise(
  cases: readonly Case[],
  { fill }: Partial<Running>,
): string[] {
  const isFp32 = ({ problem: { key } }: Case) =>
    key.a_type === "f32" && key.b_type === "f32";
  if (fill !== "integers" || !cases.some(isFp32)) return [];
  return [
    "Inputs are integers, which are exact in TF32 too: the precision of fp32 products is not checked",
  ];
}

/** Returns a note that counts the kernels of suite files for other backends; none if there are none. */
function elsewhere(
  names: readonly string[],
  suites: readonly Suite[],
  { backend, kernels }: Selection,
): string[] {
  const others = suites
    .filter((_, i) => names[i] !== undefined && isFile(names[i]!))
    .flatMap((suite) =>
      suite.kernels.filter(({ name, backend: own }) =>
        own !== backend && (kernels.length === 0 || kernels.includes(name)) &&
        !suite.kernels.some((k) => k.name === name && k.backend === backend)
      )
    );
  if (others.length === 0) return [];
  const own = new Intl.ListFormat("en-GB").format(
    new Set(others.map((kernel) => kernel.backend)),
  );
  const isOne = others.length === 1;
  return [
    `${counted(others.length, "kernel")} for ${own} ${
      isOne ? "is" : "are"
    } not run here`,
  ];
}
