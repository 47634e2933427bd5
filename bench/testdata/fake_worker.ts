/**
 * A worker that runs cases a, b and c, of which b does what the first argument says, and
 * each of which takes as many milliseconds as the second argument says.
 */

import { receiveJob } from "../orphan.ts";
import { type Event, formatEvent, markOf } from "../protocol.ts";
import { keyText } from "../row.ts";
import { keyFor, timedRow } from "./rows.ts";

const [manner, ms = "0"] = Deno.args;
/** Manners after which b has no row of its own any more. */
const SILENT = ["broken", "malformed", "nan"];
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
      sleep: { parameters: ["u32"], result: "u32" },
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
  sleep(10_000);
}
const cases = ["a", "b", "c"].map((name) => timedRow(name, { run: job.run }))
  .filter(({ key }) => !job.skip.includes(keyText(key)));
say({
  event: "ready",
  device: "Fake 1",
  arch: "fake",
  driver: "1.0",
  libraries: [],
  cases: cases.length,
});
if (manner === "mute") sleep(10_000);
for (const row of cases) {
  say({ event: "case", key: row.key });
  sleep(Number(ms));
  if (row.key.kernel === "b") misbehave();
  if (row.key.kernel === "b" && SILENT.includes(manner!)) continue;
  const winner = job.winners[keyText(keyFor("a"))];
  const note = row.key.kernel === "c" ? `a won at ${winner}` : "";
  say({ event: "row", row: { ...row, note }, samples: [1, 2, 3] });
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

function misbehave(): void {
  switch (manner) {
    case "signal":
      complain("first\n\x1b[31mlast words\x1b[0m\n");
      libc().strlen(1n);
      return;
    case "exit":
      return Deno.exit(3);
    case "torn":
      print(`${mark}{"event":"row","row":{"key`);
      return Deno.exit(0);
    case "silent":
      say({ event: "progress", note: "search 120/300" });
      return sleep(10_000);
    case "block":
      print(`blocked ${Deno.pid}\n`);
      // A foreign call, in which no timer and no signal handler of JavaScript runs.
      libc().sleep(1000);
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
