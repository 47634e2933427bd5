/**
 * The program: reads the command line, runs one command, and exits with its code.
 *
 * @module
 */

import { inspect } from "node:util";
import { or } from "@optique/core/constructs";
import { runParser } from "@optique/core/facade";
import { formatMessage, text } from "@optique/core/message";
import { aligned } from "../bench/files/terminal_text.ts";
import { onWait } from "../bench/files/lock.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import { type BRIEFS, type Command, outline, type Run } from "./command.ts";
import { allowExit, attributed, onFatal } from "../session/suite_file.ts";
import { goWhereTyped, NAME, typed, VERSION } from "../session/home.ts";
import type { Flags, Words } from "./options/flags.ts";
import { dropPermissions } from "./permissions.ts";
import {
  errorCode,
  exitCode,
  keepPrintsApart,
  logLine,
  printLine,
  printRawLine,
  screenOf,
  withoutControls,
} from "./terminal/output.ts";

/** Loads the file of each command, in the order of the help. */
export const COMMANDS: Readonly<
  Record<string, () => Promise<{ readonly command: Command }>>
> = {
  bench: () => import("./commands/bench.ts"),
  check: () => import("./commands/check.ts"),
  tune: () => import("./commands/tune.ts"),
  compare: () => import("./commands/compare.ts"),
  diff: () => import("./commands/diff.ts"),
  table: () => import("./commands/table.ts"),
  plot: () => import("./commands/plot.ts"),
  report: () => import("./commands/report.ts"),
  history: () => import("./commands/history.ts"),
  import: () => import("./commands/import.ts"),
  capture: () => import("./commands/capture.ts"),
  list: () => import("./commands/list.ts"),
  build: () => import("./commands/build.ts"),
  export: () => import("./commands/export.ts"),
  init: () => import("./commands/init.ts"),
  doctor: () => import("./commands/doctor.ts"),
} satisfies Record<
  keyof typeof BRIEFS,
  () => Promise<{ readonly command: Command }>
>;

/** The least width given to Optique, which throws where help does not fit. */
export const LEAST_WIDTH = 40;
const NO_WORDS: Words = {
  suites: [],
  kernels: [],
  backends: ["cuda", "hip", "metal", "cpu"],
};

/** What to do first, for who types no command. */
function firstSteps(): readonly string[] {
  const steps = [
    ["doctor", "what works on this machine"],
    ["bench --quick", "measure the built-in kernels and libraries"],
    ["bench mine.cu", "measure a kernel of yours beside them (.cu, .c, .hip)"],
    ["--help", `all commands; ${NAME} COMMAND --help has options and examples`],
  ];
  return [
    `${NAME} checks, times and compares GEMM kernels. Start with:`,
    ...aligned(steps.map(([line, what]) => [`  ${NAME} ${line}`, what!])),
  ];
}

/** Runs the command of `args`. @returns The exit code. @throws {UserError} */
export async function main(args: readonly string[]): Promise<number> {
  const [name = "", ...rest] = args;
  if (args.length === 0) {
    for (const line of firstSteps()) printLine(line);
    return EXIT.ok;
  }
  const { color, width } = screenOf(Deno.stdout);
  const parser = await parserOf(name, rest);
  const run = runParser<typeof parser, Run, Run>(parser, NAME, args, {
    brief: [text("Benchmarks GEMM kernels over M×N×K sweeps.")],
    colors: color,
    ...(Number.isFinite(width)
      ? { maxWidth: Math.max(LEAST_WIDTH, width) }
      : {}),
    showDefault: true,
    messageFormatter: (message, options) =>
      formatMessage(message, { ...options, quotes: false }),
    usageLine: [{ type: "command", name: "COMMAND" }, {
      type: "ellipsis",
    }],
    help: { option: true, onShow: () => finish(EXIT.ok) },
    version: { option: true, value: VERSION, onShow: () => finish(EXIT.ok) },
    completion: {
      command: { names: ["completions"] },
      onShow: () => finish(EXIT.ok),
    },
    aboveError: "none",
    stdout: printRawLine,
    stderr: () => {},
    onError(_, error) {
      const line = formatMessage(error, { quotes: true })
        .replaceAll(/\s*\n\s*/g, " ");
      logLine(
        `error: ${secondFile(name, line) ?? lateOption(rest, line) ?? line}`,
      );
      const own = Object.hasOwn(COMMANDS, name) ? `${name} ` : "";
      logLine(`Options and examples: ${typed(`${own}--help`)}`);
      return finish(errorCode(EXIT.usage));
    },
  });
  return await run();
}

/** Commands that take one kernel or suite file. */
const OF_ONE_FILE = ["bench", "check", "build", "export", "tune"];

/** Says how two files are given where `line` calls the second one unexpected. */
function secondFile(name: string, line: string): string | undefined {
  const [, file] =
    /^Unexpected option or argument: "(.+\.(?:c|cu|hip|metal|py(?::\w+)?|[jt]s))"\.$/
      .exec(line) ?? [];
  if (file === undefined || !OF_ONE_FILE.includes(name)) return undefined;
  return `Cannot take ${file} as well: ${name} takes one file; give several as in --suite a.cu,b.cu, or measure two in turns with compare a.cu b.cu`;
}

/** Says where options stand, where `line` calls one unexpected that stands after `--`. */
function lateOption(args: readonly string[], line: string): string | undefined {
  const [, option] =
    /^Unexpected option or argument: "(-[^"]+)"\./.exec(line) ?? [];
  const end = args.indexOf("--");
  if (option === undefined || end < 0) return undefined;
  if (!args.slice(end).includes(option)) return undefined;
  return `Cannot take ${option} after --, which ends the options: give it before`;
}

/** Returns the parser of the command `name`, or of all commands for help and completion. */
async function parserOf(
  name: string,
  args: readonly string[],
): Promise<Flags<Run>> {
  // An unknown option gets the near ones of its command.
  if (Object.hasOwn(COMMANDS, name)) {
    return (await COMMANDS[name]!()).command.parser(NO_WORDS, args);
  }
  if (name !== "completions") return outline();
  const all = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  const words = await allWords();
  return or(...all.map(({ command }) => command.parser(words)));
}

/** Returns the names of everything built in, which takes time to load. */
async function allWords(): Promise<Words> {
  const { builtInSuites } = await import("../suites/mod.ts");
  const { AUTO_KERNELS } = await import("../bench/tune/auto_kernel.ts");
  const suites = await builtInSuites();
  const kernels = suites.flatMap((suite) => suite.kernels);
  return {
    ...NO_WORDS,
    suites: [...suites.map(({ name }) => name), "all"],
    kernels: [
      ...new Set(kernels.map(({ name }) => name)),
      ...Object.keys(AUTO_KERNELS),
    ],
  };
}

function finish(code: number): Run {
  return () => Promise.resolve(code);
}

/** Describes an unexpected error in one line, with its place. */
export function unexpected(error: unknown): string {
  const { stack = "" } = error instanceof Error ? error : {};
  const place = stack.split("\n").find((line) => /^\s*at /.test(line))?.trim();
  const said = `${error}`.split("\n")[0];
  return `${said} (${
    place ?? "nowhere"
  }): a mistake of ${NAME} or of a suite file; please report the command and what follows`;
}

if (import.meta.main) {
  try {
    onFatal((message) => {
      logLine(`error: ${message}`);
      Deno.exit(errorCode(EXIT.usage));
    }, {
      to: "stderr",
      text: (message) =>
        `${withoutControls(`error: ${message}`, Deno.stderr)}\n`,
    });
    onWait(logLine);
    keepPrintsApart();
    goWhereTyped();
    dropPermissions(Deno.args);
    const code = await main(Deno.args);
    allowExit();
    Deno.exit(exitCode(code));
  } catch (thrown) {
    allowExit();
    const error = attributed(thrown);
    if (error instanceof UserError) {
      logLine(`error: ${error.message}`);
      Deno.exit(errorCode(error.code));
    }
    logLine(`error: ${unexpected(error)}`);
    for (const line of inspect(error).split("\n")) logLine(line);
    Deno.exit(errorCode(EXIT.failed));
  }
}
