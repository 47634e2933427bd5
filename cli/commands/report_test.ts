import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { writeCsv } from "../../bench/row/csv.ts";
import { writeSamples } from "../../bench/row/samples.ts";
import { KEY_COLUMNS } from "../../bench/row/row.ts";
import type { PageData } from "../../report/page/browser/page_data.ts";
import { row, sweep } from "../../report/page/testdata/rows.ts";
import { program, type Ran } from "../testdata/program.ts";

const ROWS = sweep(["cublas", "mine"], [16]);

/** A folder that is gone after the test. */
function folder(): { path: string } & Disposable {
  const path = Deno.makeTempDirSync();
  return {
    path,
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

function run(cwd: string, ...args: string[]): Promise<Ran> {
  // No network, no subprocess, no library.
  const permissions = ["--allow-read", "--allow-write", "--allow-env"];
  return program(["report", ...args], { cwd, permissions });
}

function pageDataIn(path: string): PageData {
  const html = Deno.readTextFileSync(path);
  return JSON.parse(/id="data">([^]*?)<\/script>/.exec(html)![1]!);
}

Deno.test("report writes one page of results/, the same each time", async () => {
  using at = folder();
  Deno.mkdirSync(`${at.path}/results/test-gpu`, { recursive: true });
  Deno.writeTextFileSync(
    `${at.path}/results/test-gpu/skinny.csv`,
    writeCsv(ROWS),
  );
  const { code, stdout, stderr } = await run(at.path);
  deepStrictEqual([code, stdout], [0, ""]);
  match(stderr, /^report\.html: 0\.\d\d MB/);
  const first = Deno.readTextFileSync(`${at.path}/report.html`);
  match(first, /<title>skinny on Test GPU<\/title>/);
  strictEqual(first.includes(at.path), false);
  await run(at.path, "results", "--out", "again.html");
  strictEqual(Deno.readTextFileSync(`${at.path}/again.html`), first);
});

Deno.test("report takes 16 quantiles of the row's own run along, or all samples", async () => {
  using at = folder();
  const [own] = ROWS;
  Deno.writeTextFileSync(`${at.path}/a.csv`, writeCsv([own!]));
  const key = Object.fromEntries(KEY_COLUMNS.map((c) => [c, own![c]]));
  const line = (repeat: number, around: number, of = own!.run) =>
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
  strictEqual((await run(at.path, "a.csv")).code, 0);
  const few = pageDataIn(`${at.path}/report.html`).run;
  strictEqual(few.samples, undefined);
  const quantiles = few.quantiles![0]!;
  strictEqual((quantiles as readonly number[]).length, 16);
  strictEqual((quantiles as readonly number[])[0], 19_975);
  await run(at.path, "a.csv", "--samples");
  const samples = pageDataIn(`${at.path}/report.html`).run.samples![0];
  strictEqual((samples as readonly number[]).length, 50);
});

Deno.test("report --against has the verdicts of diff, with their causes", async () => {
  using at = folder();
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
  strictEqual(code, 0);
  const { run: now, against, pairs } = pageDataIn(`${at.path}/report.html`);
  deepStrictEqual([now.label, now.rows, against!.label, against!.rows], [
    "new",
    4,
    "old",
    5,
  ]);
  deepStrictEqual(pairs!.now, [-1, 0, 1, 2, 3]);
  deepStrictEqual(pairs!.base, [4, 0, 1, 2, 3]);
  deepStrictEqual(pairs!.verdict, {
    cells: ["missing", "slower", "same", "same", "same"],
  });
  match(
    JSON.stringify(pairs!.why),
    /what else changed: driver 580\.1 -> 590\.2/,
  );
});

Deno.test("report refuses what it cannot show in one line", async () => {
  using at = folder();
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
    [["a.csv", "--splice", "x.md"], 2, /--splice takes no other input/],
    [["a.csv", "--out", "no/such/folder.html"], 2, /Cannot write no\/such/],
  ];
  for (const [args, expected, message] of cases) {
    const { code, stdout, stderr } = await run(at.path, ...args);
    deepStrictEqual([code, stdout], [expected, ""], args.join(" "));
    match(stderr, message);
    strictEqual(stderr.trimEnd().split("\n").length, 1, stderr);
  }
});
