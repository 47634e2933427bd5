/**
 * The Python program that measures peers: its job, its messages, its process.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import {
  array,
  boolean,
  exactOptional,
  type InferOutput,
  literal,
  nullable,
  number,
  object,
  picklist,
  record,
  string,
  tuple,
  union,
  variant,
} from "valibot";
import { isSettled } from "../bench/files/run_program.ts";
import { DRAIN_MS } from "../bench/worker/worker_process.ts";
import { hashOf } from "../bench/files/hash.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import { jsonIn } from "../bench/files/json_file.ts";
import { parseValues } from "../bench/model/grid.ts";
import type { PeerCase } from "../bench/model/peer.ts";
import type { Settings } from "../bench/model/settings.ts";
import type { Problem } from "../bench/model/suite.ts";
import { ops } from "../kernels/mod.ts";
import { peersOf, PYTHON, sourcesOf } from "./cases.ts";

/** A case that Python ran. Milliseconds are of wall time. */
const timed = object({
  event: literal("result"),
  status: literal("ok"),
  id: number(),
  config: record(string(), union([string(), number()])),
  /** Choices that were measured, and how long that took. */
  tried: number(),
  search_ms: number(),
  /** The number of the first input that it changed. */
  changed: nullable(number()),
  /** Files with the output of the call, of its replay, and of the last sample. */
  outputs: tuple([string(), string(), string()]),
  /** Nanoseconds. */
  samples: array(number()),
  /** For the samples. */
  spent_ms: number(),
  /** For choosing, compiling and the first checks. */
  chosen_ms: number(),
  /** True where an earlier run had chosen already. */
  cached: boolean(),
  telemetry: object({
    sm_mhz: exactOptional(number()),
    mem_mhz: exactOptional(number()),
    power_w: exactOptional(number()),
    temp_c: exactOptional(number()),
    throttle: exactOptional(string()),
  }),
});

/** A case that Python could not run. */
const failed = object({
  event: literal("result"),
  status: picklist(["unsupported", "compile", "launch", "oom", "wrong"]),
  id: number(),
  note: string(),
});

const message = variant("event", [
  /** Nothing can be measured with this Python, and why. */
  object({ event: literal("refused"), reason: string() }),
  object({ event: literal("hello"), torch: string(), triton: string() }),
  object({ event: literal("build"), done: number(), total: number() }),
  object({ event: literal("case"), id: number() }),
  object({ event: literal("progress"), note: string() }),
  variant("status", [timed, failed]),
  object({ event: literal("done") }),
]);

/** A case that Python ran. */
export type PeerTimed = InferOutput<typeof timed>;
/** A message of Python. */
export type PeerMessage = InferOutput<typeof message>;

/** Output that is no message: of a wrong Python, or of a mistake in the program. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
}

/** The first line that the program reads; cases and problems are numbered by position. */
export function programJob(
  cases: readonly PeerCase[],
  { problems, info, scratch, settings, cacheDir, instruments }: {
    readonly problems: readonly Problem[];
    readonly info: DeviceInfo;
    /** Folder for outputs. */
    readonly scratch: string;
    readonly settings: Settings;
    /** Folder of the caches of Inductor and Triton. */
    readonly cacheDir: string;
    /** The binary of the harness's own kernels. */
    readonly instruments: string | undefined;
  },
): unknown {
  const { warmup, rep, cache, flush, checkOnly = false } = settings;
  return {
    cases: cases.map(({ peer, problem, ranges }, id) => ({
      id,
      peer: peer.name,
      kind: peer.kind,
      problem: problems.indexOf(problem),
      group: ranges,
      ...(peer.source && {
        file: fileURLToPath(peer.source.file),
        entry: peer.source.entry,
      }),
    })),
    problems: problems.map((p, id) => ({
      id,
      op: p.op,
      ...peersOf(p.op)?.fields(p),
      axes: parseValues(p.title),
      stored: p.operands,
    })),
    ...programFiles(),
    warmup,
    rep,
    cache,
    flush,
    scratch,
    check_only: checkOnly,
    flush_bytes: info.flushBytes,
    units: info.units,
    device: info.index,
    device_name: info.name,
    instruments: instruments ?? null,
    cache_dir: cacheDir,
  };
}

/** The modules of each operation, and a hash that changes with any file of the program. */
function programFiles() {
  const all = ops.flatMap(({ op, peers }) => peers ? [{ op, peers }] : []);
  const sources = all.flatMap(({ peers }) =>
    sourcesOf(peers).map((source) => fileURLToPath(source))
  );
  const path = (url: URL | undefined) => url && fileURLToPath(url);
  return {
    ops: Object.fromEntries(
      all.map(({ op, peers: { module, plan, search } }) => [
        op.name,
        { module: path(module), plan: path(plan), search: path(search) },
      ]),
    ),
    sources: hashOf(
      ...[...new Set(sources)].map((source) => Deno.readFileSync(source)),
    ),
  };
}

/** Characters of standard error that are remembered. */
const SAID_LENGTH = 1 << 14;

/** A started program; it ends itself when its standard input does. */
export class PeerProcess {
  readonly #child: Deno.ChildProcess;
  readonly #stderr: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #errors: Promise<void>;
  readonly #log: string;
  #said = "";

  /**
   * @param log A file for all that it writes to standard error, written anew.
   * @throws {Deno.errors.NotFound} Where there is no such `python`.
   */
  constructor(
    python: string,
    { program = new URL("peers.py", PYTHON), log }: {
      program?: URL | undefined;
      log: string;
    },
  ) {
    this.#log = log;
    this.#child = new Deno.Command(python, {
      // A crash then names itself, and the last lines of Python.
      args: ["-u", "-B", "-X", "faulthandler", fileURLToPath(program)],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#stderr = this.#child.stderr.getReader();
    this.#errors = this.#read();
  }

  /** Gives it a line. A program that is gone says so by its end, not here. */
  tell(message: unknown): void {
    const line = `${JSON.stringify(message)}\n`;
    this.#input.write(new TextEncoder().encode(line)).catch(() => {});
  }

  /** All that it says, until it ends. @throws {ProtocolError} For a line that is no message. */
  async *messages(): AsyncGenerator<PeerMessage> {
    const decoder = new TextDecoderStream();
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(decoder)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const value = jsonIn(message, line);
        if (value === undefined) {
          throw new ProtocolError(
            `said what is no message: ${line.slice(0, 200)}`,
          );
        }
        yield value;
      }
    }
  }

  /** Waits for its end, and tells it with the last line that it wrote of an error. */
  async ending(): Promise<string> {
    const { code, signal } = await this.#child.status;
    // What it started may hold its pipe open, and outlive it.
    if (!await isSettled(this.#errors, DRAIN_MS)) await this.#stderr.cancel();
    await this.#errors;
    const how = signal ? `was killed by ${signal}` : `exited with code ${code}`;
    // What was said before the last case tells of others.
    const of = this.#said.split(/^\[[\d.]+ s\] case .*$/m).at(-1)!;
    const lines = of.split(/[\r\n]+/).map((line) => line.trim())
      // Lines of its own log tell nothing of its end.
      .filter((line) => line !== "" && !/^\[[\d.]+ s\] /.test(line));
    const last = lines.findLast((line) => /error\b/i.test(line)) ??
      lines.at(-1);
    return last === undefined ? how : `${how} (${last.slice(0, 300)})`;
  }

  /** Ends it at once. */
  kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch (cause) {
      // One that has ended is dead as wished.
      if (!(cause instanceof TypeError)) throw cause;
    }
  }

  async #read(): Promise<void> {
    using file = await Deno.open(this.#log, {
      write: true,
      create: true,
      truncate: true,
    });
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value: bytes } = await this.#stderr.read();
      if (done) return;
      await file.write(bytes);
      const text = decoder.decode(bytes, { stream: true });
      this.#said = (this.#said + text).slice(-SAID_LENGTH);
    }
  }
}
