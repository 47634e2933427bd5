import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { caseText, RIGHT_ALONE, SCHEMA } from "../row/row.ts";
import { commandOf, JOB } from "../testdata/jobs.ts";
import { ManualClock } from "../testdata/manual_clock.ts";
import { keyFor } from "../testdata/rows.ts";
import {
  A,
  C,
  ended,
  names,
  Silence,
  tell,
  type Told,
} from "../testdata/supervised.ts";
import { supervise } from "./supervise.ts";
import { plainText, PrintOut } from "./worker_process.ts";

Deno.test("supervise() yields what a worker says", async () => {
  const told = await tell("normal");
  assertEquals(names(told), [
    ...["ready", "case", "row", "case", "row", "case", "row", "done"],
  ]);
  assertEquals(told.rows, [A, "b ok: ", `${C}undefined`]);
  assertEquals(told.printed, "");
});

Deno.test("supervise() gives the first worker the skip list and winners of the job", async () => {
  const a = caseText(keyFor("a"));
  const job = { ...JOB, skip: [a], configs: { chosen: { [a]: "BM=99" } } };
  const told = await tell("normal", { job });
  assertEquals(told.rows, ["b ok: ", `${C}BM=99`]);
});

Deno.test("supervise() gives a crash row for a signal and goes on with its winners", async () => {
  const told = await tell("signal");
  assertEquals(told.rows, [
    A,
    "b crash: The worker was killed by SIGSEGV (last words)",
    `${C}BM=16`,
  ]);
  // Killed in a worker that a had used, it is run again in a fresh one before it is blamed.
  assertEquals(names(told), [
    ...["ready", "case", "row", "case", "ready", "case", "row"],
    ...["ready", "case", "row", "done"],
  ]);
  const lost = told.events[6]!;
  assertEquals(lost, {
    event: "row",
    row: {
      key: keyFor("b"),
      place: { device: "Fake 1", arch: "fake" },
      config: "",
      config_by: "",
      status: "crash",
      note: "The worker was killed by SIGSEGV (last words)",
      provenance: {
        timer: "do_bench",
        cache: "cold",
        driver: "1.0",
        run: JOB.run,
        schema: SCHEMA,
        time: "2026-01-02T03:04:05Z",
      },
    },
  });
  assertEquals(told.printed, "first\nlast words\n\n".repeat(2));
});

Deno.test("supervise() gives a crash row for an exit in the midst of a case", async () => {
  assertEquals((await tell("exit")).rows, [
    A,
    "b crash: The worker exited with code 3",
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() names the message of a panic or an exception, not the last line", async () => {
  for (
    const [mode, message] of [
      ["panic", "Fatal error in :0: Check failed: x."],
      ["exception", "error: Uncaught TypeError: boom"],
    ] as const
  ) {
    const [, lost] = (await tell(mode)).rows;
    assertEquals(lost, `b crash: The worker exited with code 1 (${message})`);
  }
});

Deno.test("supervise() kills a worker that is silent within a case", async () => {
  const why = "no progress for 2.5 s (--timeout)";
  for (
    const [mode, last, said] of [
      ["silent", "search 120/300", `The kernel may hang: ${why}, during`],
      ["silent-inputs", "inputs", "The inputs may need more time: "],
      ["silent-reference", "reference", "The reference may need more time: "],
      ["silent-kernel", "", "The kernel may hang: "],
    ] as const
  ) {
    const silence = new Silence();
    const told = await tell(mode, {
      ...silence.options,
      timeoutMs: 2_500,
      heard(event) {
        if (event.event === "progress" && event.note === last) {
          silence.pass(2_500);
        }
      },
    });
    const [a, b, c] = told.rows;
    assertEquals([a, c, told.rows.length], [A, `${C}BM=16`, 3]);
    assertEquals(b!.startsWith(`b timeout: ${said}`), true, b);
    assertEquals(silence.rung, [[0, 1], [0, 1]]);
  }
});

Deno.test("supervise() waits for a worker that is slow and says that it lives", async () => {
  const clock = new ManualClock();
  const folder = await Deno.makeTempDir();
  let rung = 0;
  const told = await tell("slow", {
    clock,
    folder,
    timeoutMs: 3_000,
    printed(text) {
      const [, name] = /^tick (\d)\n$/.exec(text)!;
      // After the sign of life that was written before has been taken.
      setTimeout(() => {
        rung += clock.advance(2_000);
        Deno.writeTextFileSync(`${folder}/${name}`, "");
      });
    },
  });
  assertEquals(told.rows, [A, "b ok: ", `${C}undefined`]);
  assertEquals(names(told).includes("alive"), false);
  // Longer than the limit in all, but not at once.
  assertEquals([clock.now(), rung], [6_000, 0]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("supervise() kills a worker that is blocked in a foreign call", async () => {
  const silence = new Silence();
  const told = await tell("block", {
    ...silence.options,
    timeoutMs: 2_500,
    printed(text) {
      assertMatch(text, /^blocked \d+ \d+\n$/);
      silence.pass(2_500);
    },
  });
  assertEquals(told.rows, [
    A,
    "b timeout: The kernel may hang: no progress for 2.5 s (--timeout)",
    `${C}BM=16`,
  ]);
  assertEquals(silence.rung, [[0, 1], [0, 1]]);
});

Deno.test("supervise() takes a failure back that a fresh worker does not confirm", async () => {
  for (const status of ["crash", "wrong", "launch"]) {
    const told = await tell(`used-${status}`);
    const note =
      `${status} once, right when repeated alone: a race or uninitialised data in it, or something that an earlier kernel left behind`;
    assertEquals(told.rows, [A, `b ok: ${note}`, `${C}BM=16`], status);
    const notices = told.events.flatMap((e) =>
      e.event === "notice" ? [e.text] : []
    );
    assertEquals(notices, [`b at 1×2×3: ${note}`]);
    // The last of the three goes on.
    assertEquals(names(told).filter((name) => name === "ready").length, 4);
  }
});

Deno.test("supervise() takes a case that fails in any of its repeats for failed", async () => {
  for (const right of [0, 1, 2]) {
    const folder = await Deno.makeTempDir();
    const told = await tell(`wrong-after-${right}`, { folder });
    const note = right === 0
      ? ""
      : `right in ${right} of ${right + 1} processes of its own`;
    assertEquals(told.rows, [A, `b wrong: ${note}`, `${C}BM=16`]);
    assertEquals(names(told).includes("notice"), false);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("supervise() runs a failure again once, and none of the first case or of peers", async () => {
  const told = await tell("wrong");
  assertEquals(told.rows, [A, "b wrong: ", `${C}BM=16`]);
  const starts = (told: Told) =>
    names(told).filter((name) => name === "ready").length;
  assertEquals(starts(told), 2);
  const skip = [caseText(keyFor("a"))];
  const alone = await tell("wrong", { job: { ...JOB, skip } });
  const peers = { set: "torch", python: "python3" } as const;
  const theirs = await tell("wrong", { job: { ...JOB, peers } });
  assertEquals([starts(alone), starts(theirs)], [1, 1]);
  assertEquals(theirs.rows.slice(0, 2), [A, "b wrong: "]);
});

Deno.test("supervise() takes further wrong results of a wrong kernel from one worker", async () => {
  const told = await tell("own-wrong");
  assertEquals(told.rows, [A, "b wrong: ", "b wrong: ", `${C}BM=16`]);
  // The first is run again, as a ran before it in its worker.
  const starts = (told: Told) =>
    names(told).filter((name) => name === "ready").length;
  assertEquals(starts(told), 2);
  // After another kernel it is run again.
  const late = await tell("own-late");
  assertEquals(late.rows, [A, "b wrong: ", `${C}BM=16`, "b wrong: "]);
  assertEquals(starts(late), 3);
});

Deno.test("supervise() blames a kernel that is wrong only after its own calls", async () => {
  const skip = [caseText(keyFor("a"))];
  const told = await tell("own-state", { job: { ...JOB, skip } });
  assertEquals(told.rows, [
    "b ok: ",
    "b wrong: correct in 3 new processes, wrong after calls at other shapes: the kernel keeps state between calls or has a race",
    `${C}undefined`,
  ]);
  assertEquals(names(told).includes("notice"), false);
  assertEquals(names(told).filter((name) => name === "ready").length, 4);
});

Deno.test("supervise() blames no kernel for a suspicion that does not come again", async () => {
  const skip = [caseText(keyFor("a"))];
  const told = await tell("own-suspect", { job: { ...JOB, skip } });
  assertEquals(told.rows.slice(0, 2), [
    "b ok: ",
    `b ok: wrong once, ${RIGHT_ALONE}`,
  ]);
});

Deno.test("supervise() runs a case that it doubts before those that were earlier", async () => {
  const told = await tell("own-crash");
  assertEquals(told.rows, [
    ...[A, "b wrong: ", "b crash: The worker exited with code 3"],
    `${C}BM=16`,
  ]);
  assertEquals(names(told).filter((name) => name === "ready").length, 4);
});

Deno.test({
  name: "supervise() ends what a kernel started in a session of its own",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { printed, rows } = await tell("daemon");
    assertEquals(rows, [A, "b ok: ", `${C}undefined`]);
    const [, daemon] = /^daemon (\d+)\n$/.exec(printed)!;
    assertEquals(await ended(Number(daemon)), true);
  },
});

Deno.test({
  name:
    "supervise() ends orphans without an environment, and no child from before",
  ignore: Deno.build.os !== "linux",
  async fn() {
    // In a process of its own: those of other tests are children of this one.
    const script = new URL("../testdata/orphans.ts", import.meta.url).pathname;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", script],
    }).output();
    const said = new TextDecoder();
    assertEquals(
      said.decode(stdout),
      "orphan ended: true, own child lives: true\n",
      said.decode(stderr),
    );
  },
});

Deno.test("supervise() can wait longer than a timer", async () => {
  const told = await tell("normal", { timeoutMs: 2 ** 31, idleMs: 1e12 });
  assertEquals(told.rows, [A, "b ok: ", `${C}undefined`]);
});

Deno.test("supervise() restarts a worker that asks for it, without a word", async () => {
  const told = await tell("restart");
  assertEquals(told.rows, [A, "b ok: ", `${C}BM=16`]);
  assertEquals(names(told), [
    ...["ready", "case", "row", "case", "row", "ready", "case", "row", "done"],
  ]);
});

Deno.test("supervise() throws what a worker says is fatal, with its exit code", async () => {
  const error = await assertRejects(() => tell("fatal"), UserError);
  assertEquals(
    [error.code, error.message],
    [3, "No device 3: give --device 0"],
  );
});

Deno.test("supervise() gives up on workers that die before any case", async () => {
  assertEquals(
    (await assertRejects(() => tell("stillborn"), UserError)).message,
    "Cannot run the worker: it exited with code 7 without a result, 3 times in a row; its last words: no such | library",
  );
});

for (const [manner, seconds] of [["mute", 600], ["unready", 60]] as const) {
  Deno.test(`supervise() gives up on workers that are ${manner} for ${seconds} s`, async () => {
    const silence = new Silence();
    const told = tell(manner, {
      ...silence.options,
      idleMs: 600_000,
      heard: () => void silence.pass(1000 * seconds),
    });
    assertEquals(
      (await assertRejects(() => told, UserError)).message,
      `Cannot run the worker: it made no progress for ${seconds} s without a result, 3 times in a row; its last words: none`,
    );
    assertEquals(silence.rung, [[0, 1], [0, 1], [0, 1]]);
  });
}

Deno.test("supervise() says what cannot be started", async () => {
  const all = supervise(["no-such-program"], JOB, {
    timeoutMs: 1000,
    provenance: { timer: "do_bench", cache: "cold" },
  });
  assertMatch(
    (await assertRejects(() => all.next(), UserError)).message,
    /^Cannot start the worker no-such-program: .*/,
  );
});

/** Less than the fake worker is silent or blocked. */
const SOON_MS = 50_000;

Deno.test("supervise() ends with its signal, without a row for the case at work", async () => {
  const abort = new AbortController();
  const rows: string[] = [];
  const started = performance.now();
  const all = supervise(commandOf("silent"), JOB, {
    timeoutMs: 600_000,
    provenance: { timer: "do_bench", cache: "cold" },
    signal: abort.signal,
  });
  for await (const event of all) {
    if (event.event === "row") rows.push(event.row.key.kernel);
    if (event.event === "progress") abort.abort();
  }
  assertEquals(rows, ["a"]);
  assertEquals(performance.now() - started < SOON_MS, true);
});

Deno.test("supervise() kills the worker of whoever stops listening", async () => {
  const all = supervise(commandOf("block"), JOB, {
    timeoutMs: 600_000,
    provenance: { timer: "do_bench", cache: "cold" },
  });
  const started = performance.now();
  for await (const event of all) {
    if (event.event === "case" && event.key.kernel === "b") break;
  }
  assertEquals(performance.now() - started < SOON_MS, true);
});

Deno.test("plainText() keeps text, line feeds and tabs only", () => {
  assertEquals(
    plainText("\x1b[31mµ\x1b[0m\ta\r\n\0b\x07\x7f\x85c\x1e"),
    "µ\ta\nbc",
  );
});

Deno.test("PrintOut passes on the beginning, and says once that there is more", () => {
  const told: string[] = [];
  const printOut = new PrintOut((text) => told.push(text));
  printOut.take("x".repeat(65_535));
  printOut.take("y");
  assertEquals(told.join(""), `${"x".repeat(65_535)}y`);
  printOut.take("z");
  printOut.take("z");
  assertEquals(told.slice(2), [
    "\n(the worker printed more than 65536 characters: the rest is left out)\n",
  ]);
});
