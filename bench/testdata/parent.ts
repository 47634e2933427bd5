/**
 * A program that keeps the rows of the fake worker: a folder of runs, a folder of
 * results, the line after which it waits for its end, then the fake worker's arguments.
 * Says when the worker is `ready`, when it has the `row` of a kernel and when that is
 * `kept`, when it is `publishing`, and what the worker prints.
 */

import { realClock } from "../worker/clock.ts";
import { Journal } from "../worker/journal.ts";
import { publish } from "../row/results.ts";
import { supervise } from "../worker/supervise.ts";
import { commandOf, INFO, JOB } from "./jobs.ts";

const [runs, results, last, ...manner] = Deno.args;
const print = (text: string) =>
  Deno.stdout.writeSync(new TextEncoder().encode(text));
const say = (line: string) => {
  print(`${line}\n`);
  if (line === last) realClock.block(600_000);
};

using journal = new Journal(runs!, INFO);
const job = {
  ...JOB,
  run: journal.run,
  skip: [...journal.done(0)],
  configs: { chosen: journal.winners, crashed: [] },
};
const options = {
  timeoutMs: 60_000,
  provenance: { timer: "do_bench", cache: "cold" },
  printed: print,
};
for await (const event of supervise(commandOf(...manner), job, options)) {
  if (event.event === "ready") say("ready");
  if (event.event !== "row" || event.row.status === "checked") continue;
  const { row, samples } = event;
  say(`row ${row.key.kernel}`);
  journal.append({ row, repeat: 0 }, samples);
  say(`kept ${row.key.kernel}`);
}
say("publishing");
await publish(journal, results!);
