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
import { casesOf, isFile, isSource, pointOf } from "../../session/cases.ts";
import { AT_OTHER } from "../../session/source/ragged.ts";
import type { Selected } from "../../session/select.ts";

/** A run, and what its next command depends on. */
interface EndedRun {
  readonly selected: Pick<Selected, "preset" | "selection" | "suites">;
  readonly settings: RunInfo["settings"];
  /** Folder of results, if the user named one. */
  readonly out?: string | undefined;
}

/** Returns the command that tells most about a failed case of `rows`, else one that measures more. */
export function nextCommand(rows: readonly Row[], run: EndedRun): string {
  const failures = rows.filter((row) =>
    isFailure(row) && !isPeerLibrary(row.provenance.library)
  );
  const baselines = new Map(
    run.selected.suites.map(({ name, baselines }) => [name, baselines]),
  );
  const isBaseline = ({ key: { suite, kernel } }: Row) =>
    baselines.get(suite)?.includes(kernel) ?? false;
  // The user's kernels before baselines, and a crash first: its row tells least.
  const own = failures.filter((row) => !isBaseline(row));
  const first = own.length > 0 ? own : failures;
  const failed = first.find(({ status }) => status === "crash") ?? first[0];
  return failed ? commandForFailure(failed, run) : commandForMore(rows, run);
}

/** Notes on what is wrong in timed calls, of which `check` has none. */
const ONLY_TIMED = /^(?:suspect|while timed)\b/;

/** Returns the command that tells most about the failed case of `row`. */
function commandForFailure(
  row: Row,
  { selected: { selection, suites }, settings }: EndedRun,
): string {
  const { key: { suite: name, kernel }, status } = row;
  const isUntuned = status === "untuned";
  const isOfTiming = status === "wrong" && ONLY_TIMED.test(row.note);
  const suite = suites.find((one) => one.name === name)!;
  const run = { selection, suites, settings };
  const args = [
    ...selectionArgs(
      name,
      run,
      isUntuned ? "tune" : isOfTiming ? "bench" : "check",
    ),
    `--kernel ${kernel}`,
    ...pointArgs(failedPoint(suite, row, selection)),
  ];
  if (isUntuned) {
    const all = [...args, ...timingArgs(settings)];
    return `Next, find its config: ${typed(`tune ${all.join(" ")}`)}`;
  }
  if (row.config_by === "cache") return forgetCommand(row, settings);
  const debug = debugCommand(row, run);
  if (debug !== undefined) return debug;
  if (isOfTiming) {
    const all = [
      ...args,
      ...timingArgs(settings),
      ...inputArgs({ ...settings, fill: DEFAULTS.fill }),
    ];
    return `Next, one failed case alone, timed, as its checks alone pass: ${
      typed(`bench ${all.join(" ")}`)
    }`;
  }
  const all = [...args, ...inputArgs(settings)];
  return `Next, one failed case alone: ${typed(`check ${all.join(" ")}`)}`;
}

/** Returns the command that measures more than `rows`, or shows them. */
function commandForMore(
  rows: readonly Row[],
  { selected, settings, out }: EndedRun,
): string {
  const { preset, selection, suites } = selected;
  const { peers, overrides, where } = selection;
  const ran = new Set(
    rows.filter(({ status }) => status !== "unsupported")
      .map(({ key }) => key.kernel),
  );
  const kernels = selection.kernels.filter((name) => ran.has(name));
  const args = [
    ...selectionArgs(suites[0]!.name, { selection, suites, settings }),
    ...kernels.map((kernel) => `--kernel ${kernel}`),
    ...(peers?.set === undefined
      ? []
      : [`--peers ${quoted(peers.set)}`, ...pythonArgs(peers.python)]),
    ...(out === undefined ? [] : [`--out ${quoted(out)}`]),
  ].join(" ");
  if (preset) {
    return `Next, every shape of a suite: ${typed(`bench ${args}`)}`;
  }
  // Not another size: its rows would go into the same folder.
  if (out !== undefined) {
    const words = ["table", quoted(out), ...suiteFileArgs(rows, selected)];
    return `Next, these rows as tables: ${typed(words.join(" "))}`;
  }
  const { axes, swept } = suites[0]!;
  const own = axes.find(({ name, values }) =>
    values === "size" && swept.includes(name)
  );
  if (own === undefined) return `Next, all commands: ${typed("--help")}`;
  const isSize = (axis: string) =>
    axes.some(({ name, values }) => name === axis && values === "size");
  const point = pointArgs({
    overrides: { ...overrides, [own.name]: [24] },
    // A point with this size need not have the sizes that --where asks for.
    where: Object.fromEntries(
      Object.entries(where).filter(([name]) => !isSize(name)),
    ),
  });
  return `Next, a size of your own: ${
    typed(["bench", args, ...point].join(" "))
  }`;
}

/**
 * Returns `--suite` with the suites of `rows` if a file has one of them: only there does `table` find
 * the baselines of a user's suite.
 */
function suiteFileArgs(
  rows: readonly Row[],
  { selection, suites }: EndedRun["selected"],
): string[] {
  const own = new Set(rows.map(({ key }) => key.suite));
  const given = selection.suites.filter((_, i) => own.has(suites[i]!.name));
  return given.some(isFile) && !given.some(isSource)
    ? given.map((suite) => `--suite ${quoted(suite)}`)
    : [];
}

/**
 * Returns the point of a failed row, with the values of `selection` for the other axes. If a kernel
 * file failed because of another shape, it is the point of that shape.
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

/** Returns the options that a timing-cache entry depends on, as far as they are not the defaults. */
function timingArgs(
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

/** Returns the command that removes the cached config of a failed row, which is then searched again. */
function forgetCommand(
  { key: { kernel, m, n, k } }: Row,
  { timingCache, cacheDir }: RunInfo["settings"],
): string {
  const usual = timingCacheOf(undefined, cacheDir);
  const file = timingCache === undefined || timingCache === usual
    ? []
    : [`--timing-cache ${quoted(timingCache)}`];
  const args = [
    "tune forget",
    ...file,
    `"kernel=${kernel} ${formatValues({ m, n, k })}"`,
  ];
  return `Its config is from the timing cache; to search again: ${
    typed(args.join(" "))
  }`;
}

/** CUDA errors that a kernel causes, such as an illegal address. */
const DEVICE_FAULT =
  /CUDA_ERROR_(ILLEGAL|LAUNCH_FAILED|MISALIGNED|INVALID_(PC|ADDRESS_SPACE)|ASSERT)/;

/**
 * Returns the command that runs the case of a failed row under a debugger for a crash, or under a
 * sanitizer for a fault on the device. Returns undefined for other failures, and if its options select
 * other cases too, which `--once` refuses.
 */
export function debugCommand(
  row: Row,
  { selection, suites, settings }: Omit<SelectedRun, "suites"> & {
    readonly suites: readonly Suite[];
    readonly settings: RunInfo["settings"];
  },
): string | undefined {
  const { key, status, note, provenance } = row;
  // --once refuses Python kernels, which run in another process.
  if (isPythonLibrary(provenance.library)) return undefined;
  const isCrash = status === "crash";
  // A debugger does not stop when a kernel calls exit().
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
    ...selectionArgs(key.suite, { selection, suites, settings }),
    `--kernel ${quoted(key.kernel)}`,
    ...pointArgs(point),
    ...inputArgs(settings),
    "--once",
  ].join(" ");
  if (!isCrash) {
    return `Next, that case alone under a sanitizer, which names the line: compute-sanitizer --target-processes all ${
      typed(bench)
    }`;
  }
  // Deno itself, as a debugger does not follow the child of `deno task` or npx.
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
  /** In the order of `selection.suites`. */
  readonly suites: readonly Pick<Suite, "name">[];
  readonly settings: Pick<Settings, "cacheDir" | "timingCache" | "level">;
}

/** Returns the options for one suite of the run: suite or kernel file, device, caches, Python. */
export function selectionArgs(
  suite: string,
  run: SelectedRun,
  command: "bench" | "check" | "tune" = "bench",
): string[] {
  const { selection, suites } = run;
  const given = selection.suites[suites.findIndex((s) => s.name === suite)] ??
    suite;
  return [
    // `tune` takes no kernel file.
    command !== "tune" && isSource(given)
      ? quoted(given)
      : `--suite ${quoted(given)}`,
    ...deviceArgs(run),
    // For Python kernels of the suite.
    ...(selection.peers && selection.peers.set === undefined
      ? pythonArgs(selection.peers.python)
      : []),
  ];
}

/** Returns the options for all that was selected: suites, kernels, points, device and caches. */
export function allSelectionArgs(run: SelectedRun): string[] {
  const { suites, kernels, overrides, where } = run.selection;
  return [
    ...suites.map((suite) => `--suite ${quoted(suite)}`),
    ...kernels.map((kernel) => `--kernel ${quoted(kernel)}`),
    ...pointArgs({ overrides, where }),
    ...deviceArgs(run),
  ];
}

/** The axes with a short option, `--m` and so on. */
const SHORT = ["m", "n", "k"];

/** Returns the options that select these points. */
export function pointArgs(
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

/** Returns the option that names the Python, unless it is the default. */
function pythonArgs(python: string): string[] {
  return python === pythonOf(undefined) ? [] : [`--python ${quoted(python)}`];
}

function deviceArgs({ selection, settings }: SelectedRun): string[] {
  const { backend, device } = selection;
  return [
    `--backend ${backend}`,
    ...(device === 0 ? [] : [`--device ${device}`]),
    ...cacheArgs(settings),
  ];
}

/** Returns the options for the kernel cache and the timing cache, unless they are the defaults. */
function cacheArgs(
  { cacheDir, timingCache, level }: SelectedRun["settings"],
): string[] {
  const args: string[] = [];
  if (cacheDir !== kernelCacheOf(undefined)) {
    args.push(`--kernel-cache ${quoted(cacheDir)}`);
  }
  // Level 0 does not read the timing cache.
  if (level === 0) args.push("--level 0");
  else if (timingCache === undefined) args.push("--no-timing-cache");
  else if (timingCache !== timingCacheOf(undefined, cacheDir)) {
    args.push(`--timing-cache ${quoted(timingCache)}`);
  }
  return args;
}

/** Returns the options for the same inputs, as far as they are not the defaults. */
export function inputArgs(
  { fill, seed }: Pick<Settings, "fill" | "seed">,
): string[] {
  return [
    ...(fill === DEFAULTS.fill ? [] : [`--fill ${fill}`]),
    ...(seed === DEFAULTS.seed ? [] : [`--seed ${seed}`]),
  ];
}
