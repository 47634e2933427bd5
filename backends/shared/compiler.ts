/**
 * Runs compilers and other tools of backends, and says in one line why one failed.
 *
 * @module
 */

import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Build, Compiler } from "../../bench/device/device.ts";
import {
  ProgramError,
  type ProgramOutput,
  runProgram,
  runProgramSync,
} from "../../bench/files/run_program.ts";
import { CaseError } from "../../bench/model/errors.ts";

/** A tool that answers does so at once; one on a network's disk may need a while. */
const ANSWER_MS = 20_000;

/** Error texts of tools that hung: each is waited for once. */
const hung = new Map<string, string>();

/**
 * Returns what `program` prints, or `undefined` where there is no such program.
 *
 * @throws {CaseError} `compile`, where it does not end.
 */
export function askTool(
  program: string,
  args: readonly string[],
  limitMs = ANSWER_MS,
): ProgramOutput | undefined {
  const command = [program, ...args].join(" ");
  const known = hung.get(command);
  if (known !== undefined) throw new CaseError("compile", known);
  try {
    return runProgramSync(program, { args, limitMs });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (!error.late) return undefined;
    const why = `${[basename(program), ...args].join(" ")} did not end within ${
      limitMs / 1000
    } s and was killed; repair it, or put another compiler first in PATH`;
    hung.set(command, why);
    throw new CaseError("compile", why);
  }
}

/** A compiler's arguments, and the file that it must write. */
interface CompilerRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The file that it is to write. */
  readonly binary: string;
  /** The folder of the source, with its last slash: left out of messages. */
  readonly folder: string;
  /** Milliseconds after which it is killed. @default {120000} */
  readonly limitMs?: number;
}

/** The first bytes of ELF (Linux, cubin), Mach-O, universal Mach-O and PE files. */
const MAGIC = ["7f454c46", "cffaedfe", "cafebabe", "4d5a"];

/**
 * Runs the compiler `program`. Returns what it printed.
 *
 * @throws {CaseError} `compile`: its first error, that it hangs, that it cannot be run, or
 * that it wrote no binary.
 */
export async function runCompiler(
  program: string,
  { binary, folder, limitMs = 120_000, ...run }: CompilerRun,
): Promise<string> {
  const failed = (why: string, cause?: unknown) =>
    new CaseError("compile", `${basename(program)} ${why}`, { cause });
  const { success, stdout, stderr } = await runProgram(program, {
    ...run,
    // What it leaves when it is killed is removed with the folder of its binary.
    env: { ...run.env, TMPDIR: resolve(dirname(binary)) },
    limitMs,
  }).catch((error) => {
    if (!(error instanceof ProgramError)) throw error;
    const wayOut = error.late
      ? "; use another compiler or a simpler kernel"
      : "";
    throw new CaseError("compile", `${error.message}${wayOut}`, {
      cause: error,
    });
  });
  const log = stderr + stdout;
  if (!success) throw compileError(log, folder);
  const start = await startOf(binary);
  if (start === "") {
    throw failed("reported success and wrote no binary; use another compiler");
  }
  if (!MAGIC.some((magic) => start.startsWith(magic))) {
    throw failed(
      `wrote something that is no binary (it starts with ${start}); use another compiler`,
    );
  }
  return log;
}

/** Returns the first four bytes of `file` in hexadecimal; empty where there are none. */
async function startOf(file: string): Promise<string> {
  try {
    using opened = await Deno.open(file);
    const bytes = new Uint8Array(4);
    const count = await opened.read(bytes) ?? 0;
    return bytes.subarray(0, count).toHex();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

const EMULATOR = fileURLToPath(new URL("../../emulator/", import.meta.url));

/**
 * Returns the failure behind a compiler's `log`: its first error, without the folder
 * that the source is in, and the whole log as its cause.
 */
export function compileError(log: string, folder: string): CaseError {
  const lines = log.split("\n").map((line) => line.trim()).filter(Boolean);
  const errors = lines.filter((line) => /\b(error|fatal)\b/i.test(line));
  const first = errors.find((line) => !line.startsWith(EMULATOR)) ??
    noteIn(folder, lines) ?? errors[0] ?? lines[0] ??
    "the compiler failed and printed nothing";
  return new CaseError("compile", first.replaceAll(folder, ""), { cause: log });
}

/**
 * Returns the first note about a file in `folder` with the text of its error: a brace that the
 * source lacks is an error of the emulator's header that the compiler reads after it.
 */
function noteIn(folder: string, lines: readonly string[]): string | undefined {
  const at = lines.findIndex((line) =>
    line.startsWith(folder) && line.includes(": note: ")
  );
  const error = lines.slice(0, Math.max(at, 0))
    .findLast((line) => line.includes(": error: "))?.split(": error: ")[1];
  return error && lines[at]!.replace(": note: ", `: error: ${error}, `);
}

/**
 * Makes sure that `build` has no options of its own, which `tool` does not take.
 *
 * @throws {CaseError} `compile`, where it has.
 */
export function demandPlain(build: Build, tool: string): void {
  for (const name of ["flags", "includes", "compiler"] as const) {
    if ((build[name]?.length ?? 0) === 0) continue;
    throw new CaseError(
      "compile",
      `Cannot compile ${
        basename(fileURLToPath(build.source))
      } with ${name}: ${tool} takes none; leave out ${name}`,
    );
  }
}

/** Returns the own flags, folders and macros of `build` as options. */
export function ownOptions(
  { flags = [], includes = [], defines }: Build,
  { before = [], after = [] }: {
    /** Folders of headers before those of `build`. */
    readonly before?: readonly string[];
    readonly after?: readonly string[];
  } = {},
): readonly string[] {
  const folders = includes.map((folder) => fileURLToPath(folder));
  return [
    ...flags,
    ...[...before, ...folders, ...after].map((folder) => `-I${folder}`),
    ...Object.entries(defines).map(([name, value]) => `-D${name}=${value}`),
  ];
}

/**
 * Returns the compiler that `program` is, or `undefined` where it cannot be run.
 *
 * @param how.options Options before the macros.
 * @param how.libraries Options after the source, where linkers want libraries.
 * @param how.patienceMs Milliseconds in which it must say its version.
 * @throws {CaseError} `compile`, where it hangs.
 */
export function programCompiler(
  program: string,
  { options, libraries = [], patienceMs }: {
    readonly options: readonly string[];
    readonly libraries?: readonly string[];
    readonly patienceMs?: number | undefined;
  },
): Compiler | undefined {
  const answer = askTool(program, ["--version"], patienceMs);
  if (!answer?.success) return undefined;
  const version = /\d+\.\d+(\.\d+)?/.exec(answer.stdout)?.[0];
  return {
    signature: `${basename(program)} ${version ?? "of unknown version"}`,
    async compile(build, binary) {
      const source = fileURLToPath(build.source);
      return await runCompiler(program, {
        args: [
          ...[...options, ...ownOptions(build)],
          ...["-o", binary, source, ...libraries],
        ],
        // The first error is looked for by its English name.
        env: { LC_ALL: "C" },
        binary,
        folder: source.slice(0, source.lastIndexOf("/") + 1),
      });
    },
  };
}
