/**
 * Selects the device and the cases of a command.
 *
 * @module
 */

import {
  DEFAULTS,
  type Selection,
  type Settings,
} from "../bench/model/settings.ts";
import { UserError } from "../bench/model/errors.ts";
import type { Case, PointSet, Suite, Where } from "../bench/model/suite.ts";
import { suites as allSuites, usualSuites } from "../suites/mod.ts";
import { backendNamed, takeDevice, type Taken } from "./devices.ts";
import { fromHere, kernelCacheOf } from "./home.ts";
import type { Choice, PeerChoice, Running, Target } from "./options.ts";
import { besidePeers, peersElsewhere, pythonOf } from "../peers/cases.ts";
import {
  casesOf,
  checkAxes,
  checkKernels,
  type Filter,
  isFile,
  loadSuites,
  named,
  nothing,
} from "./select.ts";

/** A device, and the cases that it is to run. */
export interface Selected extends Taken {
  readonly suites: readonly Suite[];
  readonly selection: Selection;
  readonly cases: readonly Case[];
  /** Whether the CPU runs a few points because nobody asked for more. */
  readonly preset: boolean;
}

/**
 * Takes a device and the cases of `options` on it: the wanted points, or every point of
 * the suites on a GPU and, unless suites or sizes are named, a few on a CPU.
 *
 * @throws {UserError} For unknown names, no usable device, no case.
 */
export async function select(
  options: Choice & Target & Partial<PeerChoice & Running> & {
    /** The suites where none is named. @default {the usual ones that have the kernels} */
    readonly unnamed?: readonly Suite[];
  },
  wanted?: PointSet,
): Promise<Selected> {
  const names = named(options.suites);
  const ours = await loadSuites(names, options.unnamed ?? usualFor(options));
  const suites = besidePeers(ours, options.peers);
  checkKernels(suites, options.kernels);
  checkAxes(suites, options.where);
  if (options.backend !== undefined) backendNamed(options.backend);
  const taken = takeDevice({ ...options, useful: usefulOf(suites, options) });
  const { overrides, where } = options;
  const own = names.length > 0 ||
    Object.keys({ ...overrides, ...where }).length > 0;
  const preset = taken.backend.name === "cpu" && !own && wanted === undefined;
  const selection: Selection = {
    suites: names.length === 0
      ? suites.map(({ name }) => name)
      // The same file from another folder is the same run.
      : names.map((name) => isFile(name) ? fromHere(name) : name),
    kernels: options.kernels,
    backend: taken.backend.name,
    device: typeof options.device === "string"
      ? options.device
      : taken.info.index,
    points: wanted ?? (options.quick || preset ? "quick" : "all"),
    overrides: wanted?.startsWith("edge") ? {} : overrides,
    where,
    ...(options.peers === undefined ? {} : {
      peers: { set: options.peers, python: pythonOf(options.python) },
    }),
  };
  const cases = casesWithin(suites, selection);
  if (cases.length === 0) {
    throw nothing(
      Object.keys(where).length > 0
        ? `no case is selected by --where ${
          formatWhere(where)
        }; \`list --cases\` shows what there is`
        : `no selected kernel runs on ${selection.backend}; \`list\` says which kernels ${
          selection.suites.join(", ")
        } has`,
    );
  }
  const notes = [
    ...taken.notes,
    ...elsewhere(names, ours, selection),
    ...peersElsewhere(selection),
  ];
  return { ...taken, notes, suites, selection, cases, preset };
}

function formatWhere(where: Where): string {
  return Object.entries(where).map(([name, list]) => `${name}=${list.join()}`)
    .join(" --where ");
}

/** The usual suites; every one where a kernel is named that is in none of them. */
function usualFor(
  { kernels, peers }: Choice & Partial<PeerChoice>,
): readonly Suite[] {
  const known = besidePeers(usualSuites, peers)
    .flatMap((suite) => suite.kernels.map(({ name }) => name));
  return kernels.every((name) => known.includes(name))
    ? usualSuites
    : allSuites;
}

/** More would run for weeks, and their keys alone fill the memory. */
const MOST_CASES = 200_000;

/**
 * The cases of `suites` that `filter` lets through.
 *
 * @throws {UserError} If they are more than a sweep can be, as soon as that is known.
 */
export function casesWithin(
  suites: readonly Suite[],
  filter: Filter,
): readonly Case[] {
  const lists = Object.values(filter.overrides);
  const points = lists.reduce((product, list) => product * list.length, 1);
  const cases: Case[] = [];
  // Nothing is made where the sizes alone are too many.
  if (points <= MOST_CASES) {
    for (const one of casesOf(suites, filter)) {
      if (cases.push(one) > MOST_CASES) break;
    }
  }
  if (points <= MOST_CASES && cases.length <= MOST_CASES) return cases;
  throw new UserError(
    `The sizes make more than ${MOST_CASES} cases: give shorter lists or larger steps to --axis, --m, --n and --k`,
  );
}

/** The backends that a selected kernel runs on. */
function usefulOf(
  suites: readonly Suite[],
  { kernels }: Choice,
): ReadonlySet<string> {
  const selected = suites.flatMap((suite) => suite.kernels)
    .filter(({ name }) => kernels.length === 0 || kernels.includes(name));
  return new Set(selected.map(({ backend }) => backend));
}

/** The settings that `options` ask for; the defaults where they say nothing. */
export function settingsOf(
  options: Running,
  more: Partial<Settings> = {},
): Settings {
  const { seed, fill, prebuilt, kernelCache } = options;
  return {
    ...DEFAULTS,
    seed,
    fill,
    prebuilt,
    cacheDir: kernelCacheOf(kernelCache),
    ...more,
  };
}

/** Which kernels of users' own suites have no case, since they are for another device. */
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
  return [...Map.groupBy(others, (kernel) => kernel.backend)].map((
    [own, list],
  ) => `for ${own} only, not run here: ${list.map((k) => k.name).join(", ")}`);
}
