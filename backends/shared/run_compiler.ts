/**
 * Compilers that are programs: run within a time limit, and believed only where a binary
 * was written.
 *
 * @module
 */

import { basename } from "node:path";
import { CaseError } from "../../bench/model/errors.ts";
import { compileError } from "./compile_log.ts";
import { descendantsOf } from "./descendants.ts";

/** What to run, and what is to come of it. */
export interface CompilerRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The file that it is to write. */
  readonly binary: string;
  /** The folder of the source, with its last slash: left out of messages. */
  readonly folder: string;
  /** Milliseconds after which it is killed. @default {120000} */
  readonly limitMs?: number;
}

const LIMIT_MS = 120_000;

/** How ELF (Linux, cubin), Mach-O, universal Mach-O and PE files start. */
const MAGIC = ["7f454c46", "cffaedfe", "cafebabe", "4d5a"];

/**
 * Runs the compiler `program`. @returns What it printed.
 *
 * @throws {CaseError} `compile`: its first error, that it hangs, that it cannot be run, or
 * that it wrote no binary.
 */
export async function runCompiler(
  program: string,
  { args, env, binary, folder, limitMs = LIMIT_MS }: CompilerRun,
): Promise<string> {
  const failed = (why: string, cause?: unknown) =>
    new CaseError("compile", `${basename(program)} ${why}`, { cause });
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args: [...args],
      ...(env ? { env } : {}),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    throw failed(
      `cannot be run: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
  const signal = AbortSignal.timeout(limitMs);
  let texts: readonly string[];
  try {
    texts = await Promise.all(
      [child.stderr, child.stdout].map((stream) => textOf(stream, signal)),
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    killTree(child.pid);
    await child.status;
    throw failed(
      `did not end within ${
        limitMs / 1000
      } s and was killed; use another compiler or a simpler kernel`,
    );
  }
  const { success } = await child.status;
  const log = texts.join("");
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

/**
 * Kills a driver such as cc and the compilers proper that it started. It has no process
 * group of its own, since it is to end with that of its worker.
 */
function killTree(pid: number): void {
  for (const one of [pid, ...descendantsOf(pid)]) {
    try {
      Deno.kill(one, "SIGKILL");
    } catch (cause) {
      // It ended by itself meanwhile.
      if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    }
  }
}

/**
 * What comes out of `stream` until it ends or `signal` aborts: a compiler's own children
 * may hold it open after the compiler was killed.
 */
async function textOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({
    write: (chunk) => {
      chunks.push(chunk);
    },
  });
  await stream.pipeTo(sink, { signal });
  return await new Blob(chunks).text();
}

/** The first four bytes of `file` in hexadecimal; empty where there are none. */
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
