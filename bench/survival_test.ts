import { deepStrictEqual } from "node:assert/strict";
import { readCsv } from "./row/csv.ts";
import { openJournal } from "./worker/journal.ts";
import { readSamples } from "./row/samples.ts";
import { denoRun, INFO } from "./testdata/jobs.ts";

/**
 * Starts a program, kills it so many milliseconds after its first output, and tells
 * whether it had ended by itself before.
 */
async function startAndKill(
  [program, ...args]: readonly [string, ...string[]],
  after: number,
): Promise<boolean> {
  const process = new Deno.Command(program, { args, stdout: "piped" }).spawn();
  const output = process.stdout.getReader();
  await output.read();
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, after);
  await Promise.race([process.status, late.promise]);
  clearTimeout(timer);
  try {
    process.kill("SIGKILL");
  } catch (error) {
    // It has ended by itself.
    if (!(error instanceof TypeError)) throw error;
  }
  await output.cancel();
  return (await process.status).signal === null;
}

Deno.test("publish() has every row once, however often its program was killed", async () => {
  const folder = await Deno.makeTempDir();
  const [runs, out] = [`${folder}/.runs`, `${folder}/results`];
  const command = denoRun("parent.ts", runs, out, "normal", "25");
  const csv = `${out}/fake-1/s.csv`;
  let kills = 0;
  for (let round = 0; round < 3; round++) {
    let kept: string[] = [];
    // Three cases of 25 ms: it is killed before, between and after them.
    while (
      !await startAndKill(command, kills < 12 ? 110 * Math.random() : 9e3)
    ) {
      kills++;
      using journal = openJournal(runs, INFO);
      const now = journal.rows.map(({ row }) => row.key.kernel);
      deepStrictEqual(now, ["a", "b", "c"].slice(0, now.length));
      if (now.length < kept.length) {
        // Only a run that has been published is forgotten.
        journal.finish();
        break;
      }
      kept = now;
    }
    const rows = readCsv(await Deno.readTextFile(csv), csv);
    deepStrictEqual(rows.map((row) => row.kernel), ["a", "b", "c"]);
    const samples = await readSamples(`${out}/fake-1/s.samples.jsonl.gz`);
    const counts = [...samples.values()].map((lines) => lines.length);
    deepStrictEqual(counts, [1, 1, 1]);
    deepStrictEqual([...Deno.readDirSync(runs)], []);
    await Deno.remove(out, { recursive: true });
  }
  await Deno.remove(folder, { recursive: true });
});
