/**
 * Runs programs to their end within a time limit: the one place that starts a tool.
 * Workers are started by `bench/worker/`, which shares {@linkcode kill}.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { basename } from "node:path";

/** Bytes of output that are kept of a program. */
const MOST_BYTES = 64 * 2 ** 20;

/** Options of a program's run. */
export interface ProgramRun {
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Variables that are added to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds after which it is killed. */
  readonly limitMs: number;
  /** Aborting it sends SIGTERM to the program, which then has its limit left to end. */
  readonly stop?: AbortSignal;
}

/** The output of a program, and whether it succeeded. */
export interface ProgramOutput {
  readonly success: boolean;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that could not be run, or that was killed because it did not end. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";

  /** @param late Whether it was started and did not end in time. */
  constructor(message: string, readonly late: boolean, cause?: unknown) {
    super(message, { cause });
  }
}

/**
 * Runs `program` and returns what it printed.
 *
 * @throws {ProgramError} If it cannot be run, or does not end: it is killed then, with all
 * that it started.
 */
export async function runProgram(
  program: string,
  { args, cwd, env, limitMs, stop }: ProgramRun,
): Promise<ProgramOutput> {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args: [...args],
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    throw cannotRun(program, error);
  }
  const signal = AbortSignal.timeout(limitMs);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const expire = () => reject(signal.reason);
  signal.addEventListener("abort", expire);
  const terminate = () => kill(child.pid, "SIGTERM");
  if (stop?.aborted) terminate();
  stop?.addEventListener("abort", terminate);
  try {
    const [stdout, stderr, { success, code }] = await Promise.race([
      Promise.all([
        textOf(child.stdout, signal),
        textOf(child.stderr, signal),
        // It may close its pipes and go on.
        child.status,
      ]),
      late,
    ]);
    return { success, code, stdout, stderr };
  } catch (error) {
    if (!signal.aborted) throw error;
    killTree(child.pid);
    await child.status;
    throw tooLate(program, limitMs);
  } finally {
    stop?.removeEventListener("abort", terminate);
    // With a listener the timer would keep this process.
    signal.removeEventListener("abort", expire);
  }
}

/**
 * Runs `program` while this thread waits. See {@linkcode runProgram}, but for what it
 * started: only the program itself is killed.
 *
 * @throws {ProgramError} If it cannot be run, or does not end.
 */
export function runProgramSync(
  program: string,
  { args, cwd, env, limitMs }: ProgramRun,
): ProgramOutput {
  // Deno's own outputSync() has no time limit.
  const { status, stdout, stderr, error } = spawnSync(program, [...args], {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env: { ...Deno.env.toObject(), ...env } }),
    timeout: limitMs,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: MOST_BYTES,
  });
  if (error === undefined) {
    return { success: status === 0, code: status ?? -1, stdout, stderr };
  }
  throw "code" in error && error.code === "ETIMEDOUT"
    ? tooLate(program, limitMs)
    : cannotRun(program, error);
}

function cannotRun(program: string, cause: unknown): ProgramError {
  const why = cause instanceof Error ? cause.message : `${cause}`;
  return new ProgramError(
    `${basename(program)} cannot be run: ${why}`,
    false,
    cause,
  );
}

function tooLate(program: string, limitMs: number): ProgramError {
  const text = `${basename(program)} did not end within ${
    limitMs / 1000
  } s and was killed`;
  return new ProgramError(text, true);
}

/**
 * Kills the process `pid` and all that it started, which need not be a process group of
 * its own.
 *
 * @param os The operating system, which decides how processes are listed. @default {this one}
 */
export function killTree(pid: number, os?: string): void {
  for (const one of [pid, ...descendantsOf(pid, os)]) kill(one);
}

/** Kills a process, or the group `-pid`, or sends another signal. One that has ended counts as killed. */
export function kill(pid: number, signal: Deno.Signal = "SIGKILL"): void {
  try {
    Deno.kill(pid, signal);
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
  }
}

/** The variable that marks a process, and so all that it starts. */
export const MARK = "MNKBENCH_WORKER";

/** Rounds of looking, of which the last ones found nothing: what is looked for may hand over. */
const [ROUNDS, EMPTY_ROUNDS] = [10, 2];

/**
 * Kills every other process whose environment has this value of {@linkcode MARK}, also one that
 * left its group and its parent. Does nothing on other systems than Linux: they tell no
 * environments.
 */
export function killMarked(mark: string): void {
  let empty = 0;
  for (let round = 0; round < ROUNDS && empty < EMPTY_ROUNDS; round++) {
    const found = marked(mark);
    found.forEach((pid) => kill(pid));
    empty = found.length === 0 ? empty + 1 : 0;
  }
}

function marked(mark: string): readonly number[] {
  if (Deno.build.os !== "linux") return [];
  // An environment that was read is of a process that this one may kill.
  const script = 'grep -lsaF -- "$0" /proc/[0-9]*/environ';
  const args = ["-c", script, `${MARK}=${mark}`];
  try {
    // The search itself must not have the mark.
    const run = { args, env: { [MARK]: "" }, limitMs: 20_000 };
    const { stdout } = runProgramSync("sh", run);
    return Array.from(stdout.matchAll(/^\/proc\/(\d+)\//gm), ([, pid]) => +pid!)
      .filter((pid) => pid !== Deno.pid);
  } catch (error) {
    if (error instanceof ProgramError) return [];
    throw error;
  }
}

/** Kills all that the process `pid` started, while it lives. */
export function killBelow(pid: number): void {
  descendantsOf(pid).forEach((one) => kill(one));
}

/**
 * Returns the children of this process that it did not start, because what it starts without a
 * session of its own has that of this process: orphans that fell to it, where it adopts them.
 * None on other systems than Linux.
 *
 * @param own Those with sessions of their own that it did start.
 */
export function adopted(own: ReadonlySet<number>): readonly number[] {
  if (Deno.build.os !== "linux") return [];
  const all = processes();
  const session = all.find(({ pid }) => pid === Deno.pid)?.session;
  return all.filter((one) =>
    one.parent === Deno.pid && one.session !== session && !one.dead &&
    !own.has(one.pid)
  ).map(({ pid }) => pid);
}

/** Kills what is {@linkcode adopted}, and what falls to this process when that ends. */
export function killAdopted(own: ReadonlySet<number>): void {
  let empty = 0;
  for (let round = 0; round < ROUNDS && empty < EMPTY_ROUNDS; round++) {
    const found = adopted(own);
    found.forEach((one) => killTree(one));
    empty = found.length === 0 ? empty + 1 : 0;
  }
}

/** Returns the processes below `pid`, while it lives; none where the system does not tell. */
function descendantsOf(pid: number, os?: string): readonly number[] {
  const children = Map.groupBy(processes(os), ({ parent }) => parent);
  const found: number[] = [];
  for (let left = [pid]; left.length > 0;) {
    left = left.flatMap((one) =>
      (children.get(one) ?? []).map(({ pid }) => pid)
    );
    found.push(...left);
  }
  return found;
}

/**
 * Returns the nearest process above this one whose name begins with `name`; nothing on other
 * systems than Linux.
 */
export function ancestorNamed(name: string): number | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const all = new Map(processes().map((one) => [one.pid, one]));
  let above = all.get(Deno.ppid);
  while (above !== undefined && !above.name.startsWith(name)) {
    above = all.get(above.parent);
  }
  return above?.pid;
}

interface Process {
  readonly pid: number;
  /** Its first 15 characters; empty on other systems than Linux. */
  readonly name: string;
  readonly parent: number;
  readonly session: number;
  /** Ended, but not yet taken note of by its parent. */
  readonly dead: boolean;
}

function processes(os: string = Deno.build.os): readonly Process[] {
  // Many containers of Linux have no `ps`; macOS has it, and no /proc.
  const [program, ...args] = os === "linux"
    ? ["sh", "-c", "cat /proc/[0-9]*/stat 2> /dev/null"]
    : ["ps", "-A", "-o", "pid=,ppid="];
  try {
    const { stdout } = runProgramSync(program!, { args, limitMs: 20_000 });
    return stdout.split("\n").map(processOf);
  } catch (error) {
    if (error instanceof ProgramError) return [];
    throw error;
  }
}

/** Reads `pid (name) state parent group session`, or `pid parent`. */
function processOf(line: string): Process {
  // The name may have parentheses and blanks.
  const end = line.lastIndexOf(")");
  const [pid = "", state = "", parent, , session] = end < 0
    ? line.trim().split(/\s+/).toSpliced(1, 0, "")
    : [line.split(" ")[0], ...line.slice(end + 2).split(" ")];
  return {
    pid: Number(pid),
    name: line.slice(line.indexOf("(") + 1, Math.max(end, 0)),
    parent: Number(parent),
    session: Number(session),
    dead: /[ZX]/.test(state),
  };
}

/**
 * Reads `stream` until it ends or `signal` aborts: a program's children may hold it open
 * after the program was killed.
 */
async function textOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({
    write(chunk) {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) chunks.push(chunk);
    },
  });
  await stream.pipeTo(sink, { signal });
  return await new Blob(chunks).text();
}

/**
 * Waits for `work` for at most `ms` milliseconds. Later work goes on, and its result is
 * dropped: for what cannot be stopped.
 *
 * @throws {Error} What `late` returns, where it takes longer.
 */
export async function within<T>(
  ms: number,
  { work, late }: { readonly work: Promise<T>; late(): Error },
): Promise<T> {
  if (!await isSettled(work, ms)) throw late();
  return await work;
}

/** Returns whether `work` is fulfilled within `ms` milliseconds. @throws What it is rejected with. */
export async function isSettled(
  work: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}
