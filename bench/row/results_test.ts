import { assertEquals } from "@std/assert";
import { writeCsv } from "./csv.ts";
import { readCsv } from "./read_csv.ts";
import { openJournal } from "../worker/journal.ts";
import { deviceFolder, publish } from "./results.ts";
import type { FailedRow } from "./row.ts";
import { INFO } from "../testdata/jobs.ts";
import { fill, inFolder, measure, recorded } from "../testdata/published.ts";
import { timedRow } from "../testdata/rows.ts";

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
    assertEquals(deviceFolder(device), folder);
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
    assertEquals(paths, [`${device}/s.csv`, `${device}/t.csv`]);
    assertEquals(names(device), [
      ...["s.csv", "s.samples.jsonl.gz", "t.csv", "t.samples.jsonl.gz"],
    ]);
    assertEquals(names(runs), []);
    assertEquals(await recorded(folders), {
      rows: ["a 4", "b crash"],
      samples: ["a 4"],
    });
    assertEquals(Deno.readTextFileSync(paths[1]!), writeCsv([other]));
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
    assertEquals(await recorded(folders), {
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
    assertEquals(await recorded(folders), {
      rows: ["a 5", "b crash"],
      samples: ["a 7", "a 3", "a 5"],
    });
    const path = `${folders.device}/s.csv`;
    const [row] = readCsv(Deno.readTextFileSync(path), path);
    assertEquals([row!.runs, row!.between_run_us], ["3", "2"]);
  }));

Deno.test("publish() stores what was measured of the device", () =>
  inFolder(async ({ runs, out, device }) => {
    using journal = openJournal(runs, INFO);
    const calibration = { marker_us: 1, launch_us: 2, load: [], peak: {} };
    journal.calibration = calibration;
    await publish(journal, out);
    assertEquals(
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
    assertEquals(calibration.peak, { bf16: 5, f32: 2 });
  }));
