/**
 * The program: reads the command line, runs one command, and exits with its code.
 *
 * @module
 */

import { or } from "@optique/core/constructs";
import { runParser } from "@optique/core/facade";
import { formatMessage, text } from "@optique/core/message";
import { EXIT, UserError } from "../bench/model/errors.ts";
import type { Run } from "./command.ts";
import { COMMANDS, RENAMED } from "./commands.ts";
import { done, onFatal } from "../session/suite_file.ts";
import { NAME, VERSION } from "../session/home.ts";
import type { Words } from "../session/options.ts";
import type { Flags } from "./options/flags.ts";
import { sayAsIs, screenOf, tell } from "./terminal/output.ts";

const LEAST_WIDTH = 21;
const NO_WORDS: Words = {
  suites: [],
  kernels: [],
  backends: ["cuda", "hip", "metal", "cpu"],
};

async function main(args: readonly string[]): Promise<number> {
  const [name = "", ...rest] = args;
  if (Object.hasOwn(RENAMED, name)) throw new UserError(RENAMED[name]!);
  const { color, width } = screenOf(Deno.stdout);
  const parser = await parserOf(name, rest);
  const run = runParser<typeof parser, Run, Run>(parser, NAME, args, {
    brief: [text("Benchmarks GEMM kernels over M×N×K sweeps.")],
    colors: color,
    // Narrower, the library refuses.
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
    stdout: sayAsIs,
    stderr: () => {},
    onError(_, error) {
      const line = formatMessage(error, { quotes: true })
        .replaceAll(/\s*\n\s*/g, " ");
      tell(`error: ${line}`);
      tell(`Type ${NAME} --help for what there is`);
      return finish(EXIT.usage);
    },
  });
  return await run();
}

/** The parser of the command `name`; of all where there is none, for help and completion. */
async function parserOf(
  name: string,
  args: readonly string[],
): Promise<Flags<Run>> {
  // An unknown option gets the near ones of its command.
  if (Object.hasOwn(COMMANDS, name)) {
    return (await COMMANDS[name]!()).command.parser(NO_WORDS, args);
  }
  const all = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  if (name !== "completions") {
    return or(...all.map(({ command }) => command.outline()));
  }
  const words = await (await import("./options/words.ts")).words();
  return or(...all.map(({ command }) => command.parser(words)));
}

function finish(code: number): Run {
  return () => Promise.resolve(code);
}

/** A mistake of the program, or of a suite file: what, and where to look. */
function unexpected(error: unknown): string {
  const { stack = "" } = error instanceof Error ? error : {};
  const place = stack.split("\n").find((line) => /^\s*at /.test(line))?.trim();
  const said = `${error}`.split("\n")[0];
  return `${said} (${
    place ?? "nowhere"
  }): a mistake of ${NAME} or of a suite file; please report the command and this line`;
}

if (import.meta.main) {
  try {
    onFatal((message) => {
      tell(`error: ${message}`);
      Deno.exit(EXIT.usage);
    });
    const code = await main(Deno.args);
    done();
    Deno.exit(code);
  } catch (error) {
    done();
    if (error instanceof UserError) {
      tell(`error: ${error.message}`);
      Deno.exit(error.code);
    }
    tell(`error: ${unexpected(error)}`);
    Deno.exit(EXIT.failed);
  }
}
