/**
 * Writes the options that select the same cases again, for hints.
 *
 * @module
 */

import {
  DEFAULTS,
  type Selection,
  type Settings,
} from "../../bench/model/settings.ts";
import type { Suite } from "../../bench/model/suite.ts";
import { kernelCacheOf, timingCacheOf } from "../../session/home.ts";

/** What a run was told. */
export interface Told {
  readonly selection: Selection;
  /** In the order in which the selection names them. */
  readonly suites: readonly Pick<Suite, "name">[];
  readonly settings: Pick<Settings, "cacheDir" | "timingCache" | "level">;
}

/** The options that give a command the suite named `suite`, on the device, with the files. */
export function selectionWords(suite: string, told: Told): string[] {
  const { selection, suites } = told;
  const given = selection.suites[suites.findIndex((s) => s.name === suite)];
  return [
    `--suite ${quoted(given ?? suite)}`,
    ...placeWords(told),
  ];
}

/** The options that give a command all that was selected: suites, kernels and points. */
export function wholeWords(told: Told): string[] {
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

function placeWords({ selection, settings }: Told): string[] {
  const { backend, device } = selection;
  return [
    `--backend ${backend}`,
    ...(device === 0 ? [] : [`--device ${device}`]),
    ...fileWords(settings),
  ];
}

/** The options that name the files of a run, where they are not the usual ones. */
function fileWords(
  { cacheDir, timingCache, level }: Told["settings"],
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

/** `text` as one word of a shell. */
export function quoted(text: string): string {
  return /^[\w./@:=+-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
