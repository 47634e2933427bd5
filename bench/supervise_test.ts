import {
  deepStrictEqual,
  match,
  rejects,
  strictEqual,
} from "node:assert/strict";
import { UserError } from "./errors.ts";
import type { Event, Job } from "./protocol.ts";
import { keyText } from "./row.ts";
import { supervise, type SuperviseOptions } from "./supervise.ts";
import { commandOf, JOB } from "./testdata/jobs.ts";
import { keyFor, timedRow } from "./testdata/rows.ts";

interface Told {
  readonly events: readonly Event[];
  /** `kernel status: note` of each row. */
  readonly rows: readonly string[];
  readonly printed: string;
}

async function tell(
  manner: string,
  options: Partial<SuperviseOptions & { job: Job }> = {},
): Promise<Told> {
  const events: Event[] = [];
  let printed = "";
  const all = supervise(commandOf(manner), options.job ?? JOB, {
    timeoutMs: 5_000,
    passport: { timer: "do_bench" },
    printed: (text) => printed += text,
    date: () => "2026-01-02T03:04:05Z",
    ...options,
  });
  for await (const event of all) events.push(event);
  const rows = events.filter((e) => e.event === "row").map(({ row }) =>
    `${row.key.kernel} ${row.status}: ${row.note}`
  );
  return { events, rows, printed };
}

const names = (told: Told) => told.events.map((e) => e.event);
const A = "a ok: ";
const C = "c ok: a won at ";

Deno.test("supervise() yields what a worker says", async () => {
  const told = await tell("normal");
  deepStrictEqual(names(told), [
    ...["ready", "case", "row", "case", "row", "case", "row", "done"],
  ]);
  deepStrictEqual(told.rows, [A, "b ok: ", `${C}undefined`]);
  strictEqual(told.printed, "");
});

Deno.test("supervise() gives the first worker the skip list and winners of the job", async () => {
  const a = keyText(keyFor("a"));
  const job = { ...JOB, skip: [a], winners: { [a]: "BM=99" } };
  const told = await tell("normal", { job });
  deepStrictEqual(told.rows, ["b ok: ", `${C}BM=99`]);
});

Deno.test("supervise() gives a crash row for a signal and goes on with its winners", async () => {
  const told = await tell("signal");
  deepStrictEqual(told.rows, [
    A,
    "b crash: The worker was killed by SIGSEGV (last words)",
    `${C}BM=16`,
  ]);
  deepStrictEqual(names(told), [
    ...["ready", "case", "row", "case", "row", "ready", "case", "row", "done"],
  ]);
  const lost = told.events[4]!;
  deepStrictEqual(lost, {
    event: "row",
    row: {
      key: keyFor("b"),
      place: { device: "Fake 1", arch: "fake" },
      config: "",
      config_by: "",
      status: "crash",
      note: "The worker was killed by SIGSEGV (last words)",
      passport: {
        timer: "do_bench",
        driver: "1.0",
        run: JOB.run,
        schema: 1,
        time: "2026-01-02T03:04:05Z",
      },
    },
  });
  strictEqual(told.printed, "first\nlast words\n\n");
});

Deno.test("supervise() gives a crash row for an exit in the midst of a case", async () => {
  deepStrictEqual((await tell("exit")).rows, [
    A,
    "b crash: The worker exited with code 3",
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() takes an event torn by its writer's end for a crash", async () => {
  const told = await tell("torn");
  deepStrictEqual(told.rows, [
    A,
    "b crash: The worker exited with code 0",
    `${C}BM=16`,
  ]);
  match(told.printed, /^[0-9a-f-]{36}\{"event":"row","row":\{"key$/);
});

Deno.test("supervise() kills a worker that is silent within a case", async () => {
  deepStrictEqual((await tell("silent", { timeoutMs: 800 })).rows, [
    A,
    "b timeout: The worker gave no sign of life for 0.8 s, after search 120/300",
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() kills a worker that is blocked in a foreign call", async () => {
  deepStrictEqual((await tell("block", { timeoutMs: 800 })).rows, [
    A,
    "b timeout: The worker gave no sign of life for 0.8 s",
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() tells what kernels print from events", async () => {
  const told = await tell("garbage");
  deepStrictEqual(told.rows, [A, "b ok: ", `${C}undefined`]);
  strictEqual(told.printed, "printed  by a\nkernel");
});

Deno.test("supervise() takes print-outs without end or line feed", async () => {
  const told = await tell("flood");
  deepStrictEqual(told.rows, [A, "b ok: ", `${C}undefined`]);
  const [printed, notice, end] = told.printed.split("\n");
  strictEqual(printed, "x".repeat(1 << 16));
  strictEqual(
    notice,
    "(the worker printed more than 65536 characters: the rest is left out)",
  );
  strictEqual(end, "");
});

Deno.test("supervise() gives a crash row for a result that cannot be read", async () => {
  const told = await tell("broken");
  deepStrictEqual(told.rows, [
    A,
    "b crash: The worker went on without a result that can be read",
    `${C}undefined`,
  ]);
  match(
    told.printed,
    /^[0-9a-f-]{36}\{"event":"row","row":\{"k#### oops\n####\n$/,
  );
});

Deno.test("supervise() takes no record that a kernel printed", async () => {
  const told = await tell("forged");
  deepStrictEqual(told.rows, [A, "b ok: ", `${C}undefined`]);
  strictEqual(names(told).filter((name) => name === "row").length, 3);
  match(told.printed, /^\{"event":"row".*\n0\{"event":"restart"\}\n$/);
});

Deno.test("supervise() gives a crash row for a result that is malformed", async () => {
  deepStrictEqual((await tell("malformed")).rows, [
    A,
    "b crash: The worker went on without a result that can be read",
    `${C}undefined`,
  ]);
});

Deno.test("supervise() hands on errors that are no finite numbers", async () => {
  const { events } = await tell("nan");
  const [, b] = events.filter((event) => event.event === "row");
  deepStrictEqual("accuracy" in b!.row && b!.row.accuracy, {
    ...timedRow("b").accuracy,
    max_abs_err: NaN,
    max_rel_err: Infinity,
  });
});

Deno.test("supervise() gives the error of a worker, not its stack", async () => {
  deepStrictEqual((await tell("throw")).rows, [
    A,
    "b crash: The worker exited with code 1 (error: Uncaught Error: no luck)",
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() can wait longer than a timer", async () => {
  const told = await tell("normal", { timeoutMs: 2 ** 31, idleMs: 1e12 });
  deepStrictEqual(told.rows, [A, "b ok: ", `${C}undefined`]);
});

Deno.test("supervise() restarts a worker that asks for it, without a word", async () => {
  const told = await tell("restart");
  deepStrictEqual(told.rows, [A, "b ok: ", `${C}BM=16`]);
  deepStrictEqual(names(told), [
    ...["ready", "case", "row", "case", "row", "ready", "case", "row", "done"],
  ]);
});

Deno.test("supervise() throws what a worker says is fatal, with its exit code", async () => {
  await rejects(
    tell("fatal"),
    (error) =>
      error instanceof UserError && error.code === 3 &&
      error.message === "No device 3: give --device 0",
  );
});

Deno.test("supervise() gives up on workers that die before any case", async () => {
  await rejects(tell("stillborn"), {
    name: "UserError",
    message:
      "Cannot run the worker: it exited with code 7 without a result, 3 times in a row; its last words: no such | library",
  });
});

Deno.test("supervise() gives up on workers that hang before any case", async () => {
  await rejects(tell("mute", { idleMs: 500 }), {
    name: "UserError",
    message:
      "Cannot run the worker: it gave no sign of life for 0.5 s without a result, 3 times in a row; its last words: none",
  });
});

Deno.test("supervise() says what cannot be started", async () => {
  const all = supervise(["no-such-program"], JOB, {
    timeoutMs: 1000,
    passport: {},
  });
  await rejects(all.next(), {
    name: "UserError",
    message: /^Cannot start the worker no-such-program: .*/,
  });
});

Deno.test("supervise() ends with its signal, without a row for the case at work", async () => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 600);
  const started = performance.now();
  const told = await tell("silent", { signal: abort.signal });
  strictEqual(performance.now() - started < 3_000, true);
  deepStrictEqual(told.rows.slice(1), []);
});

Deno.test("supervise() kills the worker of whoever stops listening", async () => {
  const all = supervise(commandOf("block"), JOB, {
    timeoutMs: 60_000,
    passport: {},
  });
  const started = performance.now();
  for await (const event of all) {
    if (event.event === "case" && event.key.kernel === "b") break;
  }
  strictEqual(performance.now() - started < 5_000, true);
});
