import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { openJournal } from "../worker/journal.ts";
import { assertPublishable, publish } from "./results.ts";
import { INFO } from "../testdata/jobs.ts";
import { fill, inFolder, measure, recorded } from "../testdata/published.ts";
import { timedRow } from "../testdata/rows.ts";

const names = (folder: string) =>
  [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();

const UNUSABLE: readonly (readonly [
  what: string,
  spoil: (folders: { device: string; out: string }) => void,
  message: RegExp,
])[] = [
  [
    "a CSV of another schema",
    ({ device }) => edit(`${device}/s.csv`, (t) => t.replace(",1,r,", ",2,r,")),
    /^Cannot read .*s\.csv: line 2, column schema is "2"/,
  ],
  [
    "a CSV whose median is NaN",
    ({ device }) => edit(`${device}/s.csv`, (t) => t.replace(",4,", ",NaN,")),
    /^Cannot read .*s\.csv: line 2, column median_us is "NaN"/,
  ],
  [
    "a CSV that is cut off",
    ({ device }) => edit(`${device}/s.csv`, (t) => t.slice(0, -20)),
    /^Cannot read .*s\.csv: line 2, .*the line is cut off/,
  ],
  [
    "an empty CSV",
    ({ device }) => edit(`${device}/s.csv`, () => ""),
    /^Cannot read .*s\.csv: line 1 has no columns/,
  ],
  [
    "a CSV in UTF-16",
    ({ device }) => {
      const text = Deno.readTextFileSync(`${device}/s.csv`);
      const units = Uint16Array.from(text, (c) => c.charCodeAt(0));
      Deno.writeFileSync(`${device}/s.csv`, new Uint8Array(units.buffer));
    },
    /^Cannot read .*s\.csv: line 1 is not UTF-8 text/,
  ],
  [
    "a folder where the CSV goes",
    ({ device }) => {
      Deno.removeSync(`${device}/s.csv`);
      Deno.mkdirSync(`${device}/s.csv`);
    },
    /^Cannot read .*s\.csv: it is a folder/,
  ],
  [
    "samples that are not compressed",
    ({ device }) => edit(`${device}/s.samples.jsonl.gz`, () => "garbage"),
    /^Cannot read .*s\.samples\.jsonl\.gz: /,
  ],
  [
    "a file where the device's folder goes",
    ({ device }) => {
      Deno.removeSync(device, { recursive: true });
      Deno.writeTextFileSync(device, "");
    },
    /^Cannot write .*fake-1: /,
  ],
  ...[
    ["null", "it is null: it must be an object"],
    ["{", "it is damaged or cut short"],
    ['{"device":"Fake 1"}', "field arch is missing"],
  ].map(([content, why]) =>
    [
      `a device.json with ${content}`,
      ({ device }: { device: string }) =>
        Deno.writeTextFileSync(`${device}/device.json`, content!),
      new RegExp(`^Cannot read .*device\\.json: ${why}; `),
    ] as const
  ),
];

function edit(path: string, change: (text: string) => string): void {
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
}

for (const [what, spoil, message] of UNUSABLE) {
  Deno.test(`assertPublishable() and publish() refuse ${what}, alike`, () =>
    inFolder(async (folders) => {
      const { runs, out } = folders;
      await measure(folders, [timedRow("a")]);
      const what = { device: INFO.device, suites: ["s"] };
      await assertPublishable(out, what);
      spoil(folders);
      assertMatch(
        (await assertRejects(() => assertPublishable(out, what), UserError))
          .message,
        message,
      );
      using journal = openJournal(runs, INFO);
      journal.calibration = {
        ...{ marker_us: 1, launch_us: 2, load: [], peak: {} },
      };
      fill(journal, [timedRow("b")]);
      assertMatch(
        (await assertRejects(() => publish(journal, out), UserError)).message,
        message,
      );
    }));
}

Deno.test("assertPublishable() leaves what is there as it was, and nothing else", () =>
  inFolder(async (folders) => {
    await measure(folders, [timedRow("a")]);
    const before = names(folders.device);
    await assertPublishable(folders.out, {
      device: INFO.device,
      suites: ["s", "t"],
    });
    assertEquals(names(folders.device), before);
    assertEquals((await recorded(folders)).rows, ["a 4"]);
  }));
