/**
 * What to type after a run.
 *
 * @module
 */

import type { Row } from "../../bench/row/row.ts";
import { sizeOptions } from "../../bench/tune/size_options.ts";
import {
  inputWords,
  quoted,
  selectionWords,
  type Told,
} from "./command_words.ts";
import { debugLine } from "./debug_command.ts";
import { typed } from "../../session/home.ts";
import { peerNamed } from "../../peers/peer_cases.ts";
import type { RunInfo } from "../../bench/worker/journal.ts";
import type { Selected } from "../../session/selection.ts";
import { isFailure } from "../../session/run_job.ts";

/** The command that says most about a failed case of `rows`, or that measures more. */
export function nextLine(
  rows: readonly Row[],
  { selected, settings }: {
    readonly selected: Pick<Selected, "preset" | "selection" | "suites">;
    readonly settings: RunInfo["settings"];
  },
): string {
  const { preset, selection, suites } = selected;
  const told: Told = { selection, suites, settings };
  const failed = rows.find((row) =>
    isFailure(row) && peerNamed(row.key.kernel) === undefined
  );
  if (failed) {
    const { suite, kernel } = failed.key;
    // The note of an untuned row knows the timing cache and the conditions too.
    const tuned = failed.note.match(/`mnkbench (tune [^`]+)`/)?.[1];
    if (tuned !== undefined) return `Next, find its config: ${typed(tuned)}`;
    const debug = debugLine(failed, { selection, suites, settings });
    if (debug !== undefined) return debug;
    const words = [
      ...selectionWords(suite, told),
      `--kernel ${kernel}`,
      sizeOptions(failed.key),
      ...inputWords(settings),
    ];
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
  // Where N is a layer's, K is too.
  const square = rows.every(({ key }) => key.m === key.n);
  const sizes = square ? "--m 24 --k 4096:65536:*2" : "--m 24";
  return `Next, sizes of your own: ${typed(`bench ${words} ${sizes}`)}`;
}
