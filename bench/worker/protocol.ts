/**
 * Defines the messages between the process that keeps results and the one that runs kernels.
 *
 * A worker gets one {@linkcode Job} as a line of JSON on its standard input, and answers
 * with {@linkcode Event}s on its standard output, each as an RFC 7464 record (a record
 * separator, JSON, a line feed) with the job's nonce before its JSON. Whatever else
 * appears there was printed by a kernel.
 *
 * @module
 */

import type { Backend, DeviceInfo } from "../device/device.ts";
import { revive, spell } from "../files/json_file.ts";
import { type Calibration, calibrationSchema } from "../measure/figures.ts";
import type { Spent } from "../measure/time_ledger.ts";
import { type ExitCode, UserError } from "../model/errors.ts";
import type { Selection, Settings } from "../model/settings.ts";
import type { Case, Place } from "../model/suite.ts";
import {
  anyNumber,
  caseKeySchema,
  configBySchema,
  FAILURES,
  rowSchema,
} from "../row/row_schema.ts";
import type { KnownConfigs } from "../tune/config_book.ts";
import { timingEntrySchema } from "../tune/timing_cache.ts";
import {
  array,
  exactOptional,
  type GenericSchema,
  type InferOutput,
  is,
  literal,
  number,
  object,
  picklist,
  pipe,
  readonly,
  string,
  variant,
} from "valibot";

/** The cases at one point of a suite, as a worker is sent them. */
export interface CaseGroup {
  /** The suite's name. */
  readonly suite: string;
  readonly place: Place;
  /** The names of the kernels. */
  readonly kernels: readonly string[];
}

/** The work of one worker. */
export interface Job
  extends Pick<Selection, "suites" | "backend" | "device" | "peers"> {
  /** The cases to run, in this order. */
  readonly cases: readonly CaseGroup[];
  readonly settings: Settings;
  /** Keys (as text) of those that have their row already. */
  readonly skip: readonly string[];
  /** The key (as text) of the case to run before the others. @default {the first case in the order of the suites} */
  readonly first?: string;
  /** Known configs of the cases. */
  readonly configs: KnownConfigs;
  /** Names the run in its rows. */
  readonly run: string;
  /** A calibration of the device, if there is one already. */
  readonly calibration?: Calibration;
  /** What was found to move times, joined by `+`, for the rows. @default {nothing} */
  readonly machine?: string;
  /** Workers on devices of this host at once, which share its cores. @default {1} */
  readonly workers?: number;
  /**
   * Repeated in every record, so that no kernel prints what looks like one. Whoever
   * starts the worker makes it.
   */
  readonly nonce?: string;
  /** The worker's process group. Whoever starts the worker knows it. @default {none} */
  readonly group?: number;
}

/** Takes what a worker says. */
export type Emit = (event: Event) => void;

/** A message of a worker; see {@linkcode eventSchema} for the fields of each. */
export type Event = Readonly<InferOutput<typeof eventSchema>>;

/** The event of a case whose config was chosen. */
export type Tuned = Extract<Event, { event: "tuned" }>;

const config = { key: caseKeySchema, config: string() };

/** What a worker cost so far: its time, and bytes of memory at most, between cases. */
const costs = {
  spent: object({
    build: anyNumber,
    calibrate: anyNumber,
    search: anyNumber,
    check: anyNumber,
    time: anyNumber,
    asked: anyNumber,
    total: anyNumber,
  }) satisfies GenericSchema<Spent>,
  /** Of JavaScript's heap and of buffers outside of it. */
  memoryBytes: number(),
};

/** The schema of an event. */
const eventSchema = variant("event", [
  /** It has opened its device; `cases` are those it will run, skipped ones left out. */
  object({
    event: literal("ready"),
    device: string(),
    arch: string(),
    driver: string(),
    libraries: pipe(array(string()), readonly()),
    cases: number(),
  }),
  object({ event: literal("build"), done: number(), total: number() }),
  object({ event: literal("calibration"), calibration: calibrationSchema }),
  /** Something for the person at the keyboard, which changes no row. */
  object({ event: literal("notice"), text: string() }),
  /** Now at work on this case: whatever kills the worker, this case did. */
  object({ event: literal("case"), key: caseKeySchema }),
  /** The config of this case is searched; others are, before it is timed. */
  object({ event: literal("waits"), key: caseKeySchema }),
  /**
   * A sign of life within a case that says what it begins, such as `search 120/300`, or nothing
   * where that has ended; `trying` is what a search tries now: whatever kills the worker, this config
   * did.
   */
  object({
    event: literal("progress"),
    note: string(),
    trying: exactOptional(object(config)),
  }),
  /** A sign of life that changes nothing else; not passed on. */
  object({ event: literal("alive") }),
  /** One config of a search; `crash`, `timeout` or `launch` where its worker is lost. */
  object({
    ...config,
    event: literal("config"),
    status: picklist(["ok", ...FAILURES]),
    median_us: exactOptional(anyNumber),
    note: string(),
  }),
  /**
   * How the config of a case was chosen: `timed` configs, of which `failed` were wrong or did
   * not run; those in the finals, fastest first.
   */
  object({
    ...config,
    event: literal("tuned"),
    by: configBySchema,
    us: exactOptional(number()),
    timed: number(),
    failed: number(),
    ms: number(),
    finalists: pipe(
      array(object({ config: string(), us: number() })),
      readonly(),
    ),
    entry: exactOptional(timingEntrySchema),
  }),
  /** What it cost so far: before each row, as a worker may be ended at any. */
  object({ ...costs, event: literal("costs") }),
  /** A finished case; `samples` are nanoseconds in the order they were taken. */
  object({
    event: literal("row"),
    row: rowSchema,
    samples: exactOptional(pipe(array(anyNumber), readonly())),
  }),
  /** It ends itself because a launch failed; start another to go on. */
  object({ event: literal("restart") }),
  object({ ...costs, event: literal("done") }),
  /** It cannot go on, and another worker could not either. */
  object({ event: literal("fatal"), message: string(), code: number() }),
]);

/** The cases that a runner runs, and where. */
export interface Assigned {
  readonly backend: Backend;
  readonly info: DeviceInfo;
  readonly cases: readonly Case[];
  /** The version of this program, for the rows. */
  readonly harness: string;
}

/** Runs the cases of `job`, and says what happens by `emit`. @returns The exit code. */
export type Runner = (
  job: Job,
  assigned: Assigned,
  emit: Emit,
) => Promise<ExitCode>;

/** Returns the beginning of each record of a worker. */
export function markOf(nonce: string): string {
  return `\x1e${nonce}`;
}

/** `event` as a record of the worker whose job has `nonce`. */
export function formatEvent(event: Event, nonce: string): string {
  return `${markOf(nonce)}${JSON.stringify(event, spell)}\n`;
}

/** Characters without a line feed after which even what begins as a record is passed on. */
const RECORD_LIMIT = 1 << 24;

/** Takes a worker's output in pieces and tells events from everything else. */
export class RecordReader {
  #rest = "";

  /**
   * @param sinks Called while {@linkcode RecordReader.push} or `end` runs; `printed` takes a
   * line with its end, or a part of a long one.
   * @param options `nonce`: the job's, as records without it were printed by a kernel;
   * `limit`: characters of the longest record.
   */
  constructor(
    readonly sinks: { event(event: Event): void; printed(text: string): void },
    readonly options: { readonly nonce: string; readonly limit?: number },
  ) {}

  /** Takes the next piece. */
  push(text: string): void {
    const lines = text.split("\n");
    const last = lines.pop()!;
    for (const line of lines) {
      this.#line(this.#rest + line);
      this.#rest = "";
    }
    this.#rest += last;
    if (this.#rest.length > (this.options.limit ?? RECORD_LIMIT)) this.end();
  }

  /** Passes on what had no line feed: an event that was torn when its writer died. */
  end(): void {
    if (this.#rest !== "") this.sinks.printed(this.#rest);
    this.#rest = "";
  }

  #line(line: string): void {
    const { event, printed } = read(line, this.options.nonce);
    if (printed !== "") this.sinks.printed(printed);
    if (event) this.sinks.event(event);
  }
}

/** The event in a line, if it has one that no print-out went through, and the text before it. */
function read(
  line: string,
  nonce: string,
): { readonly event?: Event; readonly printed: string } {
  const mark = markOf(nonce);
  const at = line.lastIndexOf(mark);
  const whole = { printed: `${line}\n` };
  if (at < 0) return whole;
  try {
    const event: unknown = JSON.parse(line.slice(at + mark.length), revive);
    const printed = line.slice(0, at);
    return is(eventSchema, event) ? { event, printed } : whole;
  } catch (cause) {
    if (cause instanceof SyntaxError) return whole;
    throw cause;
  }
}

/**
 * Reads the job, and from then on kills this process as soon as standard input ends, also
 * while a foreign call blocks it. Such a process ends by `Deno.exit` only, as a thread
 * goes on reading.
 *
 * @throws {UserError} Where there is no job.
 */
export async function receiveJob(): Promise<Job> {
  const line = readLine();
  if (line === undefined) {
    throw new UserError(
      "Cannot work without a job on standard input: workers are started by mnkbench bench",
    );
  }
  const job = JSON.parse(line) as Job;
  const watch = new Worker(new URL("./orphan_watch.ts", import.meta.url), {
    type: "module",
    name: `${job.group ?? ""}`,
  });
  // Not before the watch stands may anything run that could block or crash.
  await new Promise((resolve, reject) => {
    watch.onmessage = resolve;
    watch.onerror = reject;
  });
  watch.onmessage = null;
  return job;
}

/** The first line of standard input; nothing where it ends before the line does. */
function readLine(): string | undefined {
  const chunk = new Uint8Array(1 << 16);
  const decoder = new TextDecoder();
  let line = "";
  while (!line.endsWith("\n")) {
    const bytes = Deno.stdin.readSync(chunk);
    if (bytes === null) return undefined;
    line += decoder.decode(chunk.subarray(0, bytes), { stream: true });
  }
  return line;
}
