import { fileURLToPath } from "node:url";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { writeCsv } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { writeSamples } from "../../bench/row/samples.ts";
import { KEY_COLUMNS } from "../../bench/row/row.ts";
import {
  bookOf,
  type PageData,
  readPageData,
  type Run,
} from "../../report/page/browser/book.ts";
import { row, sweep } from "../../report/page/testdata/rows.ts";
import { program, type Ran } from "../testdata/program.ts";
import { temporary } from "../../bench/testdata/temporary.ts";

const HOME = fileURLToPath(new URL("../../", import.meta.url));
const ROWS = sweep(["cublas", "mine"], [16]);

function run(cwd: string, ...args: string[]): Promise<Ran> {
  return program(["report", ...args], { cwd });
}

function pageDataIn(path: string): Promise<PageData> {
  const html = Deno.readTextFileSync(path);
  return readPageData(/id="data">([^<]*)</.exec(html)![1]!);
}

/** The samples or quantiles of the only row of a page, in microseconds. */
async function seriesIn(path: string): Promise<readonly number[]> {
  const { now } = bookOf(await pageDataIn(path));
  return now.seriesOf(now.rows[0]!)!;
}

Deno.test("report writes one page of results/, the same each time", async () => {
  using at = temporary();
  Deno.mkdirSync(`${at.path}/results/test-gpu`, { recursive: true });
  Deno.writeTextFileSync(
    `${at.path}/results/test-gpu/skinny.csv`,
    writeCsv(ROWS),
  );
  const { code, stdout, stderr } = await run(at.path);
  assertEquals([code, stdout], [0, ""]);
  assertMatch(stderr, /^Rows of results\nreport\.html: 0\.\d\d MB/);
  const first = Deno.readTextFileSync(`${at.path}/report.html`);
  assertMatch(first, /<title>skinny on Test GPU<\/title>/);
  assertStrictEquals(first.includes(at.path), false);
  await run(at.path, "results", "--out", "again.html");
  assertStrictEquals(Deno.readTextFileSync(`${at.path}/again.html`), first);
});

const SEVEN = { median_us: "7", min_us: "7" };

Deno.test("report shows one timer of each suite, of both runs", async () => {
  using at = temporary();
  const graph = ROWS.map((one) => ({ ...one, timer: "graph", ...SEVEN }));
  const csv = (name: string, rows: readonly CsvRow[]) =>
    Deno.writeTextFileSync(`${at.path}/${name}`, writeCsv(rows));
  csv("a.csv", [...ROWS, ...graph.slice(1)]);
  csv("b.csv", [...ROWS, ...graph]);
  const timers = async (...args: string[]) => {
    const { stderr } = await run(at.path, ...args);
    const { now, base } = bookOf(await pageDataIn(`${at.path}/report.html`));
    const of = (one?: Run) =>
      one && [...new Set(one.rows.map(({ timer }) => timer))];
    return {
      now: of(now),
      base: of(base),
      said: /by (\w+); choose/.exec(stderr)?.[1],
    };
  };
  const one = ["do_bench"];
  assertEquals(await timers("a.csv"), {
    now: one,
    base: undefined,
    said: "graph",
  });
  const both = ["b.csv", "--against", "a.csv"];
  assertEquals(await timers(...both), { now: one, base: one, said: "graph" });
  assertEquals(await timers(...both, "--timer", "graph"), {
    now: ["graph"],
    base: ["graph"],
    said: undefined,
  });
});

Deno.test("report takes 16 quantiles of the row's own run along, or all samples", async () => {
  using at = temporary();
  const own = { ...ROWS[0]!, runs: "2", samples: "50", mean_us: "19.9995" };
  Deno.writeTextFileSync(`${at.path}/a.csv`, writeCsv([own]));
  const key = Object.fromEntries(KEY_COLUMNS.map((c) => [c, own[c]]));
  const line = (repeat: number, around: number, of = own.run) =>
    JSON.stringify({
      key,
      run: of,
      repeat,
      samples_ns: Array.from({ length: 50 }, (_, i) => around + i - 25),
    });
  await writeSamples(`${at.path}/a.samples.jsonl.gz`, [
    line(0, 19_000),
    line(1, 20_000),
    line(2, 20_000, "another-run"),
  ]);
  assertStrictEquals((await run(at.path, "a.csv")).code, 0);
  const few = await seriesIn(`${at.path}/report.html`);
  assertEquals([few.length, few[0]], [16, 19.975]);
});

Deno.test("report --against has the verdicts of diff, with their causes", async () => {
  using at = temporary();
  Deno.writeTextFileSync(
    `${at.path}/old.csv`,
    writeCsv([...ROWS, row({ k: "1" })]),
  );
  const slower = {
    ...ROWS[0]!,
    median_us: "30",
    q1_us: "29.9",
    q3_us: "30.1",
    driver: "590.2",
  };
  Deno.writeTextFileSync(
    `${at.path}/new.csv`,
    writeCsv([slower, ...ROWS.slice(1)]),
  );
  const { code } = await run(at.path, "new.csv", "--against", "old.csv");
  assertStrictEquals(code, 0);
  const { run: now, against, pairs } = await pageDataIn(
    `${at.path}/report.html`,
  );
  assertEquals(
    [now.label, now.rows, against!.label, against!.rows],
    ["new", 4, "old", 5],
  );
  assertEquals(
    pairs!.map(([now, base, verdict]) => [now, base, verdict]),
    [
      [-1, 4, "missing"],
      [0, 0, "slower"],
      ...[1, 2, 3].map((at) => [at, at, "same"]),
    ],
  );
  assertMatch(pairs![1]![3], /what else changed: driver 580\.1 -> 590\.2/);
});

Deno.test("report refuses what it cannot show in one line", async () => {
  using at = temporary();
  Deno.writeTextFileSync(`${at.path}/a.csv`, writeCsv(ROWS));
  Deno.writeTextFileSync(`${at.path}/b.csv`, writeCsv(ROWS));
  Deno.writeTextFileSync(`${at.path}/none.csv`, writeCsv([]));
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [
      ["a.csv", "b.csv"],
      2,
      /b\.csv: line 2, .*the same case as on line 2 of .*a\.csv/,
    ],
    [["gone.csv"], 2, /gone\.csv/],
    [["none.csv"], 3, /none\.csv: there is no row/],
    [["a.csv", "b.csv", "--against", "a.csv"], 2, /one PATH, and there are 2/],
    [["a.csv", "--check"], 2, /--check is for --splice/],
    [
      ["a.csv", "--threshold", "3"],
      2,
      /--threshold is for verdicts: name an older run with --against, or/,
    ],
    [["a.csv", "--splice", "x.md"], 2, /--splice takes no other input/],
    [["a.csv", "--out", "no/such/folder.html"], 2, /Cannot write no\/such/],
    [
      ["a.csv", "--out", "a.csv"],
      2,
      /a\.csv: the file there is not a page made/,
    ],
  ];
  for (const [args, expected, message] of cases) {
    const { code, stdout, stderr } = await run(at.path, ...args);
    assertEquals([code, stdout], [expected, ""], args.join(" "));
    assertMatch(stderr, message);
    assertStrictEquals(stderr.trimEnd().split("\n").length, 1, stderr);
  }
});

Deno.test("report --splice refuses a text that is not UTF-8, and leaves it", async () => {
  using file = text("");
  const bytes = Uint8Array.from([0x63, 0xe9, 0x0a]);
  Deno.writeFileSync(file.path, bytes);
  const { code, stderr } = await run(HOME, "--splice", file.path);
  assertStrictEquals(code, 2);
  assertMatch(stderr, /^error: Cannot read \S+: line 1 is not UTF-8 text; /);
  assertEquals(Deno.readFileSync(file.path), bytes);
});

/** A text that is gone after the test. */
function text(content: string): { path: string } & Disposable {
  const path = Deno.makeTempFileSync({ suffix: ".md" });
  Deno.writeTextFileSync(path, content);
  return { path, [Symbol.dispose]: () => Deno.removeSync(path) };
}

const COMMAND =
  "table results/published/decompose-k-v3.csv --suite matmul-fp32 --kernel decomposeK,torch.mm --wins";
const BEFORE = `# Results

<!-- mnkbench:begin ${COMMAND} -->
<!-- mnkbench:end -->

The end
`;

Deno.test("report --splice fills a text once, and --check finds it stale", async () => {
  using file = text(BEFORE);
  const check = () => run(HOME, "--splice", file.path, "--check");
  const stale = await check();
  assertEquals([stale.code, stale.stdout], [1, ""]);
  assertMatch(stale.stderr, /line 3 is stale: table results/);
  assertStrictEquals(Deno.readTextFileSync(file.path), BEFORE);

  const filled = await run(HOME, "--splice", file.path);
  assertEquals([filled.code, filled.stdout], [0, ""]);
  assertMatch(filled.stderr, /: 1 tables, 1 of them changed$/m);
  assertStrictEquals(
    Deno.readTextFileSync(file.path),
    `# Results

<!-- mnkbench:begin ${COMMAND} -->
<!-- deno-fmt-ignore-start -->

**matmul-fp32 on NVIDIA H100: how many times as fast as torch.mm**

| kernel | wins/ties/losses | min | median | max | geomean |
| --- | ---: | ---: | ---: | ---: | ---: |
| decomposeK | 28/0/0 | 1.275 | 1.471 | 1.879 | 1.485 |

- a tie: the same time to the last recorded digit

Made by \`npx -y deno@2.9.6 task ${COMMAND}\`.

<!-- deno-fmt-ignore-end -->
<!-- mnkbench:end -->

The end
`,
  );
  assertEquals((await check()).code, 0);
  const again = await run(HOME, "--splice", file.path);
  assertMatch(again.stderr, /: 1 tables, 0 of them changed$/m);
});

Deno.test("report --splice leaves a text that the formatter accepts", async () => {
  using file = text(BEFORE);
  assertStrictEquals((await run(HOME, "--splice", file.path)).code, 0);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--check", file.path],
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});

/** Commands between markers, and how each is refused. */
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ["plot results", /line 3 asks for plot, and only table can be spliced/],
  ["table --format csv", /line 3 chooses a format/],
  ["table --row cluster-k", /leave out --format and --row/],
  ["table --nope", /line 3: .*--nope/],
  ["table nowhere", /line 3: Cannot read nowhere/],
  [
    "table results/published/decompose-k-v3.csv --kernel x",
    /line 3: No kernel/,
  ],
];

for (const [command, why] of REFUSED) {
  Deno.test(`report --splice refuses ${command}, naming the line`, async () => {
    using file = text(BEFORE.replace(COMMAND, command));
    const { code, stderr } = await run(HOME, "--splice", file.path);
    assertStrictEquals(code, 2);
    assertMatch(stderr, /^error: Cannot splice .*\.md: [^\n]*\n$/);
    assertMatch(stderr, why);
    assertStrictEquals(
      Deno.readTextFileSync(file.path),
      BEFORE.replace(COMMAND, command),
    );
  });
}
