/**
 * Damages files of each kind and has the program read them: it must give the same reading, or
 * refuse the file in one line that names it and the place, with the exit code of bad usage.
 *
 * @module
 */

import { dirname } from "node:path";
import { removeIfThere } from "../../../bench/files/disk.ts";
import { EXIT } from "../../../bench/model/errors.ts";
import { type Kind, kindsIn, SWEEP } from "./kinds.ts";
import {
  damageBytes,
  type Damaged,
  damageText,
  type Random,
  randomOf,
} from "./mutations.ts";
import { MAKE, MARK, type Reply, type Request } from "./reader_process.ts";

/** Milliseconds after which nothing comes any more, however busy the machine is. */
const HUNG_MS = 300_000;

/** The outcomes of the damaged files of one kind. */
export interface Tally {
  readonly kind: string;
  /** Refused in one line. */
  refused: number;
  /** Read as what the good file says. */
  same: number;
  /** Read as something else that may stand in such a file. */
  edited: number;
  /** Milliseconds of the slowest refusal. A journal that is accepted measures the rest. */
  slowest: number;
  /** Read though it must be refused, or refused badly: one text each. */
  readonly failures: string[];
}

/** Options of {@linkcode damageFiles}. */
export interface DamageOptions {
  /** Damaged files of each kind. */
  readonly count: number;
  readonly seed: number;
  /** Kinds whose names have this text. @default {""} */
  readonly only?: string;
  /** Milliseconds in which a damaged file is refused. @default {until it hangs} */
  readonly limitMs?: number;
}

/** Damages files of each kind. Needs a C compiler for the good ones. */
export async function* damageFiles(
  { only = "", ...options }: DamageOptions,
): AsyncGenerator<Tally> {
  const folder = Deno.makeTempDirSync({ prefix: "damage-" });
  try {
    const reader = new Reader(folder, [MAKE]);
    await reader.ready;
    await using campaign = new Campaign(folder, reader);
    for (const name of Object.keys(campaign.kinds)) {
      if (!name.includes(only)) continue;
      yield await campaign.run(name, options);
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** Formats the line that sums `tally` up. */
export function formatTally(
  { kind, refused, same, edited, slowest, failures }: Tally,
): string {
  const count = refused + same + edited + failures.length;
  return `${kind}: ${count} damaged: ${refused} refused, ${same} read as before, ${edited} as an edit, ${failures.length} wrongly; slowest refusal ${
    (slowest / 1000).toFixed(1)
  } s`;
}

/** The good files, of which one at a time is damaged and read. */
class Campaign implements AsyncDisposable {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly #folder: string;
  readonly #files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  #reader: Reader;

  constructor(folder: string, reader: Reader) {
    this.#folder = folder;
    this.#reader = reader;
    this.#files = new Map(
      [...filesBelow(folder)].map((path) => [
        path.slice(folder.length + 1),
        Deno.readFileSync(path),
      ]),
    );
    this.kinds = kindsIn([...this.#files.keys()]);
  }

  async run(
    name: string,
    { count, seed, limitMs = HUNG_MS }: DamageOptions,
  ): Promise<Tally> {
    const kind = this.kinds[name]!;
    const failures: string[] = [];
    const tally: Tally = {
      kind: name,
      refused: 0,
      same: 0,
      edited: 0,
      slowest: 0,
      failures,
    };
    const good = this.#files.get(kind.file)!;
    const args = kind.commands[0] ?? [];
    const { reply, stderr } = await this.#read(name, args, good);
    const before = reply?.value;
    if (before === undefined) {
      throw new Error(`The good file of ${name} is refused: ${stderr}`);
    }
    for (let i = 0; i < count; i++) {
      const random = randomOf(seed * 1_000_003 + i);
      const { damage, bytes } = await damagedBy(kind, good, random);
      const args = kind.commands[i % Math.max(1, kind.commands.length)] ?? [];
      const start = performance.now();
      const read = await this.#read(name, args, bytes);
      const ms = performance.now() - start;
      const judgement = judged(kind, read, before);
      const isLate = judgement === "refused" && ms > limitMs;
      const verdict = isLate ? `refused after ${ms} ms` : judgement;
      if (judgement === "refused") {
        tally.slowest = Math.max(tally.slowest, ms);
      }
      if (verdict === "refused" || verdict === "same" || verdict === "edited") {
        tally[verdict]++;
      } else {
        const command = args.join(" ") || "a reading";
        failures.push(
          `${name}, seed ${seed}, number ${i}, ${damage}, ${command}: ${verdict}`,
        );
      }
    }
    return tally;
  }

  /** Puts `bytes` in the place of the good file of a kind and reads it. */
  async #read(
    name: string,
    args: readonly string[],
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<Read> {
    const { file } = this.kinds[name]!;
    for (const made of ["out", "page.html", "published", "found.json"]) {
      removeIfThere(`${this.#folder}/${made}`);
    }
    // A run that is complete is removed.
    if (args[0] === SWEEP) this.#restore(/^runs\//);
    const path = `${this.#folder}/${file}`;
    Deno.writeFileSync(path, bytes);
    const files = [...this.#files.keys()];
    const read = await this.#reader.read({ kind: name, files, args });
    if (read.reply === undefined) {
      await this.#reader[Symbol.asyncDispose]();
      this.#reader = new Reader(this.#folder, []);
      await this.#reader.ready;
    }
    this.#restore(new RegExp(`^${RegExp.escape(file)}$`));
    return read;
  }

  #restore(which: RegExp): void {
    for (const [path, bytes] of this.#files) {
      if (!which.test(path)) continue;
      const full = `${this.#folder}/${path}`;
      Deno.mkdirSync(dirname(full), { recursive: true });
      Deno.writeFileSync(full, bytes);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
  }
}

async function damagedBy(
  { as }: Kind,
  good: Uint8Array<ArrayBuffer>,
  random: Random,
): Promise<Damaged> {
  if (as === "bytes") return damageBytes(good, random);
  if (as === "text") return damageText(new TextDecoder().decode(good), random);
  const text = await through(good, new DecompressionStream("gzip")).text();
  const { damage, bytes } = damageText(text, random);
  const packed = through(bytes, new CompressionStream("gzip"));
  return { damage, bytes: await packed.bytes() };
}

function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: ReadableWritablePair<Uint8Array<ArrayBuffer>, BufferSource>,
): Response {
  return new Response(new Blob([bytes]).stream().pipeThrough(stream));
}

/** A reading, and what was printed. */
interface Read {
  /** Missing where there was none in time, or the process ended. */
  readonly reply?: Reply;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the outcome, or what is wrong. */
function judged(
  { file, named = file, codes, place, flaw }: Kind,
  { reply, stderr }: Read,
  before: string,
): string {
  if (reply === undefined) {
    return `no outcome, or the process ended: ${stderr}`;
  }
  const errors = stderr.split("\n").filter((line) => line.startsWith("error:"));
  if (/a mistake of |^\s+at /m.test(stderr)) return stderr;
  if (reply.code === EXIT.usage) {
    const [line = ""] = errors;
    return errors.length === 1 && line.includes(named) && place.test(line) &&
        line.length < 1000
      ? "refused"
      : `refused badly: ${stderr}`;
  }
  if (!codes.includes(reply.code)) return `exit code ${reply.code}: ${stderr}`;
  if (reply.value === undefined) return "a command takes what is refused";
  if (reply.value === before) return "same";
  if (flaw === undefined) return `read as ${reply.value}`;
  return flaw(JSON.parse(reply.value), JSON.parse(before)) ?? "edited";
}

/** A process that reads files. */
class Reader implements AsyncDisposable {
  /** Settled when it waits for requests. */
  readonly ready: Promise<void>;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stdout: Printed;
  readonly #stderr: Printed;

  constructor(cwd: string, args: readonly string[]) {
    const script = new URL("reader_process.ts", import.meta.url).pathname;
    const config = new URL("../../../deno.json", import.meta.url).pathname;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--no-prompt", "--config", config],
        ...["-A", script, ...args],
      ],
      cwd,
      // A task names the folder that it was started in, by which paths would be taken.
      env: { NO_COLOR: "1", INIT_CWD: cwd },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#stdout = new Printed(this.#child.stdout);
    this.#stderr = new Printed(this.#child.stderr);
    this.ready = this.#started();
  }

  async #started(): Promise<void> {
    const [stdout, stderr] = await Promise.all([
      this.#stdout.next(HUNG_MS),
      this.#stderr.next(HUNG_MS),
    ]);
    if (stdout.marked === undefined) {
      throw new Error(`Cannot start the reader: ${stderr.text}`);
    }
  }

  async read(request: Request): Promise<Read> {
    const line = `${JSON.stringify(request)}\n`;
    await this.#input.write(new TextEncoder().encode(line));
    const [stdout, stderr] = await Promise.all([
      this.#stdout.next(HUNG_MS),
      this.#stderr.next(HUNG_MS),
    ]);
    return {
      stdout: stdout.text,
      stderr: stderr.text,
      ...(stdout.marked && { reply: JSON.parse(stdout.marked) as Reply }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#input.abort().catch(() => undefined);
    await this.#child.status;
    await Promise.all([this.#stdout.ended, this.#stderr.ended]);
  }
}

/** The output of a process, in parts that end at a line with {@linkcode MARK}. */
class Printed {
  readonly ended: Promise<void>;
  #text = "";
  #isOver = false;
  #wake = () => {};

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.ended = (async () => {
      for await (const part of stream.pipeThrough(new TextDecoderStream())) {
        this.#text += part;
        this.#wake();
      }
      this.#isOver = true;
      this.#wake();
    })();
  }

  /** Waits for the next mark. @returns What stands before it, and behind it on its line. */
  async next(
    limitMs: number,
  ): Promise<{ readonly text: string; readonly marked?: string }> {
    const late = AbortSignal.timeout(limitMs);
    late.addEventListener("abort", () => this.#wake());
    while (true) {
      const [before, after, ...more] = this.#text.split(MARK);
      const end = after?.indexOf("\n") ?? -1;
      if (end >= 0) {
        this.#text = [after!.slice(end + 1), ...more].join(MARK);
        return { text: before!, marked: after!.slice(0, end) };
      }
      if (late.aborted || this.#isOver) return { text: this.#text };
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}

/** The paths of the files below `folder`. */
export function* filesBelow(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    else yield path;
  }
}
