import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { readCsv } from "./row/read_csv.ts";
import { Journal } from "./worker/journal.ts";
import { readSamples } from "./row/samples.ts";
import { denoRun, INFO } from "./testdata/jobs.ts";

/**
 * Starts a program, kills it so many milliseconds after it said `line`, and tells whether
 * it had ended by itself before.
 */
async function startAndKill(
  [program, ...args]: readonly [string, ...string[]],
  line: string,
  after = 0,
): Promise<boolean> {
  const process = new Deno.Command(program, { args, stdout: "piped" }).spawn();
  const output = process.stdout.pipeThrough(new TextDecoderStream())
    .getReader();
  let text = "";
  while (!text.split("\n").slice(0, -1).includes(line)) {
    const { value, done } = await output.read();
    if (done) break;
    text += value;
  }
  if (after > 0) await new Promise((resolve) => setTimeout(resolve, after));
  try {
    process.kill("SIGKILL");
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
  await output.cancel();
  return (await process.status).signal === null;
}

/** Where each round kills its programs, and the rows that are kept then. */
const ROUNDS = [
  [["ready", ""], ["kept a", "a"], ["row c", "ab"], ["kept c", "abc"]],
  [["row a", ""], ["kept b", "ab"], ["publishing", "abc"]],
] as const;

/** Kills programs as `round` says, then in the midst of publishing, and looks at the outcome. */
async function survive(round: typeof ROUNDS[number]): Promise<void> {
  const folder = await Deno.makeTempDir();
  const [runs, out] = [`${folder}/.runs`, `${folder}/results`];
  const command = (last: string) =>
    denoRun("parent.ts", runs, out, last, "normal");
  for (const [line, kept] of round) {
    strictEqual(await startAndKill(command(line), line), false, line);
    using journal = new Journal(runs, INFO);
    const now = journal.rows.map(({ row }) => row.key.kernel);
    deepStrictEqual(now, [...kept], line);
  }
  // In the midst of publishing, which takes a few milliseconds.
  let published = false;
  for (let kills = 0; kills < 3 && !published; kills++) {
    const after = 4 * Math.random();
    published = await startAndKill(command(""), "publishing", after);
    if (published) break;
    using journal = new Journal(runs, INFO);
    // Only a run that has been published is forgotten.
    published = journal.rows.length === 0;
    if (published) journal.finish();
    else strictEqual(journal.rows.length, 3);
  }
  if (!published) strictEqual(await startAndKill(command(""), "never"), true);
  const csv = `${out}/fake-1/s.csv`;
  const rows = readCsv(await Deno.readTextFile(csv), csv);
  deepStrictEqual(rows.map((row) => row.kernel), ["a", "b", "c"]);
  const samples = await readSamples(`${out}/fake-1/s.samples.jsonl.gz`, rows);
  const counts = [...samples.values()].map((lines) => lines.length);
  deepStrictEqual(counts, [1, 1, 1]);
  deepStrictEqual([...Deno.readDirSync(runs)], []);
  await Deno.remove(folder, { recursive: true });
}

Deno.test("publish() has every row once, however often its program was killed", async () => {
  // At once: each round has folders of its own, and mostly waits for processes to start.
  await Promise.all(ROUNDS.map(survive));
});
