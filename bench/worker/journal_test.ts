import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { Journal } from "./journal.ts";
import type { Calibration } from "../measure/figures.ts";
import { caseText, type FailedRow, rowKey, SCHEMA } from "../row/row.ts";
import { denoRun, INFO } from "../testdata/jobs.ts";
import { keyFor, timedRow } from "../testdata/rows.ts";
import { recordOf } from "../row/csv.ts";
import { parseSamples } from "../row/samples.ts";
import { seal } from "../files/json_file.ts";
import { temporary } from "../testdata/temporary.ts";

const CALIBRATION: Calibration = {
  marker_us: 1,
  launch_us: 2,
  load: [{ bytes: 4, us: 5 }],
  peak: { bf16: 1e15 },
};
const AFRESH = "pass --fresh to measure everything again";
const AGAIN = `remove that line to measure its case again, or ${AFRESH}`;

function inFolder(work: (root: string) => void): void {
  using folder = temporary();
  work(`${folder.path}/.runs`);
}

const names = ({ rows }: Journal) =>
  rows.map(({ row, repeat }) => `${row.key.kernel}${repeat}`);
const A = timedRow("a");
const B: FailedRow = {
  key: keyFor("b"),
  place: A.place,
  config: "",
  config_by: "",
  status: "compile",
  note: 'mine.cu(3): error: "x"\nis undefined',
  provenance: { timer: "do_bench", cache: "cold", schema: SCHEMA },
};

Deno.test("Journal() gives back rows, samples, winners and what was asked", () => {
  inFolder((root) => {
    let run = "";
    {
      using journal = new Journal(root, INFO);
      run = journal.run;
      assertEquals(journal.resumed, false);
      journal.append({ row: A, repeat: 0 }, [3000, 4000, 5000]);
      journal.append({ row: B, repeat: 0 });
      journal.append({ row: { ...A, config: "BM=32" }, repeat: 1 });
    }
    using journal = new Journal(root, { ...INFO, started: "later" });
    assertEquals(journal.resumed, true);
    assertEquals(journal.info, { ...INFO, run });
    assertEquals(journal.run, run);
    assertEquals(journal.rows, [
      { row: A, repeat: 0, samples: [3000, 4000, 5000] },
      { row: B, repeat: 0 },
      { row: { ...A, config: "BM=32" }, repeat: 1 },
    ]);
    const [a, b] = [caseText(A.key), caseText(B.key)];
    assertEquals([...journal.done(0)], [a, b]);
    assertEquals([...journal.done(1)], [a]);
    assertEquals(journal.winners, { [a]: "BM=16" });
    assertEquals([...journal.sampleLines()].map(parseSamples), [
      { key: rowKey(A), run: "r", repeat: 0, samples_ns: [3000, 4000, 5000] },
    ]);
  });
});

Deno.test("Journal() names each run of a command, but not each start of one", () => {
  inFolder((root) => {
    const runs = Array.from({ length: 3 }, (_, i) => {
      using journal = new Journal(root, INFO, { fresh: i === 2 });
      if (i === 0) journal.finish();
      return journal.run;
    });
    using again = new Journal(root, INFO);
    assertEquals(again.run, runs[2]);
    assertEquals(new Set(runs).size, 3);
  });
});

Deno.test("Journal() cuts off torn last lines, and goes on after them", () => {
  inFolder((root) => {
    let path = "";
    {
      using journal = new Journal(root, INFO);
      path = journal.folder;
      journal.append({ row: A, repeat: 0 }, [1]);
      journal.append({ row: B, repeat: 0 });
    }
    const whole = Deno.readTextFileSync(`${path}/journal.jsonl`);
    const tears = ["\n{", "schema", "compile", "}}"];
    for (const tear of tears) {
      const at = whole.lastIndexOf(tear) + 1;
      Deno.writeTextFileSync(`${path}/journal.jsonl`, whole.slice(0, at));
      Deno.writeTextFileSync(`${path}/search.jsonl`, '{"a', { append: true });
      using journal = new Journal(root, INFO);
      assertEquals(names(journal), ["a0"], tear);
      assertEquals([...journal.sampleLines()].length, 1);
      journal.append({ row: B, repeat: 0 });
      assertEquals(Deno.readTextFileSync(`${path}/journal.jsonl`), whole);
    }
  });
});

Deno.test("Journal() lets a row that does not hold any more be measured again", () => {
  inFolder((root) => {
    {
      using journal = new Journal(root, INFO);
      journal.append({ row: A, repeat: 0 });
      journal.append({ row: B, repeat: 0 });
    }
    const stillValid = ({ status }: { status: string }) => status !== "ok";
    {
      using journal = new Journal(root, INFO, { stillValid });
      assertEquals([...journal.done(0)], [caseText(B.key)]);
      assertEquals(journal.notes, [
        `Measuring 1 row of the run of ${INFO.started} again: kernels changed since`,
      ]);
      const row = timedRow("a", { median_us: 9 });
      journal.append({ row, repeat: 0 });
    }
    using journal = new Journal(root, INFO);
    assertEquals(names(journal), ["b0", "a0"]);
    const [, { row }] = journal.rows as [unknown, { row: typeof A }];
    assertEquals(row.figures.median_us, 9);
  });
});

Deno.test("Journal() refuses rows of another schema", () => {
  inFolder((root) => {
    let path = "";
    {
      using journal = new Journal(root, INFO);
      path = `${journal.folder}/journal.jsonl`;
      journal.append({ row: A, repeat: 0 });
    }
    const text = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(
      path,
      text.replace('"schema":2,"repeat"', '"schema":7,"repeat"'),
    );
    assertEquals(
      assertThrows(() => new Journal(root, INFO), UserError).message,
      `Cannot read ${path}: line 1, field schema is 7: it must be 2; ${AGAIN}`,
    );
    new Journal(root, INFO, { fresh: true })[Symbol.dispose]();
  });
});

Deno.test("Journal.lost is what an earlier start lost, with its sources", () => {
  inFolder((root) => {
    const key = { ...A.key, params: 'a="b"' };
    const crash = {
      key,
      config: "BM=64",
      status: "crash" as const,
      note: "The worker was killed,\nsaid nobody",
    };
    let path = "";
    {
      using journal = new Journal(root, INFO);
      path = `${journal.folder}/search.jsonl`;
      const event = { event: "config", key, config: "BM=16" } as const;
      journal.appendConfig(
        { ...event, status: "ok", median_us: 2.5, note: "" },
        { repeat: 0 },
      );
      journal.appendConfig(
        { ...event, status: "oom", note: "a,b" },
        { repeat: 1 },
      );
      journal.appendConfig(
        { ...crash, event: "config" },
        { repeat: 1, sourceHash: "beef" },
      );
      assertEquals(journal.lost, []);
    }
    const lines = Deno.readTextFileSync(path).split("\n");
    assertEquals(lines.length, 4);
    const edited = lines[2]!.replace('"crash"', '"launch"');
    Deno.writeTextFileSync(path, ["{", edited, ...lines].join("\n"));
    using journal = new Journal(root, INFO);
    assertEquals(
      journal.notes,
      [1, 2].map((line) =>
        `Left out line ${line} of ${path}, which is damaged: its config may be tried again`
      ),
    );
    const lost = { ...crash, repeat: 1, sourceHash: "beef" };
    assertEquals<readonly unknown[]>(journal.lost, [lost]);
    // It has no row, and is continued.
    assertEquals([journal.resumed, journal.tried], [true, 3]);
  });
});

Deno.test("Journal.calibration is kept", () => {
  inFolder((root) => {
    {
      using journal = new Journal(root, INFO);
      assertEquals(journal.calibration, undefined);
      journal.calibration = CALIBRATION;
    }
    using journal = new Journal(root, INFO);
    assertEquals(journal.calibration, CALIBRATION);
  });
});

Deno.test({
  name: "Journal.append() keeps earlier rows when the disk has no room" +
    (Deno.build.os === "windows" ? " (needs a POSIX shell)" : ""),
  ignore: Deno.build.os === "windows",
  fn() {
    inFolder((root) => {
      // A limit on the size of files: a write beyond it fails as on a full disk.
      const { stdout } = new Deno.Command("sh", {
        args: [
          "-c",
          'trap "" XFSZ; ulimit -f 8; exec "$@"',
          "sh",
          ...denoRun("filler.ts", root),
        ],
      }).outputSync();
      const said = new TextDecoder().decode(stdout);
      const [, kept, message] = /^(\d+) (.*)\n$/.exec(said) ?? [said];
      assertEquals(
        /^Cannot write .*journal.jsonl: File too large/.test(message!),
        true,
        said,
      );
      assertEquals(Number(kept) > 2, true);
      using journal = new Journal(root, INFO);
      assertEquals(journal.rows.length, Number(kept));
      assertEquals(journal.rows.at(0)!.row, timedRow("k0"));
    });
  },
});

const WRONG = {
  ...A,
  key: { ...A.key, kernel: "b" },
  status: "wrong",
  accuracy: { ...A.accuracy, max_abs_err: NaN, max_rel_err: Infinity },
} as const;

/** Gives a folder of a run with rows of a and b, and the root that it is in. */
function withRun(work: (root: string, folder: string) => void): void {
  inFolder((root) => {
    let folder = "";
    {
      using journal = new Journal(root, INFO);
      folder = journal.folder;
      journal.append({ row: A, repeat: 0 }, [1, 2]);
      journal.append({ row: WRONG, repeat: 0 });
    }
    work(root, folder);
  });
}

function edit(path: string, change: (text: string) => string): void {
  Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
}

Deno.test("Journal() gives back errors that are no finite numbers", () => {
  withRun((root) => {
    using journal = new Journal(root, INFO);
    assertEquals(journal.rows[1]!.row.accuracy, WRONG.accuracy);
    assertEquals(recordOf(journal.rows[1]!.row).max_abs_err, "NaN");
  });
});

const spoilt: readonly [string, (text: string) => string, string][] = [
  [
    "journal.jsonl",
    (t) => t.replace('"wrong"', '"fine"'),
    'line 2, field row.status is "fine": it must be ("ok" | "checked" | ("unsupported" | "compile" | "launch" | "oom" | "wrong" | "timeout" | "crash" | "untuned"))',
  ],
  [
    "journal.jsonl",
    (t) => t.replace('"wrong"', '"checked"'),
    "line 2, its row has no time",
  ],
  ...[
    ['"max_abs_err":0.125', '"max_abs_err":0.25'],
    ['"median_us":4', '"median_us":{"number":"NaN"}'],
    ['"samples":[1,2]', '"samples":[1,3]'],
    [',"samples":[1,2]', ""],
    ['"repeat":0', '"repeat":1'],
    ['"schema"', '"x":1,"schema"'],
  ].map(([from, to]): typeof spoilt[number] => [
    "journal.jsonl",
    (t) => t.replace(from!, to!),
    "line 1, its checksum is of other content; it is damaged, or was edited by hand",
  ]),
  [
    "journal.jsonl",
    (t) => t.replace('"median_us":4,', ""),
    "line 1, field row.figures.median_us is missing",
  ],
  [
    "journal.jsonl",
    (t) => t.replace('"repeat":0', '"repeat":-1'),
    "line 1, field repeat: Invalid value: Expected >=0 but received -1",
  ],
  [
    "journal.jsonl",
    () => "\0\0\0\n",
    "line 1, it is damaged or cut short",
  ],
  ["run.json", () => "", "it is empty"],
  ["run.json", (t) => t.slice(0, 40), "it is damaged or cut short"],
  ["run.json", () => "null", "it is null: it must be an object"],
  ["run.json", () => '{"started":"x"}', "field harness is missing"],
  [
    "run.json",
    (t) => t.replace('"runs": 1', '"runs": 2'),
    "its checksum is of other content; it is damaged, or was edited by hand",
  ],
];

for (const [file, spoil, why] of spoilt) {
  Deno.test(`Journal() refuses a ${file} of which ${why.slice(0, 40)}`, () => {
    withRun((root, folder) => {
      edit(`${folder}/${file}`, spoil);
      assertEquals(
        assertThrows(() => new Journal(root, INFO), UserError).message,
        `Cannot read ${folder}/${file}: ${why}; ${
          file === "run.json" ? AFRESH : AGAIN
        }`,
      );
      using journal = new Journal(root, INFO, { fresh: true });
      const { run, rows, info } = journal;
      assertEquals([rows, info], [[], { ...INFO, run }]);
    });
  });
}

Deno.test("Journal.notes says of a damaged calibration that it was left out", () => {
  const whole = JSON.stringify(seal({ calibration: CALIBRATION }));
  const edited = whole.replace('"launch_us":2', '"launch_us":3');
  for (const content of ["", "{", "null", '{"marker_us":1}', edited]) {
    withRun((root, folder) => {
      const path = `${folder}/calibration.json`;
      Deno.writeTextFileSync(path, content);
      {
        using journal = new Journal(root, INFO);
        assertEquals([...journal.notes], [
          `Left out ${path}, which is damaged: the next worker writes it anew`,
        ]);
        assertEquals(journal.calibration, undefined);
      }
      using journal = new Journal(root, INFO);
      assertEquals([...journal.notes], []);
    });
  }
});

Deno.test("Journal() measures the case of a line again that was removed", () => {
  withRun((root, folder) => {
    edit(
      `${folder}/journal.jsonl`,
      (text) => text.slice(text.indexOf("\n") + 1),
    );
    using journal = new Journal(root, INFO);
    assertEquals(names(journal), ["b0"]);
    assertEquals([...journal.sampleLines()], []);
  });
});
