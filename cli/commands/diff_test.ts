import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import { csvRow, placed } from "../../report/testdata/csv_rows.ts";
import { program } from "../testdata/program.ts";
import { summarizeDiff } from "../../report/diff/diff.ts";
import type { Verdict } from "../../report/diff/verdict.ts";
import { nextStep } from "./diff.ts";

/** What the task `diff` may do. */
const permissions = ["--allow-read", "--allow-env"];

Deno.test("diff compares with no more than its task's permissions, in any format", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [base, next] = [join(folder, "base.csv"), join(folder, "next.csv")];
    await Deno.writeTextFile(base, writeCsv([csvRow()]));
    await Deno.writeTextFile(next, writeCsv([csvRow({ median_us: "11" })]));
    const diff = (...args: string[]) =>
      program(["diff", ...args], { permissions });

    const text = await diff(base, next);
    assertEquals(text.code, 1);
    assertEquals(
      text.stderr.replace(/: \S.*(?= compare )/, ":"),
      `Next, as 1 slower row is of a single run or noisy, measure both builds again in turns: compare ${base} ${next} --suite FILE, where FILE has the suite s\n`,
    );
    // The suite of a kernel file has the name of its path.
    await Deno.mkdir(join(folder, "my_own", "deep"), { recursive: true });
    await Deno.writeTextFile(join(folder, "my_own", "deep", "good.c"), "");
    const suite = "my_own_deep_good.c";
    await Deno.writeTextFile(base, writeCsv([csvRow({ suite })]));
    const slow = csvRow({ suite, median_us: "11" });
    await Deno.writeTextFile(next, writeCsv([slow]));
    const source = await program(["diff", "base.csv", "next.csv"], {
      permissions,
      cwd: folder,
    });
    assertMatch(
      source.stderr,
      / compare base\.csv next\.csv --suite \.\/my_own\/deep\/good\.c\n$/,
    );
    await Deno.writeTextFile(base, writeCsv([csvRow()]));
    await Deno.writeTextFile(next, writeCsv([csvRow({ median_us: "11" })]));

    assertMatch(text.stdout, /^slower {2}s kernel 16×16×8192 .*\+10\.0 %/);

    const json = await diff(base, next, "--format", "json", "--only", "same");
    assertEquals(json.code, 1);
    assertEquals(json.stderr, "");
    assertEquals(JSON.parse(json.stdout).rows, []);

    const junit = await diff(
      base,
      next,
      "--format",
      "junit",
      "--fail-on",
      "none",
    );
    assertEquals(junit.code, 0);
    assertMatch(junit.stdout, /<testsuites tests="1" failures="0" time="/);

    const wide = await diff(base, next, "--threshold", "12", "--format", "md");
    assertEquals(wide.code, 0);
    assertMatch(wide.stdout, /^0 broken.*1 same$/m);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("diff compares only the rows that are chosen", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const rows = (median_us: string) =>
      writeCsv([
        csvRow({ median_us }),
        csvRow({ median_us, kernel: "other" }),
        csvRow({ median_us, m: "32" }),
        csvRow({ median_us, suite: "mine.c" }),
      ]);
    await Deno.writeTextFile(join(folder, "base.csv"), rows("10"));
    await Deno.writeTextFile(join(folder, "next.csv"), rows("11"));
    const diff = async (...args: string[]) => {
      const { code, stdout, stderr } = await program(
        ["diff", "base.csv", "next.csv", ...args],
        { permissions, cwd: folder },
      );
      const slower = [...stdout.matchAll(/^slower +(\S+ \S+ \S+)/gm)];
      return [code, slower.map(([, title]) => title), stderr] as const;
    };
    const next = (words: string) =>
      `Next, as 1 slower row is of a single run or noisy, measure both builds again in turns: compare base.csv next.csv ${words}, where FILE has the suite s\n`;
    const cases: readonly (readonly [readonly string[], string, string])[] = [
      [
        ["--kernel", "other"],
        "s other 16×16×8192",
        next("--kernel other --suite FILE"),
      ],
      [["--m", "32"], "s kernel 32×16×8192", next("--where m=32 --suite FILE")],
    ];
    for (const [args, title, stderr] of cases) {
      const [code, titles, said] = await diff(...args);
      assertEquals([code, titles], [1, [title]]);
      assertEquals(said.replace(/: \S.*(?= compare )/, ":"), stderr);
    }
    // A kernel file stands for its suite.
    const [, own] = await diff("--suite", "./mine.c");
    assertEquals(own, ["mine.c kernel 16×16×8192"]);
    for (
      const [args, code, said] of [
        [["--kernel", "othr"], 2, "is named othr: did you mean other?"],
        [["--suite", "t"], 2, "No suite in these rows is named t"],
        [["--kernel", "other", "--m", "32"], 3, "No row has kernel other and"],
      ] as const
    ) {
      const found = await diff(...args);
      assertEquals([found[0], found[1]], [code, []]);
      assertMatch(found[2], new RegExp(RegExp.escape(said)));
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("diff tells of rows that fail on both sides, and of limits of no row", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [rows, limits] = [join(folder, "a.csv"), join(folder, "c.json")];
    const wrong = csvRow({ status: "wrong", median_us: "" });
    await Deno.writeTextFile(rows, writeCsv([wrong]));
    await Deno.writeTextFile(limits, '{ "suites": { "ss": {} } }');
    const { code, stderr } = await program(
      ["diff", rows, rows, "--config", limits],
      { permissions },
    );
    assertEquals(code, 0);
    assertMatch(stderr, /^1 row fails on both sides, which is no change: /m);
    assertMatch(stderr, /c\.json has limits of suite ss, of which no row is$/m);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("diff ends with 2 or 3 and one line for what it cannot read", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [good, bad] = [join(folder, "good.csv"), join(folder, "bad.csv")];
    await Deno.writeTextFile(good, writeCsv([csvRow()]));
    await Deno.writeTextFile(bad, writeCsv([csvRow({ median_us: "NaN" })]));
    await Deno.mkdir(join(folder, "empty"));
    const cases: readonly (readonly [string[], number, RegExp])[] = [
      [[good, bad], 2, /bad\.csv: line 2, column median_us is "NaN"/],
      [
        [join(folder, "empty"), good],
        3,
        /no CSV of results is in it or in its folders/,
      ],
      [[good], 2, /NEW/],
      [[good, good, "--fail-on", "slow"], 2, /slow is not a verdict/],
    ];
    for (const [args, code, why] of cases) {
      const ran = await program(["diff", ...args], { permissions });
      assertEquals(ran.code, code, ran.stderr);
      assertEquals(ran.stdout, "");
      assertMatch(ran.stderr, why);
      assertMatch(ran.stderr, /^error: .*\n(Options and examples: .*\n)?$/);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("diff ends with 3 where no case is in both", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [none, some] = [join(folder, "none.csv"), join(folder, "some.csv")];
    await Deno.writeTextFile(none, writeCsv([]));
    await Deno.writeTextFile(some, writeCsv([csvRow()]));
    const { code, stdout, stderr } = await program(["diff", none, some], {
      permissions,
    });
    assertMatch(stdout, /^new +s kernel/);
    assertEquals(
      stderr,
      `Nothing was compared: no case is in both ${none} and ${some}\n`,
    );
    assertEquals(code, 3);
    // Without paths too, and by `compare`.
    await Deno.mkdir(join(folder, "results/x"), { recursive: true });
    await Deno.mkdir(join(folder, ".runs/latest/x"), { recursive: true });
    const other = writeCsv([csvRow({ m: "32" })]);
    await Deno.writeTextFile(join(folder, "results/x/a.csv"), other);
    await Deno.rename(some, join(folder, ".runs/latest/x/a.csv"));
    const [usual, again] = [
      await program(["diff"], { permissions, cwd: folder }),
      await program(["compare"], { cwd: folder }),
    ];
    const last =
      "Nothing was compared: no case is in both results and .runs/latest\n";
    for (const ran of [usual, again]) {
      assertEquals(
        [ran.code, ran.stderr.endsWith(last)],
        [3, true],
        ran.stderr,
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const PATHS = {
  base: "results/cpu",
  next: "my new.csv",
  suites: [],
  kernels: [],
  point: {},
};
const SUITE = { suite: "matmul-fp32" };
const QUIET = { ...SUITE, runs: "5", between_run_us: "0.1", mean_us: "10" };
type Fields = Parameters<typeof placed>[0];

/** Returns the line for a pair with `fields` on one side, without the name of the program. */
function line(
  fields: Fields,
  { verdict = "slower", ...options }:
    & { verdict?: Verdict }
    & Partial<
      Parameters<typeof nextStep>[1]
    > = {},
) {
  const pair = { base: placed({ ...QUIET, ...fields }), next: placed(QUIET) };
  const swapped = { base: pair.next, next: pair.base };
  const found = summarizeDiff([{ pair, verdict, why: "" }]);
  const other = summarizeDiff([{ pair: swapped, verdict, why: "" }]);
  const said = nextStep(found, { ...PATHS, ...options });
  assertEquals(nextStep(other, { ...PATHS, ...options }), said);
  return said?.replace(/: (deno task|mnkbench|npx \S+ \S+ task) /, ": ");
}

const LINE =
  "Next, as 1 slower row is of a single run or noisy, measure both builds again in turns: compare results/cpu 'my new.csv'";

Deno.test("nextStep() names the command for rows of one run, and for noisy ones", () => {
  assertEquals(line({ runs: "1", between_run_us: "" }), LINE);
  assertEquals(line({ q3_us: "14" }), LINE);
  assertEquals(line({ between_run_us: "2" }), LINE);
});

Deno.test("nextStep() repeats the limits, and asks for the file of a suite of one's own", () => {
  assertEquals(
    line({ runs: "1" }, { threshold: 5, minUs: 1, config: "a b.json" }),
    `${LINE} --threshold 5 --min-us 1 --config 'a b.json'`,
  );
  const own = placed({ ...QUIET, suite: "mine", runs: "1" });
  const found = summarizeDiff([
    { pair: { base: own, next: own }, verdict: "slower", why: "" },
  ]);
  assertEquals(
    nextStep(found, PATHS)!.endsWith(
      "'my new.csv' --suite FILE, where FILE has the suite mine",
    ),
    true,
  );
});

Deno.test("nextStep() says nothing of several quiet runs, of other verdicts and of peers", () => {
  assertEquals(line({}), undefined);
  assertEquals(line({ runs: "1" }, { verdict: "faster" }), undefined);
  const peer = placed({
    ...QUIET,
    runs: "1",
    kernel: "torch-compiled",
    library: "torch 2.11.0",
  });
  const found = summarizeDiff([
    { pair: { base: peer, next: peer }, verdict: "slower", why: "" },
  ]);
  assertEquals(nextStep(found, PATHS), undefined);
});

Deno.test("nextStep() names the command for rows that are unclear", () => {
  const said = line({}, { verdict: "unclear" });
  assertEquals(
    said,
    "Next, as 1 row is unclear, measure both builds again in turns: compare results/cpu 'my new.csv'",
  );
});
