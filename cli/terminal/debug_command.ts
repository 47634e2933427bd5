/**
 * What to type after a kernel took its process or its context with it.
 *
 * @module
 */

import { join } from "node:path";
import type { Row } from "../../bench/row/row.ts";
import type { Suite } from "../../bench/model/suite.ts";
import {
  inputWords,
  pointWords,
  selectionWords,
  type Told,
} from "./command_words.ts";
import { quoted } from "./quoted.ts";
import { HOME, typed } from "../../session/home.ts";
import type { RunInfo } from "../../bench/worker/journal.ts";
import { casesOf, pointOf } from "../../session/select.ts";

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
