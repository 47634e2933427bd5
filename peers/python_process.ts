/**
 * The Python program that measures peers, as the worker that started it sees it.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { PEER_PROGRAM } from "./torch.ts";
import {
  hasTexts,
  isFields,
  isNumbers,
  parseJson,
} from "../bench/files/json_shape.ts";
import type { Failure } from "../bench/model/errors.ts";
import type { Values } from "../bench/model/grid.ts";
import type { Telemetry } from "../bench/device/device.ts";

/** A case that Python ran. */
export interface PeerTimed {
  readonly event: "result";
  readonly status: "ok";
  readonly id: number;
  readonly config: Values;
  /** Choices that were measured, and the milliseconds that it took. */
  readonly tried: number;
  readonly search_ms: number;
  /** The number of the first input that it changed. */
  readonly changed: number | null;
  /** Files with the output of the call, of its replay, and of the last sample. */
  readonly outputs: readonly string[];
  /** Nanoseconds. */
  readonly samples: readonly number[];
  /** Milliseconds of wall time for the samples. */
  readonly spent_ms: number;
  /** Milliseconds of wall time for choosing, compiling and the first checks. */
  readonly chosen_ms: number;
  /** Whether an earlier run had chosen already. */
  readonly cached: boolean;
  readonly telemetry: Telemetry;
}

/** What Python says. */
export type PeerMessage =
  /** Nothing can be measured with it, and why. */
  | { readonly event: "refused"; readonly reason: string }
  | {
    readonly event: "hello";
    readonly torch: string;
    readonly triton: string;
  }
  | { readonly event: "build"; readonly done: number; readonly total: number }
  | { readonly event: "case"; readonly id: number }
  | { readonly event: "progress"; readonly note: string }
  | PeerTimed
  | {
    readonly event: "result";
    readonly status: Failure;
    readonly id: number;
    readonly note: string;
  }
  | { readonly event: "done" };

/** What a program says that none of ours would: a wrong Python, or a mistake in ours. */
export class Misspoken extends Error {
  override name = "Misspoken";
}

const FAILURES: readonly string[] = [
  "unsupported",
  "compile",
  "launch",
  "oom",
] satisfies Failure[];

function isMessage(value: unknown): value is PeerMessage {
  if (!isFields(value)) return false;
  const { event, id, status } = value;
  switch (event) {
    case "refused":
      return hasTexts(value, ["reason"]);
    case "hello":
      return hasTexts(value, ["torch", "triton"]);
    case "build":
      return isNumbers([value.done, value.total]);
    case "case":
      return typeof id === "number";
    case "progress":
      return hasTexts(value, ["note"]);
    case "result":
      if (typeof id !== "number") return false;
      if (status !== "ok") {
        return FAILURES.includes(`${status}`) && hasTexts(value, ["note"]);
      }
      return isFields(value.config) && isFields(value.telemetry) &&
        isNumbers([
          value.tried,
          value.search_ms,
          value.spent_ms,
          value.chosen_ms,
        ]) &&
        typeof value.cached === "boolean" &&
        isNumbers(value.samples) && value.samples.length > 0 &&
        Array.isArray(value.outputs) && value.outputs.length === 3;
    default:
      return event === "done";
  }
}

/** Characters of standard error that are remembered. */
const SAID_LENGTH = 1 << 14;

/** A started program; it ends itself when its standard input does. */
export class PeerProcess {
  readonly #child: Deno.ChildProcess;
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
    { program = PEER_PROGRAM, log }: { program?: URL; log: string },
  ) {
    this.#log = log;
    this.#child = new Deno.Command(python, {
      args: ["-u", "-B", fileURLToPath(program)],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#errors = this.#read();
  }

  /** Gives it a line. A program that is gone says so by its end, not here. */
  tell(message: unknown): void {
    const line = `${JSON.stringify(message)}\n`;
    this.#input.write(new TextEncoder().encode(line)).catch(() => {});
  }

  /** All that it says, until it ends. @throws {Misspoken} For a line that is no message. */
  async *messages(): AsyncGenerator<PeerMessage> {
    const decoder = new TextDecoderStream();
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(decoder)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const value = parseJson(line);
        if (!isMessage(value)) {
          throw new Misspoken(`said what is no message: ${line.slice(0, 200)}`);
        }
        yield value;
      }
    }
  }

  /** How it ended, with the last line that it wrote of an error; waits for the end. */
  async ending(): Promise<string> {
    const { code, signal } = await this.#child.status;
    await this.#errors;
    const how = signal ? `was killed by ${signal}` : `exited with code ${code}`;
    const lines = this.#said.split(/[\r\n]+/).map((line) => line.trim())
      .filter((line) => line !== "");
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
    for await (const bytes of this.#child.stderr) {
      await file.write(bytes);
      const text = decoder.decode(bytes, { stream: true });
      this.#said = (this.#said + text).slice(-SAID_LENGTH);
    }
  }
}
