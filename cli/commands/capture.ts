/**
 * `mnkbench capture`: the GEMMs that a program runs, or that a model would run.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { resolve } from "node:path";
import {
  buildRecorder,
  recorderVariables,
} from "../../backends/cuda/capture/recorder.ts";
import { onDisk, saidBy } from "../../bench/files/disk.ts";
import { makeTemporary } from "../../bench/files/lock.ts";
import { kill } from "../../bench/files/run_program.ts";
import {
  assertWritable,
  contained,
  replaceFile,
} from "../../bench/files/replace.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { shownJson } from "../../bench/files/json_file.ts";
import type { Captured } from "../../bench/model/captured.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { joined, type Parts, readParts } from "../../session/capture/parts.ts";
import { capturedSuites } from "../../session/capture/suites_of.ts";
import { kernelCacheOf, quoted, typed } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import { about, kernelCache, maybe, preset } from "../options/flags.ts";
import { number, path } from "../options/readers.ts";
import { logLine } from "../terminal/output.ts";
import { capturedOfModel, modelFlags } from "./capture/model.ts";
import { summaryOf } from "./capture/summary.ts";

/** `mnkbench capture`. */
export const command = define({
  name: "capture",
  brief: BRIEFS.capture,
  examples: [
    "capture -- python serve.py",
    "capture --warmup 30 --seconds 10 -- vllm serve meta-llama/Llama-3.1-8B",
  ],
  codes: {
    0: "the program ended with 0, and its GEMMs are recorded",
    3: "the program ended with 0, and no GEMM was seen; any other code is the program's own",
  },
  flags,
  run: capture,
});

const seconds = () => number("SECONDS", { whole: false });

function flags() {
  return object("Capturing", {
    program: multiple(
      argument(
        string({ metavar: "PROGRAM" }),
        about("The program and its arguments, after --."),
      ),
    ),
    warmup: preset(
      "--warmup",
      seconds(),
      "Time from a process's first GEMM to the window.",
      0,
    ),
    seconds: maybe(
      "--seconds",
      seconds(),
      "Length of the window (default: until the program ends).",
    ),
    range: maybe(
      "--range",
      string({ metavar: "NAME" }),
      "NVTX range that is the window, such as torch.cuda.nvtx.range(NAME); the first of that name.",
    ),
    ...modelFlags(),
    out: preset(
      "--out",
      path("DIR"),
      "Folder of captured.json and of a suite of its GEMMs, captured.ts.",
      "captured",
    ),
    kernelCache: kernelCache(),
  });
}

const CAPTURED = "captured.json";

type Options = InferValue<ReturnType<typeof flags>>;

/** Milliseconds between two looks whether the window is over. */
const LOOK_MS = 500;

async function capture(options: Options): Promise<number> {
  const { program, model, out } = options;
  if ((program.length === 0) === (model === undefined)) {
    throw new UserError(
      "Nothing to capture, or two things: name a program, as in `capture -- python serve.py`, or a model, as in `capture --model config.json`",
    );
  }
  onDisk(out, () => Deno.mkdirSync(out, { recursive: true }));
  if (model === undefined) return await captureProgram(options);
  write(out, capturedOfModel({ ...options, model }));
  return EXIT.ok;
}

async function captureProgram(
  { program, warmup, out, ...options }: Options,
): Promise<number> {
  if (Deno.build.os !== "linux") {
    throw new UserError(
      "Cannot capture on this system: the recorder is loaded by LD_PRELOAD; use Linux",
    );
  }
  const { range } = options;
  const isTimed = warmup > 0 || options.seconds !== undefined;
  if (range === "" || (range !== undefined && isTimed)) {
    throw new UserError(
      "Cannot tell the window: give --range a name, or --warmup and --seconds without it",
    );
  }
  assertWritable(contained(out, CAPTURED));
  const library = await buildRecorder(kernelCacheOf(options.kernelCache));
  using temporary = makeTemporary("mnkbench-capture-");
  const folder = temporary.path;
  const variables = recorderVariables(resolve(library), {
    folder,
    warmup,
    seconds: options.seconds ?? 0,
    range,
  });
  const started = performance.now();
  const ran = () => ({
    program,
    wall_s: (performance.now() - started) / 1000,
  });
  using child = new Child(program, variables);
  let told: string | undefined;
  const code = await child.ended(LOOK_MS, () => {
    if ((options.seconds ?? range) === undefined) return true;
    const parts = readParts(folder);
    if (missing(parts, {}) !== undefined || !isOver(parts)) return false;
    write(out, joined(parts, ran()));
    logLine("The window is over; the program goes on");
    told = JSON.stringify(parts);
    return true;
  });
  const parts = readParts(folder);
  const why = missing(parts, { program: program[0]!, range });
  if (why !== undefined) {
    logLine(`error: ${why}`);
    return code === 0 ? EXIT.nothing : code;
  }
  const isTold = told === JSON.stringify(parts);
  write(out, joined(parts, ran()), isTold ? () => {} : logLine);
  return code;
}

function isOver({ parts }: Parts): boolean {
  return parts.every(({ done }) => done);
}

/** Writes `captured.json` and its suites into `out`, and tells what they have and the next command. */
function write(
  out: string,
  captured: Captured,
  print: (line: string) => void = logLine,
): void {
  const suites = capturedSuites(captured);
  const files = [
    { file: CAPTURED, text: `${shownJson(captured, 2)}\n` },
    ...suites,
  ];
  for (const line of summaryOf(captured)) print(line);
  for (const { file, text } of files) {
    const path = contained(out, file);
    replaceFile(path, text);
    print(`${path}: written`);
  }
  // Shapes of no op are in no suite.
  if (suites.length === 0) return;
  const names = suites.map(({ file }) => quoted(contained(out, file)));
  print(`Next, measure them: ${typed(`bench --suite ${names.join(",")}`)}`);
}

/** Says why no GEMM was seen, and what would work; nothing where one was. */
function missing(
  { parts, isLoaded, hasCuda }: Parts,
  { program = "", range }: {
    readonly program?: string;
    readonly range?: string | undefined;
  },
): string | undefined {
  if (parts.some(({ gemms }) => gemms.length > 0)) return undefined;
  const failed = `Cannot capture GEMMs of ${program}`;
  if (!isLoaded && !hasCuda) {
    return `${failed}: it did not load the recorder; it is linked statically, or is set-user-ID: start the program that it runs, linked to libcublas dynamically`;
  }
  if (!hasCuda) {
    return `${failed}: it called neither cuBLAS nor CUDA; let it run longer, on a machine with a GPU`;
  }
  if (range !== undefined && parts.length === 0) {
    return `${failed}: it began no NVTX range ${range}; name one that it has in the default domain, or leave out --range`;
  }
  const kernels = parts.flatMap(({ other }) => other).length;
  return kernels > 0
    ? `${failed}: it ran ${
      counted(kernels, "other kernel")
    }, but it called no cuBLAS that the recorder could replace; link libcublas dynamically`
    : `${failed}: it started CUDA and ran no GEMM in the window; let it run longer, or give a shorter --warmup`;
}

/** Signals that the terminal sends to the program too, and those that only this process gets. */
const SHARED = ["SIGINT", "SIGQUIT"] as const;
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

/** The program, with the standard streams of this process. */
class Child implements Disposable {
  readonly #process: Deno.ChildProcess;
  readonly #listeners: (readonly [Deno.Signal, () => void])[] = [];

  constructor(
    [program, ...args]: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    try {
      this.#process = new Deno.Command(program!, {
        args,
        env,
        stdin: "inherit",
        stdout: "inherit",
        stderr: "inherit",
      }).spawn();
    } catch (error) {
      const why = error instanceof Deno.errors.NotFound
        ? "it, or what its first line names, is not there"
        : error instanceof Deno.errors.PermissionDenied
        ? "it is not executable"
        : saidBy(error);
      throw new UserError(
        `Cannot start ${program}: ${why}; name a program of PATH, or its path`,
      );
    }
    const listen = (signal: Deno.Signal, listener: () => void) => {
      Deno.addSignalListener(signal, listener);
      this.#listeners.push([signal, listener]);
    };
    for (const signal of SHARED) listen(signal, () => {});
    for (const signal of FORWARDED) {
      listen(signal, () => kill(this.#process.pid, signal));
    }
  }

  /**
   * Waits for the end of the program, and looks at it each `ms` until `look` returns true.
   *
   * @returns Its exit code; 128 and the number of the signal that ended it.
   */
  async ended(ms: number, look: () => boolean): Promise<number> {
    let isDone = false;
    const timer = setInterval(() => {
      isDone ||= look();
      if (isDone) clearInterval(timer);
    }, ms);
    try {
      return (await this.#process.status).code;
    } finally {
      clearInterval(timer);
    }
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) {
      Deno.removeSignalListener(signal, listener);
    }
  }
}
