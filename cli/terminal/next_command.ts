/**
 * Names the next command after a run: a failed case alone, or more sizes.
 *
 * @module
 */

import { formatValues } from "../../bench/model/grid.ts";
import { isPeerLibrary, isPythonLibrary } from "../../bench/model/peer.ts";
import {
  DEFAULTS,
  type Selection,
  type Settings,
} from "../../bench/model/settings.ts";
import type { Suite } from "../../bench/model/suite.ts";
import { axesOf, type Row } from "../../bench/row/row.ts";
import type { RunInfo } from "../../bench/worker/journal.ts";
import { fileURLToPath } from "node:url";
import {
  importFlags,
  kernelCacheOf,
  PERMISSIONS,
  quoted,
  timingCacheOf,
  typed,
} from "../../session/home.ts";
import { pythonOf } from "../../peers/cases.ts";
import { isFailure } from "../../session/run_job.ts";
import { casesOf, isSource, pointOf } from "../../session/cases.ts";
import { AT_OTHER } from "../../session/source/ragged.ts";
import type { Selected } from "../../session/select.ts";

/** The command that says most about a failed case of `rows`, or that measures more. */
export function nextCommand(
  rows: readonly Row[],
  { selected, settings, out }: {
    readonly selected: Pick<Selected, "preset" | "selection" | "suites">;
    readonly settings: RunInfo["settings"];
    /** Folder of results, where it is not the usual one. */
    readonly out?: string | undefined;
  },
): string {
  const { preset, selection, suites } = selected;
  const told = { selection, suites, settings };
  const failures = rows.filter((row) =>
    isFailure(row) && !isPeerLibrary(row.provenance.library)
  );
  // Of a crash the others' commands show the least.
  const failed = failures.find(({ status }) => status === "crash") ??
    failures[0];
  if (failed) {
    const { suite, kernel } = failed.key;
    const own = [
      ...selectionWords(
        suite,
        told,
        failed.status === "untuned" ? "tune" : "check",
      ),
      `--kernel ${kernel}`,
      ...pointWords(
        failedPoint(
          suites.find(({ name }) => name === suite)!,
          failed,
          selection,
        ),
      ),
    ];
    if (failed.status === "untuned") {
      const words = [...own, ...conditionWords(settings)];
      return `Next, find its config: ${typed(`tune ${words.join(" ")}`)}`;
    }
    if (failed.config_by === "cache") return forgetLine(failed, settings);
    const debug = debugLine(failed, { selection, suites, settings });
    if (debug !== undefined) return debug;
    const words = [...own, ...inputWords(settings)];
    return `Next, one failed case alone: ${typed(`check ${words.join(" ")}`)}`;
  }
  const { peers, overrides, where } = selection;
  const ran = new Set(
    rows.filter(({ status }) => status !== "unsupported")
      .map(({ key }) => key.kernel),
  );
  const kernels = selection.kernels.filter((name) => ran.has(name));
  const words = [
    ...selectionWords(suites[0]!.name, told),
    ...kernels.map((kernel) => `--kernel ${kernel}`),
    ...(peers?.set === undefined
      ? []
      : [`--peers ${quoted(peers.set)}`, ...pythonWords(peers.python)]),
    ...(out === undefined ? [] : [`--out ${quoted(out)}`]),
  ].join(" ");
  if (preset) {
    return `Next, every shape of a suite: ${typed(`bench ${words}`)}`;
  }
  // Another size would become one of the rows that the folder is made for.
  if (out !== undefined) {
    return `Next, these rows as tables: ${typed(`table ${quoted(out)}`)}`;
  }
  const { axes, swept } = suites[0]!;
  const own = axes.find(({ name, values }) =>
    values === "size" && swept.includes(name)
  );
  if (own === undefined) return `Next, all commands: ${typed("--help")}`;
  const isSize = (axis: string) =>
    axes.some(({ name, values }) => name === axis && values === "size");
  const point = pointWords({
    overrides: { ...overrides, [own.name]: [24] },
    // No point of the suite need have both these sizes and that one.
    where: Object.fromEntries(
      Object.entries(where).filter(([name]) => !isSize(name)),
    ),
  });
  return `Next, a size of your own: ${
    typed(["bench", words, ...point].join(" "))
  }`;
}

/**
 * Returns the point of what failed, and of the other axes what `selection` gave for them.
 * A kernel file fails at all shapes for another one.
 */
function failedPoint(
  suite: Pick<Suite, "axes" | "swept">,
  { key, note }: Row,
  { overrides }: Selection,
): Pick<Selection, "overrides" | "where"> {
  const [, m, n, k] = AT_OTHER.exec(note) ?? [];
  const failed = m === undefined ? key : { ...key, m, n: n!, k: k! };
  const point = pointOf(suite, failed);
  const values = axesOf(failed);
  const given = Object.fromEntries(
    suite.axes.flatMap(({ name, column = name }) => {
      const list = overrides[name];
      if (list === undefined || name in point.overrides) return [];
      const value = values[column];
      return [[name, value === undefined ? list : [value]]];
    }),
  );
  return {
    overrides: { ...point.overrides, ...given },
    where: Object.fromEntries(
      Object.entries(point.where).filter(([name]) => !(name in given)),
    ),
  };
}

/** The options that a timing-cache entry depends on, where they are not the usual ones. */
function conditionWords(
  { timer, cache, flush, fill, level, workspaceBytes }: RunInfo["settings"],
): string[] {
  return [
    ...(timer === DEFAULTS.timer ? [] : [`--timer ${timer}`]),
    ...(cache === DEFAULTS.cache ? [] : [`--cache ${cache}`]),
    ...(flush === DEFAULTS.flush ? [] : [`--flush ${flush}`]),
    ...(fill === DEFAULTS.fill ? [] : [`--fill ${fill}`]),
    ...(level === DEFAULTS.level ? [] : [`--level ${level}`]),
    ...(workspaceBytes === undefined
      ? []
      : [`--workspace ${workspaceBytes / 2 ** 20}`]),
  ];
}

/** The command that removes the cached config of a failed row, so that it is searched again. */
function forgetLine(
  { key: { kernel, m, n, k } }: Row,
  { timingCache, cacheDir }: RunInfo["settings"],
): string {
  const usual = timingCacheOf(undefined, cacheDir);
  const file = timingCache === undefined || timingCache === usual
    ? []
    : [`--timing-cache ${quoted(timingCache)}`];
  const words = [
    "tune forget",
    ...file,
    `"kernel=${kernel} ${formatValues({ m, n, k })}"`,
  ];
  return `Its config is from the timing cache; to search again: ${
    typed(words.join(" "))
  }`;
}

/** Errors of CUDA for a kernel's own faults, such as an illegal address. */
const DEVICE_FAULT =
  /CUDA_ERROR_(ILLEGAL|LAUNCH_FAILED|MISALIGNED|INVALID_(PC|ADDRESS_SPACE)|ASSERT)/;

/**
 * The command that runs a failed row's case under what stops where it fails: a debugger for
 * a crash, a sanitizer for a fault on the device. Nothing where neither is the matter, and
 * where its options would select other cases too, which `--once` refuses.
 */
export function debugLine(
  row: Row,
  { selection, suites, settings }: Omit<SelectedRun, "suites"> & {
    readonly suites: readonly Suite[];
    readonly settings: RunInfo["settings"];
  },
): string | undefined {
  const { key, status, note, provenance } = row;
  // Python runs in a process of its own, which --once refuses.
  if (isPythonLibrary(provenance.library)) return undefined;
  const isCrash = status === "crash";
  // A debugger does not stop where a kernel ends its process.
  if (isCrash && note.includes("exited with code")) return undefined;
  if (!isCrash && !(status === "launch" && DEVICE_FAULT.test(note))) {
    return undefined;
  }
  const suite = suites.find(({ name }) => name === key.suite);
  if (suite === undefined) return undefined;
  const point = failedPoint(suite, row, selection);
  const cases = [...casesOf([suite], {
    kernels: [key.kernel],
    points: "all",
    backend: key.backend,
    ...point,
  })];
  if (cases.length !== 1) return undefined;
  const bench = [
    "bench",
    ...selectionWords(key.suite, { selection, suites, settings }),
    `--kernel ${quoted(key.kernel)}`,
    ...pointWords(point),
    ...inputWords(settings),
    "--once",
  ].join(" ");
  if (!isCrash) {
    return `Next, that case alone under a sanitizer, which names the line: compute-sanitizer --target-processes all ${
      typed(bench)
    }`;
  }
  // The process itself: what a task or npx starts is a child, which a debugger leaves.
  const program = [
    quoted(Deno.execPath()),
    ...["run", ...PERMISSIONS, ...importFlags().map(quoted)],
    quoted(fileURLToPath(new URL("../main.ts", import.meta.url))),
  ];
  const debug = Deno.build.os === "darwin"
    ? "lldb -o run --"
    : "gdb -ex run --args";
  return `Next, that case alone under a debugger, which stops where it crashes: ${debug} ${
    program.join(" ")
  } ${bench}`;
}

/** The selection and settings of a run. */
export interface SelectedRun {
  readonly selection: Selection;
  /** In the order in which the selection names them. */
  readonly suites: readonly Pick<Suite, "name">[];
  readonly settings: Pick<Settings, "cacheDir" | "timingCache" | "level">;
}

/** The options that give a command the suite named `suite`, on the device, with the files. */
export function selectionWords(
  suite: string,
  told: SelectedRun,
  command: "bench" | "check" | "tune" = "bench",
): string[] {
  const { selection, suites } = told;
  const given = selection.suites[suites.findIndex((s) => s.name === suite)] ??
    suite;
  return [
    // Of the commands that follow, `tune` alone takes no kernel file.
    command !== "tune" && isSource(given)
      ? quoted(given)
      : `--suite ${quoted(given)}`,
    ...placeWords(told),
    // Of kernels of the suite itself.
    ...(selection.peers && selection.peers.set === undefined
      ? pythonWords(selection.peers.python)
      : []),
  ];
}

/** The options that give a command all that was selected: suites, kernels and points. */
export function wholeWords(told: SelectedRun): string[] {
  const { suites, kernels, overrides, where } = told.selection;
  return [
    ...suites.map((suite) => `--suite ${quoted(suite)}`),
    ...kernels.map((kernel) => `--kernel ${quoted(kernel)}`),
    ...pointWords({ overrides, where }),
    ...placeWords(told),
  ];
}

/** Axes that have an option of their own. */
const SHORT = ["m", "n", "k"];

/** The options that select these points. */
export function pointWords(
  { overrides, where }: Pick<Selection, "overrides" | "where">,
): string[] {
  return [
    ...Object.entries(overrides).map(([name, list]) =>
      SHORT.includes(name)
        ? `--${name} ${list.join()}`
        : `--axis ${name}=${list.join()}`
    ),
    ...Object.entries(where).map(([name, list]) =>
      `--where ${name}=${list.join()}`
    ),
  ];
}

/** The option that names the Python, where it is not the usual one. */
function pythonWords(python: string): string[] {
  return python === pythonOf(undefined) ? [] : [`--python ${quoted(python)}`];
}

function placeWords({ selection, settings }: SelectedRun): string[] {
  const { backend, device } = selection;
  return [
    `--backend ${backend}`,
    ...(device === 0 ? [] : [`--device ${device}`]),
    ...fileWords(settings),
  ];
}

/** The options that name the files of a run, where they are not the usual ones. */
function fileWords(
  { cacheDir, timingCache, level }: SelectedRun["settings"],
): string[] {
  const words: string[] = [];
  if (cacheDir !== kernelCacheOf(undefined)) {
    words.push(`--kernel-cache ${quoted(cacheDir)}`);
  }
  // At level 0 none is looked into anyway.
  if (level === 0) words.push("--level 0");
  else if (timingCache === undefined) words.push("--no-timing-cache");
  else if (timingCache !== timingCacheOf(undefined, cacheDir)) {
    words.push(`--timing-cache ${quoted(timingCache)}`);
  }
  return words;
}

/** The options that make the same inputs, where they are not the usual ones. */
export function inputWords(
  { fill, seed }: Pick<Settings, "fill" | "seed">,
): string[] {
  return [
    ...(fill === DEFAULTS.fill ? [] : [`--fill ${fill}`]),
    ...(seed === DEFAULTS.seed ? [] : [`--seed ${seed}`]),
  ];
}
