/**
 * A worker that runs cases a, b and c, of which b does what the first argument says. The
 * second argument is the folder in which `slow` waits for files, and `wrong-after-1` counts.
 */

import {
  type Event,
  formatEvent,
  markOf,
  receiveJob,
} from "../worker/protocol.ts";
import { type CaseKey, caseText, type TimedRow } from "../row/row.ts";
import { keyFor, timedRow } from "./rows.ts";

const [manner, folder = "."] = Deno.args;
/** Longer than any test waits: who does not kill a silent worker does not end in time. */
const LONG_MS = 600_000;
/** Manners after which b has no row of its own any more. */
const SILENT = ["broken", "malformed", "nan", "search-quiet"];
/** A process with a session of its own. */
const DAEMON = "setsid sleep 1000 < /dev/null > /dev/null 2>&1 &";
const text = new TextEncoder();
const print = (s: string): void => void Deno.stdout.writeSync(text.encode(s));
const say = (event: Event): void => print(formatEvent(event, job.nonce ?? ""));
const complain = (s: string) => Deno.stderr.writeSync(text.encode(`${s}\n`));
const sleep = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const libc = () =>
  Deno.dlopen(
    Deno.build.os === "darwin" ? "libSystem.dylib" : "libc.so.6",
    {
      system: { parameters: ["buffer"], result: "i32" },
      strlen: { parameters: ["usize"], result: "usize" },
    },
  ).symbols;

if (manner === "stillborn") {
  complain("no such\nlibrary");
  Deno.exit(7);
}
const job = await receiveJob();
const mark = markOf(job.nonce ?? "");
if (manner === "fatal") {
  say({ event: "fatal", message: "No device 3: give --device 0", code: 3 });
  sleep(LONG_MS);
}
if (manner === "unready") {
  say({ event: "notice", text: "opening" });
  sleep(LONG_MS);
}
/** Whether b has a row that says so. */
let hasFailed = false;
const cases = casesOf().filter(({ key }) => !job.skip.includes(caseText(key)))
  .toSorted((x, y) => placeOf(x.key) - placeOf(y.key));
say({
  event: "ready",
  device: "Fake 1",
  arch: "fake",
  driver: "1.0",
  libraries: [],
  cases: cases.length,
});
if (manner === "mute") sleep(LONG_MS);
for (const row of cases) {
  say({ event: "case", key: row.key });
  if (row.key.kernel === "b") misbehave(row);
  if (row.key.kernel === "b" && (hasFailed || SILENT.includes(manner!))) {
    continue;
  }
  const winner = job.configs.chosen?.[caseText(keyFor("a"))];
  const note = row.key.kernel === "c" ? `a won at ${winner}` : leftOut();
  const search_ms = job.configs.spent?.[caseText(row.key)] ?? 0;
  const provenance = { ...row.provenance, search_ms };
  say({
    event: "row",
    row: { ...row, note, provenance },
    samples: [2e3, 4e3, 6e3],
  });
  if (row.key.kernel === "b" && manner === "restart") {
    say({ event: "restart" });
    Deno.exit(0);
  }
}
say({
  event: "done",
  memoryBytes: 0,
  spent: {
    build: 0,
    calibrate: 0,
    search: 0,
    check: 0,
    time: 0,
    asked: 0,
    total: 0,
  },
});
Deno.exit(0);

/**
 * Cases a, b and c; in modes that start with `own`, also a second case of b, at another shape, which comes right
 * after the first as long as that has no row, but for `own-late`.
 */
function casesOf() {
  const [a, b, c] = ["a", "b", "c"].map((name) =>
    timedRow(name, { run: job.run })
  ) as [TimedRow, TimedRow, TimedRow];
  if (!manner!.startsWith("own")) return [a, b, c];
  const other = { ...b, key: { ...b.key, m: "2" } };
  return manner === "own-late" || job.skip.includes(caseText(b.key))
    ? [a, b, c, other]
    : [a, b, other, c];
}

/** Before the others the one that the job names. */
function placeOf(key: CaseKey): number {
  return caseText(key) === job.first ? 0 : 1;
}

/** The configs that the job says were lost. */
function leftOut(): string {
  const lost = (job.configs.crashed ?? []).filter(({ key }) =>
    key.kernel === "b"
  )
    .map(({ config, status, note }) => `${config} ${status}: ${note}`);
  return lost.length ? `left out ${lost.join(", ")}` : "";
}

/** Tries the configs of b that were not lost, the last of which is good. */
function search(end: (trying: { key: CaseKey; config: string }) => void): void {
  const out = (job.configs.crashed ?? []).map(({ config }) => config);
  for (const config of ["BM=1", "BM=2", "BM=3", "BM=4", "BM=5"]) {
    const trying = { key: keyFor("b"), config };
    if (out.includes(config)) continue;
    say({ event: "progress", note: `search, at ${config}`, trying });
    if (config !== "BM=5") end(trying);
  }
}

/** Gives the row of b with another status. */
function fail(
  status: "wrong" | "launch",
  row = cases.find(({ key }) => key.kernel === "b")!,
): void {
  say({ event: "row", row: { ...row, status } });
  hasFailed = true;
}

/** Returns how many workers have asked that before. */
function asked(): number {
  const before = [...Deno.readDirSync(folder)].length;
  Deno.writeTextFileSync(`${folder}/${before}`, "");
  return before;
}

function loseByLaunch(trying: { key: CaseKey; config: string }): void {
  const failed = { status: "launch", note: "no luck" } as const;
  say({ event: "config", ...trying, ...failed });
  say({ event: "restart" });
  Deno.exit(0);
}

function misbehave(row: TimedRow): void {
  // Where a ran in this process, which the job then does not skip.
  const used = cases.some(({ key }) => key.kernel === "a");
  switch (manner) {
    case "wrong":
      return fail("wrong");
    case "used-wrong":
    case "used-launch":
      return used ? fail(manner === "used-wrong" ? "wrong" : "launch") : void 0;
    case "wrong-after-0":
    case "wrong-after-1":
    case "wrong-after-2":
      return used || asked() === Number(manner.at(-1))
        ? fail("wrong")
        : undefined;
    case "own-state":
    case "own-suspect":
      // Only after its first case, which is right where it is the first of its worker.
      return row.key.m === "2" && cases[0]!.key.m === "1"
        ? fail(
          "wrong",
          manner === "own-state" ? row : {
            ...row,
            note: "suspect: left 1 more thread running",
          },
        )
        : undefined;
    case "own-wrong":
    case "own-late":
      return fail("wrong", row);
    case "own-crash":
      return row.key.m === "1" ? fail("wrong", row) : Deno.exit(3);
    case "waits":
      say({ event: "waits", key: keyFor("b") });
      return say({ event: "case", key: keyFor("b") });
    case "used-crash":
      return used ? Deno.exit(3) : undefined;
    case "used-config":
      if (used) search(() => Deno.exit(3));
      return;
    case "used-config-launch":
      if (used) search(loseByLaunch);
      return;
    case "search-signal":
      return search(() => libc().strlen(1n));
    case "search-silent":
      return search(({ config }) => {
        if (config === "BM=2") sleep(LONG_MS);
      });
    case "search-launch":
      return search(loseByLaunch);
    case "search-compare":
      // Between two configs: what a search itself does is no config's fault.
      search(() => {});
      say({ event: "progress", note: "reference" });
      return Deno.exit(3);
    case "search-over":
      search(() => {});
      say({
        event: "tuned",
        key: keyFor("b"),
        config: "BM=5",
        by: "search",
        timed: 5,
        failed: 0,
        ms: 1,
        finalists: [],
      });
      return Deno.exit(3);
    case "search-quiet":
      // Goes on with the next case, as if b had no row.
      return search(() => {});
    case "signal":
      complain("first\n\x1b[31mlast words\x1b[0m\n");
      libc().strlen(1n);
      return;
    case "panic":
      // As Deno does where a kernel overwrote its heap.
      complain(
        "Fatal error in :0: Check failed: x.\nstack backtrace:\nnote: Some details are omitted\n",
      );
      return Deno.exit(1);
    case "exception":
      complain(
        "error: Uncaught TypeError: boom\n    at file:///home/error/suite.ts:3:1\n",
      );
      return Deno.exit(1);
    case "exit":
      return Deno.exit(3);
    case "torn":
      print(`${mark}{"event":"row","row":{"key`);
      return Deno.exit(0);
    case "slow":
      // Goes on when whoever reads this has made a file of that name.
      for (const name of ["1", "2", "3"]) {
        say({ event: "alive" });
        print(`tick ${name}\n`);
        while (![...Deno.readDirSync(folder)].some((e) => e.name === name)) {
          sleep(1);
        }
      }
      return;
    case "silent-inputs":
      say({ event: "progress", note: "inputs" });
      return sleep(LONG_MS);
    case "silent-reference":
      say({ event: "progress", note: "reference" });
      return sleep(LONG_MS);
    case "silent-kernel":
      say({ event: "progress", note: "reference" });
      say({ event: "progress", note: "" });
      return sleep(LONG_MS);
    case "silent":
      say({ event: "progress", note: "search 120/300" });
      return sleep(LONG_MS);
    case "block":
      // A foreign call, in which no timer and no signal handler of JavaScript runs, and
      // which says itself that it has begun.
      // The shell that starts the daemon ends: it is no child of the worker's.
      libc().system(text.encode(`(${DAEMON}
echo blocked ${Deno.pid} $!); sleep 1000\0`));
      return;
    case "daemon":
      libc().system(text.encode(`${DAEMON}\necho daemon $!\0`));
      return;
    case "bare-daemon":
      // Its parent has ended, and its environment tells nothing.
      libc().system(
        text.encode(
          `setsid env -i sh -c 'sleep 1000 & echo daemon $!' < /dev/null 2> /dev/null\0`,
        ),
      );
      return;
    case "garbage":
      print("printed \x1e by a\nkernel");
      return;
    case "broken":
      // The row of this case is lost to what another thread prints in its middle.
      print(`${mark}{"event":"row","row":{"k#### oops\n####\n`);
      return;
    case "forged":
      // As if a kernel knew the protocol, but not the nonce.
      print(formatEvent({ event: "row", row: timedRow("b") }, ""));
      print(formatEvent({ event: "restart" }, "0"));
      return;
    case "malformed":
      return print(`${mark}{"event":"row","row":{"status":"ok"}}\n`);
    case "nan": {
      const row = cases.find(({ key }) => key.kernel === "b")!;
      const accuracy = {
        ...row.accuracy,
        max_abs_err: NaN,
        max_rel_err: Infinity,
      };
      return say({ event: "row", row: { ...row, status: "wrong", accuracy } });
    }
    case "throw":
      complain("\x1b[1merror\x1b[0m: Uncaught Error: no luck\x07");
      for (let i = 0; i < 20; i++) complain(`    at step${i} (file:///x.ts:1)`);
      return Deno.exit(1);
    case "flood":
      for (let i = 0; i < 40; i++) print("x".repeat(4096));
  }
}
