import { match, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { testdata, within } from "../testdata/program.ts";

const SMALL = [
  ...["bench", "--suite", testdata("small_suite.ts"), "--backend", "cpu"],
  ...["--kernel", "naive", "--quick", "--warmup", "0", "--rep", "1"],
];

/** The line, after what was selected, with which a run was refused that measured nothing. */
function refused(
  { code, stdout, stderr }: { code: number; stdout: string; stderr: string },
  why: RegExp,
): void {
  strictEqual(code, 2, stderr);
  strictEqual(stdout, "");
  match(stderr, /^(cpu: taken, .*\n)?error: .*\n$/);
  match(stderr, why);
}

Deno.test("bench refuses old results that it could not add to, before it measures", () =>
  within(async (run, folder) => {
    strictEqual((await run(...SMALL, "--out", "out")).code, 0);
    const [device] = [...Deno.readDirSync(join(folder, "out"))];
    const csv = join(folder, "out", device!.name, "small.csv");
    const whole = Deno.readTextFileSync(csv);
    Deno.writeTextFileSync(csv, whole.replace(",ok,,", ",ok,,-"));
    refused(
      await run(...SMALL, "--out", "out"),
      /Cannot read out\/.*small\.csv: line 2, column median_us is "-.*it must be a time/,
    );
    Deno.writeTextFileSync(csv, whole);
    Deno.writeTextFileSync(join(csv, "..", "device.json"), "null");
    refused(
      await run(...SMALL, "--out", "out"),
      /Cannot read out\/.*device\.json: it is null: it must be an object/,
    );
    // A run that was stopped would be here; none was begun.
    strictEqual([...Deno.readDirSync(join(folder, ".runs"))].length, 0);
  }));

Deno.test("bench says in one line that its timings cannot be looked at", () =>
  within(async (run, folder) => {
    Deno.writeTextFileSync(join(folder, "file"), "");
    refused(
      await run(...SMALL, "--timing-cache", join("file", "timings.json")),
      /Cannot read .*file\/timings\.json: Not a directory/,
    );
  }));
