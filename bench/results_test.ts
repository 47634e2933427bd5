import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { type KeptRow, readCsv, writeCsv } from "./csv.ts";
import { type Journal, openJournal } from "./journal.ts";
import { deviceFolder, publish } from "./results.ts";
import { type FailedRow, keyText } from "./row.ts";
import { readSamples } from "./samples.ts";
import { INFO } from "./testdata/jobs.ts";
import { timedRow } from "./testdata/rows.ts";

interface Folders {
  readonly runs: string;
  readonly out: string;
  /** The device's folder. */
  readonly device: string;
}

async function inFolder(work: (folders: Folders) => unknown): Promise<void> {
  const folder = await Deno.makeTempDir();
  const out = `${folder}/results`;
  try {
    await work({ runs: `${folder}/.runs`, out, device: `${out}/fake-1` });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Measures `rows`, each with its median as the only sample, and publishes them. */
async function measure(
  { runs, out }: Folders,
  rows: readonly KeptRow[],
): Promise<string[]> {
  using journal = openJournal(runs, INFO);
  fill(journal, rows);
  return await publish(journal, out);
}

function fill(journal: Journal, rows: readonly KeptRow[], repeat = 0): void {
  for (const row of rows) {
    const samples = row.status === "ok" ? [row.figures.median_us] : undefined;
    journal.append({ row, repeat }, samples);
  }
}

/** `kernel median` of every row of a file, and the same of its samples. */
async function recorded({ device }: Folders, suite = "s") {
  const path = `${device}/${suite}.csv`;
  const rows = readCsv(await Deno.readTextFile(path), path);
  const lines = await readSamples(`${device}/${suite}.samples.jsonl.gz`);
  const samples = [...lines.values()].flat().map((line) => JSON.parse(line));
  return {
    rows: rows.map((r) => `${r.kernel} ${r.median_us || r.status}`),
    samples: samples.map((s) => `${s.key.kernel} ${s.samples_ns}`),
  };
}

function failedRow(kernel: string): FailedRow {
  const { figures: _, accuracy: __, ...base } = timedRow(kernel);
  return { ...base, status: "crash", note: "boom" };
}

const names = (folder: string) =>
  [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();

Deno.test("deviceFolder() keeps small letters and digits", () => {
  const names = {
    "NVIDIA H200": "nvidia-h200",
    "NVIDIA H200 MIG 3g.71gb": "nvidia-h200-mig-3g-71gb",
    "Intel(R) Xeon(R) @ 2.60GHz": "intel-r-xeon-r-2-60ghz",
    "-x-": "x",
    "…": "unnamed",
  };
  for (const [device, folder] of Object.entries(names)) {
    strictEqual(deviceFolder(device), folder);
  }
});

Deno.test("publish() writes a CSV and samples for each suite, and ends the run", () =>
  inFolder(async (folders) => {
    const other = timedRow("a", { suite: "t" });
    const paths = await measure(folders, [
      timedRow("a"),
      other,
      failedRow("b"),
    ]);
    const { device, runs } = folders;
    deepStrictEqual(paths, [`${device}/s.csv`, `${device}/t.csv`]);
    deepStrictEqual(names(device), [
      ...["s.csv", "s.samples.jsonl.gz", "t.csv", "t.samples.jsonl.gz"],
    ]);
    deepStrictEqual(names(runs), []);
    deepStrictEqual(await recorded(folders), {
      rows: ["a 4", "b crash"],
      samples: ["a 4"],
    });
    strictEqual(Deno.readTextFileSync(paths[1]!), writeCsv([other]));
  }));

Deno.test("publish() replaces rows where they were, keeps others, adds new ones", () =>
  inFolder(async (folders) => {
    const rows = (median_us: number, ...kernels: string[]) =>
      kernels.map((kernel) => timedRow(kernel, { median_us }));
    await measure(folders, rows(4, "a", "b", "c", "d"));
    await measure(folders, [
      ...rows(5, "e", "c"),
      failedRow("a"),
      ...rows(5, "f"),
    ]);
    deepStrictEqual(await recorded(folders), {
      rows: ["a crash", "b 4", "c 5", "d 4", "e 5", "f 5"],
      samples: ["b 4", "c 5", "d 4", "e 5", "f 5"],
    });
  }));

Deno.test("publish() makes one row of the repeats of a case, and keeps all samples", () =>
  inFolder(async (folders) => {
    {
      using journal = openJournal(folders.runs, INFO);
      for (const [repeat, median_us] of [7, 3, 5].entries()) {
        fill(journal, [timedRow("a", { median_us })], repeat);
      }
      fill(journal, [timedRow("b")], 0);
      fill(journal, [failedRow("b")], 1);
      await publish(journal, folders.out);
    }
    deepStrictEqual(await recorded(folders), {
      rows: ["a 5", "b crash"],
      samples: ["a 7", "a 3", "a 5"],
    });
    const path = `${folders.device}/s.csv`;
    const [row] = readCsv(Deno.readTextFileSync(path), path);
    deepStrictEqual([row!.runs, row!.between_run_us], ["3", "2"]);
  }));

Deno.test("publish() stores what was measured of the device", () =>
  inFolder(async ({ runs, out, device }) => {
    using journal = openJournal(runs, INFO);
    const calibration = { marker_us: 1, launch_us: 2, load: [], peak: {} };
    journal.calibration = calibration;
    await publish(journal, out);
    deepStrictEqual(
      JSON.parse(Deno.readTextFileSync(`${device}/device.json`)),
      {
        ...{ device: "Fake (1)", arch: "fake", harness: "0.1.0" },
        run: journal.run,
        calibration,
      },
    );
  }));

Deno.test("publish() keeps the peaks of types that a later run has not", () =>
  inFolder(async ({ runs, out, device }) => {
    const measured = { marker_us: 1, launch_us: 2, load: [] };
    for (const peak of [{ bf16: 5, f32: 1 }, { f32: 2 }]) {
      using journal = openJournal(runs, INFO);
      journal.calibration = {
        ...measured,
        peak: peak as Record<string, number>,
      };
      await publish(journal, out);
    }
    const { calibration } = JSON.parse(
      Deno.readTextFileSync(`${device}/device.json`),
    );
    deepStrictEqual(calibration.peak, { bf16: 5, f32: 2 });
  }));

const spoilt = {
  "s.csv": "m,n\n1,2\n",
  "s.samples.jsonl.gz": "not compressed",
};
for (const [name, content] of Object.entries(spoilt)) {
  Deno.test(`publish() loses nothing where it cannot read an old ${name}`, () =>
    inFolder(async (folders) => {
      const { device, runs } = folders;
      Deno.mkdirSync(device, { recursive: true });
      Deno.writeTextFileSync(`${device}/${name}`, content);
      const first = timedRow("a", { suite: "first" });
      await rejects(measure(folders, [first, timedRow("a")]), {
        name: "UserError",
        message: /^Cannot read .*; move it away or pass --out with another/,
      });
      strictEqual(Deno.readTextFileSync(`${device}/${name}`), content);
      Deno.removeSync(`${device}/${name}`);
      using journal = openJournal(runs, INFO);
      strictEqual(journal.rows.length, 2);
      await publish(journal, folders.out);
      deepStrictEqual((await recorded(folders)).samples, ["a 4"]);
    }));
}

Deno.test("publish() may be repeated where it was stopped half way", () =>
  inFolder(async (folders) => {
    const { runs, out, device } = folders;
    await measure(folders, [timedRow("old"), timedRow("a", { median_us: 9 })]);
    using journal = openJournal(runs, INFO);
    fill(journal, [timedRow("a"), timedRow("b", { suite: "t" })]);
    // A folder in the place of the second suite's samples stops it after the first.
    Deno.mkdirSync(`${device}/t.samples.jsonl.gz`);
    await rejects(publish(journal, out), {
      message: /^Cannot read .*t.samples.jsonl.gz: Is a directory/,
    });
    deepStrictEqual((await recorded(folders)).rows, ["old 4", "a 4"]);
    deepStrictEqual(names(device), [
      ...["s.csv", "s.samples.jsonl.gz", "t.samples.jsonl.gz"],
    ]);
    Deno.removeSync(`${device}/t.samples.jsonl.gz`);
    const { run } = journal;
    journal[Symbol.dispose]();

    using again = openJournal(runs, INFO);
    deepStrictEqual([again.run, again.rows.length], [run, 2]);
    await publish(again, out);
    deepStrictEqual(await recorded(folders), {
      rows: ["old 4", "a 4"],
      samples: ["old 4", "a 4"],
    });
    deepStrictEqual((await recorded(folders, "t")).rows, ["b 4"]);
    const bytes = Deno.readFileSync(`${device}/s.samples.jsonl.gz`);
    await measure(folders, [timedRow("a")]);
    deepStrictEqual(Deno.readFileSync(`${device}/s.samples.jsonl.gz`), bytes);
  }));

Deno.test("publish() of two runs at once loses the rows of neither", () =>
  inFolder(async (folders) => {
    using one = openJournal(folders.runs, INFO);
    using two = openJournal(folders.runs, { ...INFO, runs: 2 });
    fill(one, [timedRow("a")]);
    fill(two, [timedRow("b")]);
    await Promise.all([one, two].map((j) => publish(j, folders.out)));
    const { rows } = await recorded(folders);
    deepStrictEqual(rows.toSorted(), ["a 4", "b 4"]);
  }));

Deno.test("publish() says that the folder cannot be written to, and keeps the journal", () =>
  inFolder(async (folders) => {
    Deno.writeTextFileSync(folders.out, "");
    await rejects(measure(folders, [timedRow("a")]), {
      name: "UserError",
      message: /^Cannot write .*results\/fake-1: Not a directory/,
    });
    using journal = openJournal(folders.runs, INFO);
    deepStrictEqual([...journal.done(0)], [keyText(timedRow("a").key)]);
  }));
