import {
  assertAlmostEquals,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { UserError } from "../model/errors.ts";
import { recordOf, writeCsv } from "./csv.ts";
import { readCsv } from "./read_csv.ts";
import {
  assertPublishable,
  combine,
  deviceFolder,
  publish,
  readDeviceFile,
} from "./results.ts";
import {
  caseText,
  type FailedRow,
  KEY_COLUMNS,
  keyText,
  RIGHT_ALONE,
  type TimedRow,
} from "./row.ts";
import {
  formatSamples,
  parseSamples,
  readSamples,
  writeSamples,
} from "./samples.ts";
import { INFO } from "../testdata/jobs.ts";
import { fill, inFolder, measure, recorded } from "../testdata/published.ts";
import { timedRow } from "../testdata/rows.ts";
import { Journal } from "../worker/journal.ts";

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

Deno.test("publish() keeps rows of other timers and caches beside those of a case", () =>
  inFolder(async (folders) => {
    const row = timedRow("a");
    const as = (timer: string, cache: string, median_us: number): TimedRow => ({
      ...timedRow("a", { median_us }),
      provenance: { ...row.provenance, timer, cache },
    });
    const rows = [["graph", "cold", 3], ["do_bench", "warm", 2]] as const;
    await measure(folders, [row]);
    for (const [timer, cache, us] of rows) {
      await measure(folders, [as(timer, cache, us)]);
    }
    assertEquals(await recorded(folders), {
      rows: ["a 4", "a 3", "a 2"],
      samples: ["a 4", "a 3", "a 2"],
    });
    await measure(folders, [as("graph", "cold", 1)]);
    assertEquals(await recorded(folders), {
      rows: ["a 4", "a 1", "a 2"],
      samples: ["a 4", "a 1", "a 2"],
    });
  }));

Deno.test("readSamples() refuses samples that nobody took, naming the line", async () => {
  const path = Deno.makeTempFileSync({ suffix: ".jsonl.gz" });
  const key = Object.fromEntries(KEY_COLUMNS.map((column) => [column, "x"]));
  const line = (own: Record<string, unknown>) =>
    JSON.stringify({ key, run: "r", repeat: 0, samples_ns: [1], ...own });
  const inSteps = (own: Record<string, unknown>) => ({
    samples_ns: undefined,
    least_ns: 1,
    step_ns: 32,
    steps: [0, 7],
    ...own,
  });
  try {
    for (
      const own of [
        { repeat: 4294967294 },
        { repeat: -1 },
        { samples_ns: [1, 0] },
        { samples_ns: [-1] },
        { samples_ns: [1e308] },
        { samples_ns: Array(100_001).fill(1) },
        ...[
          ...[{ least_ns: 0 }, { least_ns: 1.5 }, { least_ns: undefined }],
          ...[{ step_ns: 0 }, { step_ns: -32 }, { step_ns: 0.5 }],
          // JSON has NaN as null.
          ...[{ step_ns: NaN }, { step_ns: "32" }, { step_ns: undefined }],
          ...[{ steps: [0, -1] }, { steps: [0.5] }, { steps: ["1"] }],
          ...[{ steps: [null] }, { steps: { length: 1 } }, { steps: "1" }],
          ...[{ step_ns: 2 ** 50, steps: [0, 29] }, { steps: [0, 1e15] }],
          { steps: Array(100_001).fill(1) },
        ].map(inSteps),
      ]
    ) {
      await writeSamples(path, [line({}), line(own)]);
      await assertRejects(
        () => readSamples(path, []),
        UserError,
        "line 2 has no samples",
      );
    }
    // Of commands without --out.
    const error = await assertRejects(() => readSamples(path, []), UserError);
    assertMatch(error.message, /has no samples; move it away$/);
    for (const own of [{}, inSteps({})]) {
      await writeSamples(path, [line(own)]);
      assertEquals((await readSamples(path, [])).size, 1);
    }
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("readSamples() gives lines of schema 1 the timing of their row", () =>
  inFolder(async ({ device }) => {
    const row = recordOf(timedRow("a"));
    const { key, provenance: { timer, cache } } = timedRow("a");
    const path = `${device}/s.samples.jsonl.gz`;
    Deno.mkdirSync(device, { recursive: true });
    const line = { key, run: "r", repeat: 0, samples_ns: [2e3, 4e3, 6e3] };
    const lost = { ...line, key: timedRow("b").key };
    await writeSamples(path, [line, lost].map((one) => JSON.stringify(one)));
    const now = { ...line, key: { ...key, timer, cache } };
    assertEquals(
      await readSamples(path, [row]),
      new Map([[keyText(row), [formatSamples(now)]]]),
    );
  }));

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
      using journal = new Journal(folders.runs, INFO);
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

Deno.test("readSamples() reads those of runs whose mean the row is, and no others", () =>
  inFolder(async (folders) => {
    {
      using journal = new Journal(folders.runs, INFO);
      for (const [repeat, median_us] of [7.2, 7, 6.8, 7.1].entries()) {
        fill(journal, [timedRow("a", { median_us })], repeat);
      }
      await publish(journal, folders.out);
    }
    const [path, csv] = ["s.samples.jsonl.gz", "s.csv"].map((name) =>
      `${folders.device}/${name}`
    ) as [string, string];
    const rows = readCsv(Deno.readTextFileSync(csv), csv);
    const lines = [...(await readSamples(path, rows)).values()].flat();
    assertEquals(lines.length, 4);
    await writeSamples(path, lines.slice(0, 1));
    await assertRejects(() => readSamples(path, rows), UserError, "not these");
  }));

Deno.test("publish() stores what was measured of the device", () =>
  inFolder(async ({ runs, out, device }) => {
    using journal = new Journal(runs, INFO);
    const calibration = { marker_us: 1, launch_us: 2, load: [], peak: {} };
    journal.calibration = calibration;
    await publish(journal, out);
    const { sum, ...content } = JSON.parse(
      Deno.readTextFileSync(`${device}/device.json`),
    );
    assertEquals(content, {
      device: "Fake (1)",
      arch: "fake",
      harness: "0.1.0",
      run: journal.run,
      calibration,
    });
    assertMatch(sum, /^[0-9a-f]{16}$/);
  }));

Deno.test("readDeviceFile() refuses a number that changed, and reads files without a checksum", () =>
  inFolder(async ({ runs, out, device }) => {
    using journal = new Journal(runs, INFO);
    journal.calibration = {
      marker_us: 1,
      launch_us: 2,
      peak: { bf16: 5 },
      load: [{ bytes: 8, us: 3 }, { bytes: 16, us: 4 }],
    };
    await publish(journal, out);
    const path = `${device}/device.json`;
    const whole = Deno.readTextFileSync(path);
    const old = whole.replace(/"sum": "\w+",\s*/, "");
    const read = (text: string) => {
      Deno.writeTextFileSync(path, text);
      return readDeviceFile(device, "fix it");
    };
    assertEquals(read(old)?.calibration, read(whole)?.calibration);
    for (
      const [text, why] of [
        [whole.replace('"us": 3', '"us": 2'), "its checksum is of other"],
        [whole.replace('"run"', '"ran"'), "field run is missing"],
        [
          old.replace('"us": 3', '"us": -3'),
          "calibration.load.0.us: it must be",
        ],
        [
          old.replace('"bf16": 5', '"bf16": 1e999'),
          "calibration.peak.bf16: it",
        ],
        [old.replace('"bytes": 8', '"bytes": 32'), "its bytes must ascend"],
        [old.replace('"marker_us"', '"x": 1, "marker_us"'), "x is unknown"],
      ] as const
    ) {
      const { message } = assertThrows(() => read(text), UserError);
      assertEquals([message.includes(why), message.includes(path)], [
        true,
        true,
      ], message);
    }
  }));

Deno.test("readSamples() refuses those that a row was not made of, naming the line", () =>
  inFolder(async (folders) => {
    await measure(folders, [timedRow("a"), timedRow("b")]);
    const path = `${folders.device}/s.samples.jsonl.gz`;
    const csv = `${folders.device}/s.csv`;
    const rows = readCsv(Deno.readTextFileSync(csv), csv);
    const lines = [...(await readSamples(path, rows)).values()].flat();
    const b = parseSamples(lines[1]!);
    const refused = async (...changed: Partial<typeof b>[]) => {
      const others = changed.map((own) => formatSamples({ ...b, ...own }));
      await writeSamples(path, [lines[0]!, ...others]);
      const { message } = await assertRejects(
        () => readSamples(path, rows),
        UserError,
      );
      assertMatch(
        message,
        /^Cannot read .*jsonl\.gz: line 2 is of b at 1×2×3, whose row has 3 samples with a mean of 4 µs in 1 runs, and not these; /,
      );
    };
    const [first, ...rest] = b.samples_ns;
    assertEquals([first, rest.length], [2000, 2]);
    await refused({ samples_ns: [2000.1, ...rest] });
    await refused({ samples_ns: [2001, ...rest] });
    await refused({ samples_ns: rest });
    await refused({ samples_ns: [2000, 4000, ...rest] });
    await refused({}, { repeat: 1 });
    // Of another run they are not the row's.
    const other = formatSamples({ ...b, run: "s", samples_ns: [1, ...rest] });
    await writeSamples(path, [lines[0]!, other]);
    assertEquals((await readSamples(path, rows)).size, 2);
  }));

Deno.test("publish() keeps the peaks of types that a later run has not", () =>
  inFolder(async ({ runs, out, device }) => {
    const measured = { marker_us: 1, launch_us: 2, load: [] };
    for (const peak of [{ bf16: 5, f32: 1 }, { f32: 2 }]) {
      using journal = new Journal(runs, INFO);
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
      assertMatch(
        (await assertRejects(
          () => measure(folders, [first, timedRow("a")]),
          UserError,
        )).message,
        /^Cannot read .* move it away or pass --out with another/,
      );
      assertEquals(Deno.readTextFileSync(`${device}/${name}`), content);
      Deno.removeSync(`${device}/${name}`);
      using journal = new Journal(runs, INFO);
      assertEquals(journal.rows.length, 2);
      await publish(journal, folders.out);
      assertEquals((await recorded(folders)).samples, ["a 4"]);
    }));
}

Deno.test("publish() may be repeated where it was stopped half way", () =>
  inFolder(async (folders) => {
    const { runs, out, device } = folders;
    await measure(folders, [timedRow("old"), timedRow("a", { median_us: 9 })]);
    using journal = new Journal(runs, INFO);
    fill(journal, [timedRow("a"), timedRow("b", { suite: "t" })]);
    // A link into a folder that is not there stops it after the first suite.
    Deno.symlinkSync("no/where", `${device}/t.samples.jsonl.gz`);
    assertMatch(
      (await assertRejects(() => publish(journal, out), Error)).message,
      /^Cannot write .*t.samples.jsonl.gz: its folder is not there/,
    );
    assertEquals((await recorded(folders)).rows, ["old 4", "a 4"]);
    Deno.removeSync(`${device}/t.samples.jsonl.gz`);
    assertEquals(names(device), ["s.csv", "s.samples.jsonl.gz"]);
    const { run } = journal;
    journal[Symbol.dispose]();

    using again = new Journal(runs, INFO);
    assertEquals([again.run, again.rows.length], [run, 2]);
    await publish(again, out);
    assertEquals(await recorded(folders), {
      rows: ["old 4", "a 4"],
      samples: ["old 4", "a 4"],
    });
    assertEquals((await recorded(folders, "t")).rows, ["b 4"]);
    const bytes = Deno.readFileSync(`${device}/s.samples.jsonl.gz`);
    await measure(folders, [timedRow("a")]);
    assertEquals(Deno.readFileSync(`${device}/s.samples.jsonl.gz`), bytes);
  }));

Deno.test("publish() of eight runs at once, again and again, loses the rows of none", () =>
  inFolder(async (folders) => {
    const all: string[] = [];
    for (let round = 0; round < 4; round++) {
      using scope = new DisposableStack();
      const journals = Array.from({ length: 8 }, (_, i) => {
        const journal = new Journal(folders.runs, { ...INFO, runs: i + 1 });
        const kernel = `k${round}.${i}`;
        fill(journal, ["s", "t"].map((suite) => timedRow(kernel, { suite })));
        all.push(`${kernel} 4`);
        return scope.use(journal);
      });
      await Promise.all(journals.map((one) => publish(one, folders.out)));
    }
    for (const suite of ["s", "t"]) {
      const { rows, samples } = await recorded(folders, suite);
      assertEquals(rows.toSorted(), all);
      assertEquals(samples.toSorted(), all);
    }
    assertEquals(names(folders.device), [
      ...["s.csv", "s.samples.jsonl.gz", "t.csv", "t.samples.jsonl.gz"],
    ]);
  }));

Deno.test("publish() says that the folder cannot be written to, and keeps the journal", () =>
  inFolder(async (folders) => {
    Deno.writeTextFileSync(folders.out, "");
    assertMatch(
      (await assertRejects(() => measure(folders, [timedRow("a")]), UserError))
        .message,
      /^Cannot write .*results\/fake-1: Not a directory/,
    );
    using journal = new Journal(folders.runs, INFO);
    assertEquals([...journal.done(0)], [caseText(timedRow("a").key)]);
  }));

Deno.test("publish() leaves a link to a CSV, and replaces the CSV", {
  ignore: Deno.build.os === "windows",
}, () =>
  inFolder(async (folders) => {
    const { device, out } = folders;
    await measure(folders, [timedRow("a")]);
    Deno.renameSync(`${device}/s.csv`, `${out}/elsewhere.csv`);
    Deno.symlinkSync("../elsewhere.csv", `${device}/s.csv`);
    await measure(folders, [timedRow("b")]);
    assertEquals(Deno.lstatSync(`${device}/s.csv`).isSymlink, true);
    const { rows } = await recorded(folders);
    assertEquals(rows, ["a 4", "b 4"]);
    assertEquals(Deno.lstatSync(`${out}/elsewhere.csv`).isFile, true);
  }));

const UNUSABLE: readonly (readonly [
  what: string,
  spoil: (folders: { device: string; out: string }) => void,
  message: RegExp,
])[] = [
  [
    "a CSV of another schema",
    ({ device }) => edit(`${device}/s.csv`, (t) => t.replace(",2,r,", ",3,r,")),
    /^Cannot read .*s\.csv: line 2, column schema is "3"/,
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
    "a CSV of another device",
    ({ device }) =>
      edit(`${device}/s.csv`, (t) => t.replace("Fake (1)", "Fake-1")),
    /^Cannot write .*s\.csv: it is of device Fake-1, and the new rows are of Fake \(1\); move it away or /,
  ],
  [
    "a device.json of another device",
    ({ device }) =>
      Deno.writeTextFileSync(
        `${device}/device.json`,
        JSON.stringify({
          ...{ device: "Fake-1", arch: "a", harness: "0", run: "r" },
          calibration: { marker_us: 1, launch_us: 2, load: [], peak: {} },
        }),
      ),
    /^Cannot write .*device\.json: it is of device Fake-1, and the new rows are of Fake \(1\); /,
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
  [
    "a link in the place of the device's folder, which leads elsewhere",
    ({ device, out }) => {
      Deno.renameSync(device, `${out}.elsewhere`);
      Deno.symlinkSync(`${out}.elsewhere`, device);
    },
    /^Cannot write .*fake-1: a link leads out of .*results, the folder for/,
  ],
  [
    "a link in the place of the samples, which leads elsewhere",
    ({ device, out }) => {
      const path = `${device}/s.samples.jsonl.gz`;
      Deno.renameSync(path, `${out}.elsewhere`);
      Deno.symlinkSync(`${out}.elsewhere`, path);
    },
    /^Cannot write .*samples\.jsonl\.gz: a link leads out of .*results, /,
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
      using journal = new Journal(runs, INFO);
      journal.calibration = { marker_us: 1, launch_us: 2, load: [], peak: {} };
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

const rows = (...medians: number[]) =>
  medians.map((median_us) => timedRow("k", { median_us }));

Deno.test("combine() leaves a single row as it is", () => {
  const [row] = rows(5);
  assertEquals(combine([row!]), row);
});

Deno.test("combine() takes the repeat in the middle and the spread of all", () => {
  const [a, b, c] = rows(7, 3, 5);
  assertEquals(combine([a!, b!, c!]), {
    ...c!,
    figures: {
      ...c!.figures,
      runs: 3,
      between_run_us: 2,
    },
  });
});

Deno.test("combine() takes the means of the repeats near the one in the middle", () => {
  const { figures } = combine(rows(10.2, 14, 10, 9.8, 10.4)) as TimedRow;
  assertAlmostEquals(figures.median_us, 10.1);
  assertAlmostEquals(figures.q3_us - figures.q1_us, 10.1 / 2);
  assertEquals([figures.min_us, figures.runs], [4.9, 5]);
});

Deno.test("combine() halves all times between two in the middle, rates included", () => {
  const { figures } = combine(rows(8, 2, 4, 100)) as TimedRow;
  assertEquals(figures.median_us, 6);
  assertEquals([figures.q1_us, figures.q3_us], [4.5, 7.5]);
  assertEquals([figures.min_us, figures.mean_us], [2, 6]);
  assertEquals(figures.tflops, 8 / 6);
  assertEquals(figures.gbps, 4 / 6);
  assertEquals(figures.runs, 4);
});

Deno.test("combine() keeps the note of a repeat that failed once", () => {
  const note = `wrong once, ${RIGHT_ALONE}`;
  const [a, b, c] = rows(8, 2, 4);
  const all = [{ ...a!, note: `mine; ${note}` }, { ...b!, note }, c!];
  assertEquals(combine(all).note, note);
});

Deno.test("combine() tells of the search of the repeat that searched", () => {
  const [slow, ...others] = rows(9, 5, 4);
  const searched = {
    ...slow!,
    note: "left out KIND=2; suspect",
    provenance: { ...slow!.provenance, search_configs: 5, search_ms: 70 },
  };
  const rest = others.map((row) => ({
    ...row,
    note: "suspect; at the end",
    provenance: { ...row.provenance, search_configs: 0, search_ms: 0 },
  }));
  const { note, provenance } = combine([searched, ...rest]);
  assertEquals(note, "left out KIND=2; suspect; at the end");
  assertEquals([provenance.search_configs, provenance.search_ms], [5, 70]);
});

Deno.test("combine() lets a repeat that failed speak for the case", () => {
  const { figures: _, accuracy: __, ...base } = timedRow("k");
  const failed: FailedRow = { ...base, status: "crash", note: "boom" };
  assertEquals(combine([...rows(1), failed, ...rows(2)]), failed);
});
