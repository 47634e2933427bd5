/**
 * A program that keeps the rows of the fake worker: a folder of runs, a folder of
 * results, then the fake worker's arguments. Says when the worker is `ready`, and what it
 * prints.
 */

import { openJournal } from "../worker/journal.ts";
import { publish } from "../row/results.ts";
import { supervise } from "../worker/supervise.ts";
import { commandOf, INFO, JOB } from "./jobs.ts";

const [runs, results, ...manner] = Deno.args;
const say = (text: string) =>
  Deno.stdout.writeSync(new TextEncoder().encode(text));

using journal = openJournal(runs!, INFO);
const job = {
  ...JOB,
  run: journal.run,
  skip: [...journal.done(0)],
  winners: journal.winners(0),
};
const options = { timeoutMs: 60_000, passport: {}, printed: say };
for await (const event of supervise(commandOf(...manner), job, options)) {
  if (event.event === "ready") say("ready\n");
  if (event.event !== "row" || event.row.status === "checked") continue;
  journal.append({ row: event.row, repeat: 0 }, event.samples);
}
await publish(journal, results!);
