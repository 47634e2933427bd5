/**
 * Defines commands: options, help and the function that runs them.
 *
 * @module
 */

import { or } from "@optique/core/constructs";
import { lineBreak, type Message, text } from "@optique/core/message";
import { map } from "@optique/core/modifiers";
import { command, constant } from "@optique/core/primitives";
import { formatUsage, normalizeUsage } from "@optique/core/usage";
import { EXIT, type ExitCode } from "../bench/model/errors.ts";
import { NAME } from "../session/home.ts";
import type { Flags, Words } from "./options/flags.ts";

/** A command with its options, ready to run. @returns The exit code. */
export type Run = () => Promise<number>;

/** One sentence about each command. The help of the program loads no command for them. */
export const BRIEFS = {
  bench: "Sweep suites: check, time, record and compare kernels.",
  check:
    "Check kernels for correctness, at edge-case shapes and the suites' own.",
  tune:
    "Search each kernel's best config and cache it; list and edit the cache.",
  compare:
    "Measure two kernels or commits in turns, or again what is slower between sets of rows.",
  diff: "Compare two sets of rows: slower, broken, missing, new.",
  table: "Show recorded rows as tables, with wins and losses.",
  plot: "Draw recorded rows, as PNG and SVG.",
  report: "Make one HTML page of recorded rows.",
  history: "Keep runs in one file; show where times changed, and since when.",
  import:
    "Import rows into a folder: new results with their verdicts, or published CSVs.",
  capture: "Record the GEMMs that a program runs, with calls and times.",
  list: "List suites, kernels, cases and stale rows.",
  build:
    "Compile kernels for --arch, and pack them for a machine without a network.",
  export:
    "Write kernels as binaries, with a C header and a PyTorch operator to launch them.",
  init: "Write a kernel, a suite and a CI workflow into your repository.",
  doctor: "Show what works on this machine, and how to fix the rest.",
} as const;

/** Returns a parser of the names of all commands, with their briefs. */
export function outline(): Flags<Run> {
  const none = constant<Run>(() => Promise.resolve(EXIT.usage));
  return or(
    ...Object.entries(BRIEFS).map(([name, brief]) =>
      command(name, none, { brief: [text(brief)] })
    ),
  );
}

/** Describes a command. */
export interface Spec<T> {
  /** The name as it is typed: a sub-command's follows its command's, as in `tune list`. */
  readonly name: string;
  /** One sentence. */
  readonly brief: string;
  /** Two command lines, without the program's name. */
  readonly examples: readonly [string, string];
  /** The meaning of each exit code. 2 is the same for all. */
  readonly codes: Readonly<Partial<Record<Exclude<ExitCode, 2>, string>>>;
  /** The options. */
  readonly flags: (words: Words) => Flags<T>;
  /** Does the work. @returns The exit code. */
  readonly run: (options: T) => number | Promise<number>;
  /** Its sub-commands. */
  readonly parts?: readonly Command[];
}

/** A command, whatever its options are. */
export interface Command {
  readonly name: string;
  /**
   * The parser of a command line.
   *
   * @param args What is typed after the name; missing means that anything may be.
   */
  parser(words: Words, args?: readonly string[]): Flags<Run>;
}

const USAGE = "wrong usage, or a file that cannot be read or written";

/** The command that `spec` is about. */
export function define<T>(spec: Spec<T>): Command {
  const { name, brief, flags, run, parts = [] } = spec;
  return {
    name,
    parser(words, args) {
      const own = map(
        flags(words),
        (options): Run => async () => await run(options),
      );
      const all = namesPart(args)
        ? [...parts.map((part) => part.parser(words)), own]
        : [own];
      const about = {
        brief: [text(brief)],
        footer: footerOf(spec, parts.map((part) => part.parser(words))),
        // Its own options; those of each sub-command have a line below.
        ...(all.length > 1 ? { usageLine: normalizeUsage(own.usage) } : {}),
      };
      return command(
        name.split(" ").at(-1)!,
        all.length > 1 ? or(...all) : own,
        about,
      );
    },
  };
}

/** Returns whether `args` may name a sub-command. Without them the options give better errors. */
function namesPart(args: readonly string[] | undefined): boolean {
  if (args === undefined || args.includes("--help")) return true;
  return args[0] !== undefined && !args[0].startsWith("-");
}

/** @param parts Its sub-commands. */
function footerOf<T>(
  { name, examples, codes }: Spec<T>,
  parts: readonly Flags<Run>[],
): Message {
  const all: [string, string][] = [
    ...Object.entries<string>(codes),
    ["2", USAGE],
  ];
  const lines = [
    ...(parts.length === 0 ? [] : [
      "Usage of each command:",
      ...parts.map(({ usage }) => `  ${formatUsage(`${NAME} ${name}`, usage)}`),
      "",
    ]),
    "Examples:",
    ...examples.map((example) => `  ${NAME} ${example}`),
    "",
    "Exit codes:",
    ...all.toSorted().map(([code, what]) => `  ${code}  ${what}`),
  ];
  return lines.flatMap((line, i) =>
    i === 0 ? [text(line)] : [lineBreak(), text(line)]
  );
}
