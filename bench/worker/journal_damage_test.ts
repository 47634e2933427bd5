import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { recordOf } from "../row/csv.ts";
import { openJournal } from "./journal.ts";
import { INFO } from "../testdata/jobs.ts";
import { timedRow } from "../testdata/rows.ts";

const AFRESH = "pass --fresh to measure everything again";
const A = timedRow("a");
const WRONG = {
  ...A,
  key: { ...A.key, kernel: "b" },
  status: "wrong",
  accuracy: { ...A.accuracy, max_abs_err: NaN, max_rel_err: Infinity },
} as const;

/** Gives a folder of a run with rows of a and b, and the root that it is in. */
function withRun(work: (root: string, folder: string) => void): void {
  const temporary = Deno.makeTempDirSync();
  const root = `${temporary}/.runs`;
  try {
    let folder = "";
    {
      using journal = openJournal(root, INFO);
      folder = `${root}/${journal.run}`;
      journal.append({ row: A, repeat: 0 }, [1, 2]);
      journal.append({ row: WRONG, repeat: 0 });
    }
    work(root, folder);
  } finally {
    Deno.removeSync(temporary, { recursive: true });
  }
}

function edit(path: string, change: (text: string) => string): void {
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
}

Deno.test("openJournal() gives back errors that are no finite numbers", () => {
  withRun((root) => {
    using journal = openJournal(root, INFO);
    assertEquals(journal.rows[1]!.row.accuracy, WRONG.accuracy);
    assertEquals(recordOf(journal.rows[1]!.row).max_abs_err, "NaN");
  });
});

const spoilt: readonly [string, (text: string) => string, string][] = [
  [
    "journal.csv",
    (t) => t.replace(",wrong,", ",fine,"),
    'line 3, column status is "fine": it must be one of ok, unsupported, compile, launch, oom, wrong, timeout, crash, untuned',
  ],
  [
    "journal.csv",
    (t) => t.replace(",0.125,", ",x,"),
    'line 2, column max_abs_err is "x": it must be a number of at least 0, Infinity or NaN',
  ],
  // As other commands would refuse the CSV that it is published in.
  [
    "journal.csv",
    (t) => t.replace(",4,", ",NaN,"),
    'line 2, column median_us is "NaN": it must be a time from 1e-6 us to a year',
  ],
  [
    "journal.csv",
    (t) => t.replace(",4,", ",-5,"),
    'line 2, column median_us is "-5": it must be a time from 1e-6 us to a year',
  ],
  [
    "journal.csv",
    (t) => t.replace(",4,", ",,"),
    "line 2, column median_us is empty",
  ],
  [
    "journal.csv",
    (t) => t.replace(/,0\n/, ",x\n"),
    'line 2, column repeat is "x": it must be a whole number',
  ],
  [
    "journal.csv",
    () => "\0\0\0\n",
    "line 1: its columns are of another version",
  ],
  ["run.json", () => "", "it is empty"],
  ["run.json", (t) => t.slice(0, 40), "it is damaged or cut short"],
  ["run.json", () => "null", "it is null: it must be an object"],
  ["run.json", () => '{"started":"x"}', "field harness is missing"],
];

for (const [file, spoil, why] of spoilt) {
  Deno.test(`openJournal() refuses a ${file} of which ${why.slice(0, 40)}`, () => {
    withRun((root, folder) => {
      edit(`${folder}/${file}`, spoil);
      assertEquals(
        assertThrows(() => openJournal(root, INFO), UserError).message,
        `Cannot read ${folder}/${file}: ${why}; ${AFRESH}`,
      );
      using journal = openJournal(root, INFO, { fresh: true });
      assertEquals([journal.rows, journal.info], [[], INFO]);
    });
  });
}

Deno.test("Journal.notes says of a damaged calibration that it was left out", () => {
  for (const content of ["", "{", "null", '{"marker_us":1}']) {
    withRun((root, folder) => {
      const path = `${folder}/calibration.json`;
      Deno.writeTextFileSync(path, content);
      {
        using journal = openJournal(root, INFO);
        assertEquals([...journal.notes], [
          `Left out ${path}, which is damaged: the next worker writes it anew`,
        ]);
        assertEquals(journal.calibration, undefined);
      }
      using journal = openJournal(root, INFO);
      assertEquals([...journal.notes], []);
    });
  }
});

Deno.test("Journal.sampleLines() leaves out damaged lines", () => {
  withRun((root, folder) => {
    edit(`${folder}/samples.jsonl`, (text) => {
      const negative = text.replace('"repeat":0', '"repeat":-1');
      return `garbage\nnull\n{"key":{}}\n${negative}${text}`;
    });
    using journal = openJournal(root, INFO);
    assertEquals([...journal.sampleLines()].map((l) => JSON.parse(l)), [
      { key: A.key, run: "r", repeat: 0, samples_ns: [1, 2] },
    ]);
  });
});
