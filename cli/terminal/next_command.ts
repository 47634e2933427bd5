/**
 * Names the next command after a run: a failed case alone, or more sizes.
 *
 * @module
 */

import { formatValues } from "../../bench/model/grid.ts";
import { isPeerLibrary } from "../../bench/model/peer.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import type { Suite } from "../../bench/model/suite.ts";
import type { Row } from "../../bench/row/row.ts";
import type { RunInfo } from "../../bench/worker/journal.ts";
import {
  inputWords,
  pointWords,
  quoted,
  selectionWords,
  type Told,
} from "./command_words.ts";
import { join } from "node:path";
import { HOME, timingCacheOf, typed } from "../../session/home.ts";
import { isFailure } from "../../session/run_job.ts";
import { casesOf, pointOf } from "../../session/select.ts";
import type { Selected } from "../../session/selection.ts";

/** The command that says most about a failed case of `rows`, or that measures more. */
export function nextLine(
  rows: readonly Row[],
  { selected, settings }: {
    readonly selected: Pick<Selected, "preset" | "selection" | "suites">;
    readonly settings: RunInfo["settings"];
  },
): string {
  const { preset, selection, suites } = selected;
  const told = { selection, suites, settings };
  const failed = rows.find((row) =>
    isFailure(row) && !isPeerLibrary(row.provenance.library)
  );
  if (failed) {
    const { suite, kernel } = failed.key;
    const own = [
      ...selectionWords(suite, told),
      `--kernel ${kernel}`,
      ...pointWords(
        pointOf(suites.find(({ name }) => name === suite)!, failed.key),
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
  const { kernels, peers } = selection;
  const words = [
    ...selectionWords(suites[0]!.name, told),
    ...kernels.map((kernel) => `--kernel ${kernel}`),
    ...(peers ? [`--peers ${peers.set} --python ${quoted(peers.python)}`] : []),
  ].join(" ");
  if (preset) {
    return `Next, every shape of a suite: ${typed(`bench ${words}`)}`;
  }
  const { axes, swept } = suites[0]!;
  const own = axes.find(({ name, values }) =>
    values === "size" && swept.includes(name)
  );
  if (own === undefined) return `Next, all commands: ${typed("--help")}`;
  const point = pointWords({ overrides: { [own.name]: [24] }, where: {} });
  return `Next, a size of your own: ${typed(`bench ${words} ${point[0]}`)}`;
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

/** What the driver says of a kernel that did what it must not. */
const DEVICE_FAULT =
  /CUDA_ERROR_(ILLEGAL|LAUNCH_FAILED|MISALIGNED|INVALID_(PC|ADDRESS_SPACE)|ASSERT)/;

/**
 * The command that runs a failed row's case under what stops where it fails: a debugger for
 * a crash, a sanitizer for a fault on the device. Nothing where neither is the matter, and
 * where its options would select other cases too, which `--once` refuses.
 */
export function debugLine(
  { key, status, note }: Row,
  { selection, suites, settings }: Omit<Told, "suites"> & {
    readonly suites: readonly Suite[];
    readonly settings: RunInfo["settings"];
  },
): string | undefined {
  const isCrash = status === "crash";
  if (!isCrash && !(status === "launch" && DEVICE_FAULT.test(note))) {
    return undefined;
  }
  const suite = suites.find(({ name }) => name === key.suite);
  if (suite === undefined) return undefined;
  const point = pointOf(suite, key);
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
  const program = [Deno.execPath(), "run -A", join(HOME, "cli/main.ts")]
    .map((word, i) => i === 1 ? word : quoted(word));
  const debug = Deno.build.os === "darwin"
    ? "lldb -o run --"
    : "gdb -ex run --args";
  return `Next, that case alone under a debugger, which stops where it crashes: ${debug} ${
    program.join(" ")
  } ${bench}`;
}
