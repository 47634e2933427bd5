/**
 * Resolves names to suites, kernels and cases.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { findSimilar } from "@optique/core/suggestion";
import { formatValues, type Scalar } from "../bench/model/grid.ts";
import type { Selection } from "../bench/model/settings.ts";
import { axesOf, type AxisColumns, caseText, keyOf } from "../bench/row/row.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import { unlessMissing } from "../bench/files/disk.ts";
import { MOST_CHARACTERS } from "../bench/row/csv_row.ts";
import { allowedBy, MOST_POINTS, notAllowed } from "../bench/model/axes.ts";
import type { PeerSet } from "../bench/model/peer.ts";
import type { Case, Suite, Where } from "../bench/model/suite.ts";
import { isAuto } from "../bench/tune/auto_kernel.ts";
import { builtInSuites, suiteNames } from "../suites/mod.ts";
import { HOME } from "./home.ts";
import type { Choice, PeerChoice, Target } from "./options.ts";
import { callEach, callSuite } from "./suite_calls.ts";
import { importSuite, limitCalls } from "./suite_file.ts";

/** The name that stands for all built-in suites. */
const ALL = "all";

/** Returns `names` with {@linkcode ALL} replaced by the names of the built-in suites. */
export function named(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => name === ALL ? suiteNames : [name]);
}

/**
 * Loads the suites named `names`, or all built-in ones if `names` is empty.
 *
 * A name with a slash, or one that ends in `.ts` or `.js`, is a file whose default export is a suite.
 * One that ends in `.c`, `.cu`, `.hip`, `.metal` or `.py` is a kernel file, from which a suite is made.
 *
 * @param load Loads a suite file. @default {imports it after a trial in another process}
 * @throws {UserError} For an unknown name and a file that cannot be used.
 */
export async function loadSuites(
  names: readonly string[],
  load: (file: string) => Promise<Suite> = tryAndImport,
): Promise<readonly Suite[]> {
  const wanted = names.length === 0 ? suiteNames : named(names);
  const suites: Suite[] = [];
  // In sequence, so that errors during the import are attributed to the right file.
  for (const name of wanted) {
    const suite = isSource(name)
      ? sourceSuite(name)
      : isFile(name)
      ? load(name)
      : builtInSuite(name);
    suites.push(await suite);
  }
  const twice = suites.find((s, i) =>
    suites.findIndex(({ name }) => name === s.name) < i
  );
  if (twice) {
    throw new UserError(
      `Two of the suites are named ${twice.name}: their rows would mix; rename one`,
    );
  }
  return suites;
}

async function tryAndImport(file: string): Promise<Suite> {
  const { trySuite } = await import("./suite_trial.ts");
  await trySuite(file);
  const suite = await importSuite(file);
  demandOwnName(suite, file);
  await checkBaselines(suite);
  await limitCalls();
  return suite;
}

/** @throws {UserError} For the name of a built-in suite, unless `file` is that suite's. */
function demandOwnName({ name }: Suite, file: string): void {
  if (!suiteNames.includes(name)) return;
  const own = unlessMissing(() => Deno.realPathSync(join(HOME, "suites")));
  if (dirname(Deno.realPathSync(file)) === own) return;
  throw new UserError(
    `Cannot use the suite file ${file}: its name is ${name}, that of a built-in suite, and their rows would mix; rename it`,
  );
}

/** @throws {UserError} For a misspelt baseline, which would otherwise be skipped silently. */
async function checkBaselines(
  { name, kernels, baselines }: Suite,
): Promise<void> {
  const own = kernels.map((kernel) => kernel.name);
  if (baselines.every((baseline) => own.includes(baseline))) return;
  const { USUAL_BASELINES } = await import("./library/baselines.ts");
  const builtIn = await besidePeers(await builtInSuites(), "torch");
  const others = builtIn.flatMap((suite) => suite.kernels.map((k) => k.name));
  const all = new Set([...own, ...USUAL_BASELINES, ...others]);
  // A name that resembles no kernel may be that of a peer that --peers names.
  const misspelt = baselines.find((baseline) =>
    !all.has(baseline) && !isAuto(baseline) &&
    findSimilar(baseline, all).length > 0
  );
  if (misspelt === undefined) return;
  const { message } = unknown("kernel", misspelt, [...all]);
  throw new UserError(
    `Suite ${name} cannot be used, because of its baselines: ${message}`,
  );
}

/** Returns whether `name` is the path of a kernel file, with or without settings after a `?`. */
export function isSource(name: string): boolean {
  return /\.(?:c|cu|hip|metal|py(?::[^:?/]*)?)(?:\?\w+=[^?]*)?$/.test(name);
}

async function sourceSuite(name: string): Promise<Suite> {
  const { inferSource } = await import("./source/source_suite.ts");
  return inferSource(name).suite;
}

/** Returns whether `name` is the path of a suite file, or of a source that makes a suite. */
export function isFile(name: string): boolean {
  return /[/\\]|\.[jt]s$/.test(name) || isSource(name);
}

/** Returns the path of the file `name`, without the function and the settings of a source. */
export function pathOfFile(name: string): string {
  return isSource(name)
    ? name.replace(
      /(?<=\.(?:c|cu|hip|metal|py))(?::[^:?/]*)?(?:\?\w+=[^?]*)?$/,
      "",
    )
    : name;
}

async function builtInSuite(name: string): Promise<Suite> {
  if (!suiteNames.includes(name)) {
    const { message } = unknown("suite", name, suiteNames);
    throw new UserError(
      `${message}; of a file of your own give the path, --suite ./FILE.ts`,
    );
  }
  const [suite] = await builtInSuites([name]);
  return suite!;
}

/**
 * Makes the error for an unknown `name`, which lists similar names, or all names if none is similar.
 *
 * @param chosen The names to list where none is similar. @default {all}
 */
export function unknown(
  kind: string,
  name: string,
  all: readonly string[],
  chosen = all,
): UserError {
  const longer = all.filter((other) => other.startsWith(name));
  const near = longer.length > 0 ? longer : findSimilar(name, all);
  const hint = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `there are ${[...new Set(chosen)].join(", ")}`;
  return new UserError(`No ${kind} is named ${name}: ${hint}`);
}

/**
 * Checks names of kernels.
 *
 * @param backend That of the kernels which the error lists; missing stands for each.
 * @throws {UserError} If `suites` have no kernel of a name.
 */
async function checkKernels(
  suites: readonly Suite[],
  names: readonly string[],
  backend: string | undefined,
): Promise<void> {
  const known = suites.flatMap(({ kernels }) => kernels);
  const namesOf = (kernels: typeof known) => kernels.map(({ name }) => name);
  const all = namesOf(known);
  for (const name of names) {
    if (all.includes(name)) continue;
    const builtIn = await builtInSuites();
    const others = withKernel(name, builtIn);
    if (others.length > 0) {
      throw new UserError(
        `No kernel of ${
          suites.map((s) => s.name).join(", ")
        } is named ${name}: it is in ${
          others.map((s) => s.name).join(", ")
        }; choose one of these with --suite`,
      );
    }
    if (withKernel(name, await besidePeers(builtIn, "torch")).length === 0) {
      const own = known.filter((kernel) => kernel.backend === backend);
      throw unknown("kernel", name, all, namesOf(own.length > 0 ? own : known));
    }
    throw new UserError(
      `Cannot take ${name} without the peers that it is one of: give \`--peers torch\` to bench or list`,
    );
  }
}

/** Returns `suites` with the kernels of `peers` added to each; unchanged if it is undefined. */
export async function besidePeers(
  suites: readonly Suite[],
  peers: PeerSet | undefined,
): Promise<readonly Suite[]> {
  if (peers === undefined) return suites;
  const { withPeers } = await import("../peers/cases.ts");
  return suites.map((suite) => withPeers(suite, peers));
}

/**
 * Returns `suites` with the `auto` kernels that `kernels` names, which choose another kernel each. They
 * are not added by default, as their rows repeat those of the chosen kernels.
 *
 * @param early Whether they prefer kernels that start before their predecessor ends.
 */
export async function besideAuto(
  suites: readonly Suite[],
  kernels: readonly string[],
  early = false,
): Promise<readonly Suite[]> {
  const names = [...new Set(kernels.filter(isAuto))];
  if (names.length === 0) return suites;
  const [{ withAuto }, { rowsOn }] = await Promise.all([
    import("../kernels/auto.ts"),
    import("./hints.ts"),
  ]);
  return suites.map((suite) => withAuto(suite, names, rowsOn, early));
}

function withKernel(name: string, suites: readonly Suite[]): readonly Suite[] {
  return suites.filter(({ kernels }) => kernels.some((k) => k.name === name));
}

/** Checks axes and their values. @throws {UserError} If none of `suites` has one. */
function checkAxes(suites: readonly Suite[], where: Where): void {
  const axes = Map.groupBy(suites.flatMap((s) => s.axes), ({ name }) => name);
  for (const [name, wanted] of Object.entries(where)) {
    const own = axes.get(name);
    if (own === undefined) throw unknown("axis", name, [...axes.keys()]);
    for (const text of wanted) {
      const value = /^\d+$/.test(text) ? Number(text) : text;
      if (own.some((axis) => allowedBy(axis, value) !== undefined)) continue;
      const listed = own.flatMap(({ values }) =>
        typeof values === "string" ? [] : values
      );
      const values = listed.length > 0
        ? [...new Set(listed)]
        : own.find(({ values }) => values === "sizes")?.values ?? "size";
      const words = own.flatMap(({ words = [] }) => words);
      throw notAllowed({ name, values, words }, text, "--where");
    }
  }
}

/** The part of a selection that filters cases. */
export type Filter =
  & Pick<Selection, "kernels" | "points" | "overrides">
  & Partial<Pick<Selection, "where">>
  & {
    /** Any backend by default. */
    readonly backend?: string;
  };

/** Yields the cases of `suites` that match `filter`, in the order of the suites. */
export function* casesOf(
  suites: readonly Suite[],
  { kernels, points, overrides, where = {}, backend }: Filter,
): Generator<Case> {
  const known = new Set(Object.keys(where));
  for (const suite of suites) {
    // A suite without the axis has no matching case.
    const own = suite.axes.filter(({ name }) => known.has(name));
    if (own.length < known.size) continue;
    for (const one of callEach(suite.cases(points, overrides, where))) {
      if (kernels.length > 0 && !kernels.includes(one.kernel)) continue;
      if (backend !== undefined && one.backend !== backend) continue;
      yield one;
    }
  }
}

/** The chosen suites, and the filter of their cases. */
export interface Chosen {
  /** With the peers that it asks for. */
  readonly suites: readonly Suite[];
  /** The same without peers. */
  readonly own: readonly Suite[];
  readonly filter: Filter;
}

/** Loads the suites of a choice. @throws {UserError} For unknown names. */
export async function choose(
  { suites: names, kernels, overrides, where, quick, backend, peers, early }:
    & Choice
    & Partial<Pick<Target, "backend"> & Pick<PeerChoice, "peers">>
    & { readonly early?: boolean },
): Promise<Chosen> {
  const own = await besideAuto(await loadSuites(names), kernels, early);
  const suites = await besidePeers(own, peers);
  await checkKernels(suites, kernels, backend);
  checkAxes(suites, where);
  const points = quick ? "quick" : "all";
  return { suites, own, filter: { kernels, points, overrides, where } };
}

/** The most cases of a sweep. */
const MOST_CASES = MOST_POINTS;

/**
 * Returns the cases of `suites` that match `filter`.
 *
 * @throws {UserError} If there are more than {@linkcode MOST_CASES}.
 */
export function casesWithin(
  suites: readonly Suite[],
  filter: Filter,
): readonly Case[] {
  const cases = callSuite(() =>
    // Counted first: that takes a moment, while making so many points takes minutes.
    areTooMany(suites, filter)
      ? undefined
      : [...distinct(casesOf(suites, filter)).take(MOST_CASES + 1)]
  );
  if (cases && cases.length <= MOST_CASES) return cases;
  throw new UserError(
    `The sizes make more than ${MOST_CASES} cases: give shorter lists or larger steps to --axis, --m, --n and --k`,
  );
}

/** Returns whether there are too many cases, as far as that is known without making their points. */
function areTooMany(
  suites: readonly Suite[],
  { kernels, points, overrides, where = {}, backend }: Filter,
): boolean {
  // Only a made point tells whether `where` excludes it.
  if (Object.keys(where).length > 0) return false;
  const cases = suites.map((suite) => {
    const own = suite.kernels.filter((kernel) =>
      (kernels.length === 0 || kernels.includes(kernel.name)) &&
      (backend === undefined || backend === kernel.backend)
    );
    return own.length * suite.count(points, overrides);
  });
  return cases.reduce((sum, count) => sum + count, 0) > MOST_CASES;
}

/**
 * Yields `cases`, and checks that no two points have the same key, as one row would replace the other.
 *
 * @throws {UserError} If two points have, or a key is too long for a CSV.
 */
function* distinct(cases: Iterable<Case>): Generator<Case> {
  const seen = new Map<string, Case>();
  // Cases of a problem mostly follow each other; peers come after all others.
  let last: Case | undefined;
  for (const one of cases) {
    if (one.problem !== last?.problem) {
      const key = caseText({ ...keyOf(one), kernel: "", backend: "" });
      const other = seen.get(key);
      if (other && other.problem !== one.problem) throw sameKey(other, one);
      if (key.length > MOST_CHARACTERS) {
        throw new UserError(
          `Suite ${one.suite} cannot be used: the key of a point has ${key.length} characters, and ${MOST_CHARACTERS} are the most; give its op points of fewer problems`,
        );
      }
      seen.set(key, one);
      last = one;
    }
    yield one;
  }
}

function sameKey(one: Case, other: Case): UserError {
  const { suite, kernel, problem: { title } } = other;
  return new UserError(
    `Suite ${suite} cannot be used: ${kernel} would have two rows with the key ${title}, of ${
      pointText(one)
    } and of ${
      pointText(other)
    }; the op's key() must tell all axes apart, and no point may be there twice`,
  );
}

function pointText({ place }: Case): string {
  return "values" in place
    ? formatValues(place.values)
    : `edge-case shape ${place.edgeCase}`;
}

/**
 * Returns the part of a selection that selects the point of `key` in its suite: the sizes as
 * overrides, and the values of other swept axes as a filter.
 */
export function pointOf(
  { axes, swept }: Pick<Suite, "axes" | "swept">,
  key: AxisColumns,
): Pick<Selection, "overrides" | "where"> {
  const own = axesOf(key);
  const overrides: Record<string, readonly Scalar[]> = {};
  const where: Record<string, readonly string[]> = {};
  for (const { name, column = name, values, optional } of axes) {
    const value = own[column];
    if (value === undefined) continue;
    if (typeof values === "string" && !optional) {
      overrides[name] = [Number(value) || value];
    } else if (swept.includes(name)) where[name] = [value];
  }
  return { overrides, where };
}

/** Makes the error for a selection without a case. */
export function nothing(why: string): UserError {
  return new UserError(`Nothing to run: ${why}`, EXIT.nothing);
}
