import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { keyText } from "../../bench/row/row.ts";
import { formatSamples, writeSamples } from "../../bench/row/samples.ts";
import { formatEffects, keyFields } from "../../report/diff/mde.ts";
import { csvRow, placed } from "../../report/testdata/csv_rows.ts";
import { VERDICT_CASES } from "../../report/testdata/verdict_cases.ts";
import { VERDICTS } from "../../report/diff/verdict.ts";
import { exitCodeOfDiff } from "../../cli/commands/diff/compare.ts";
import {
  compareRows,
  FAIL_ON,
  type Judging,
  limitsOf,
  withoutUnmeasuredPeers,
  withoutUnmeasuredTimings,
} from "./compare_rows.ts";

/** Both sides, and how they are compared. */
interface Comparing extends Judging {
  readonly base: string;
  readonly next: string;
}

/** A folder with `base` and `next` as CSVs, and how they are compared. */
async function within(
  { base, next }: { base: readonly CsvRow[]; next: readonly CsvRow[] },
  test: (options: Comparing, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const options: Comparing = {
      base: join(folder, "base.csv"),
      next: join(folder, "next.csv"),
    };
    await Deno.writeTextFile(options.base, writeCsv(base));
    await Deno.writeTextFile(options.next, writeCsv(next));
    await test(options, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const { what, base, next, verdict, code } of VERDICT_CASES) {
  Deno.test(`exitCodeOfDiff() is ${code} for ${verdict}: ${what}`, () =>
    within(
      {
        base: base ? [csvRow(base)] : [],
        next: next ? [csvRow(next)] : [],
      },
      async (options) => {
        const diff = await compareRows(options);
        assertEquals(diff.counts[verdict], 1);
        assertEquals(exitCodeOfDiff(diff, FAIL_ON), code);
      },
    ));
}

Deno.test("exitCodeOfDiff() is the highest that applies, of what to fail on", () =>
  within(
    {
      base: [csvRow(), csvRow({ kernel: "b" }), csvRow({ kernel: "c" })],
      next: [
        csvRow({ median_us: "11" }),
        csvRow({ kernel: "b", status: "oom", median_us: "" }),
      ],
    },
    async (options) => {
      const diff = await compareRows(options);
      assertEquals(
        [diff.counts.slower, diff.counts.broken, diff.counts.missing],
        [1, 1, 1],
      );
      assertEquals(exitCodeOfDiff(diff, FAIL_ON), 4);
      assertEquals(exitCodeOfDiff(diff, ["slower", "missing"]), 3);
      assertEquals(exitCodeOfDiff(diff, ["slower"]), 1);
      assertEquals(exitCodeOfDiff(diff, []), 0);
      assertEquals(exitCodeOfDiff(diff, VERDICTS), 4);
    },
  ));

Deno.test("compareRows() takes the spread from samples beside the CSVs, of the same run only", () =>
  within(
    {
      base: [csvRow({ samples: "64", mean_us: "11.5" })],
      next: [csvRow({ median_us: "10.5" })],
    },
    async (options, folder) => {
      assertEquals((await compareRows(options)).counts.slower, 1);
      // By its samples the base may as well be a third slower.
      const samples = (run: string) => [
        formatSamples({
          key: JSON.parse(JSON.stringify(keyOfRow())),
          run,
          repeat: 0,
          samples_ns: Array.from(
            { length: 64 },
            (_, i) => i % 32 < 16 ? 9000 : 14000,
          ),
        }),
      ];
      const path = join(folder, "base.samples.jsonl.gz");
      await writeSamples(path, samples("r"));
      assertEquals((await compareRows(options)).counts.unclear, 1);
      await writeSamples(path, samples("another run"));
      assertEquals((await compareRows(options)).counts.slower, 1);
    },
  ));

function keyOfRow(): Record<string, string> {
  const { suite, op, kernel, backend, layout, m, n, k, params } = csvRow();
  const { a_type, b_type, c_type, acc_type } = csvRow();
  const types = { a_type, b_type, c_type, acc_type };
  const { timer, cache } = csvRow();
  const size = { layout, m, n, k, params };
  const key = { suite, op, kernel, backend, ...types, ...size, timer, cache };
  assertEquals(keyText(key), keyText(csvRow()));
  return key;
}

Deno.test("compareRows() takes thresholds from the flags, then from the file, by suite", () =>
  within(
    {
      base: [csvRow(), csvRow({ suite: "t" })],
      next: [
        csvRow({ median_us: "11" }),
        csvRow({ suite: "t", median_us: "11" }),
      ],
    },
    async (options, folder) => {
      const config = join(folder, "diff.json");
      await Deno.writeTextFile(config, '{"suites": {"t": {"threshold": 15}}}');
      assertEquals(
        (await compareRows({ ...options, config })).counts.slower,
        1,
      );
      const flags = { ...options, config, threshold: 5 };
      assertEquals((await compareRows(flags)).counts.slower, 2);
      assertEquals(
        (await compareRows({ ...options, minUs: 1.5 })).counts.slower,
        0,
      );
      const error = await assertRejects(
        () => compareRows({ ...options, config: join(folder, "none.json") }),
        UserError,
      );
      assertEquals(error.code, EXIT.usage);
    },
  ));

Deno.test("compareRows() holds each row to its detectable effect where that is above the threshold", () =>
  within(
    {
      base: ["a", "b", "c", "d"].map((kernel) => csvRow({ kernel })),
      next: [
        csvRow({ kernel: "a", median_us: "10.7" }),
        csvRow({ kernel: "b", median_us: "10.8" }),
        csvRow({ kernel: "c", median_us: "9.3" }),
        csvRow({ kernel: "d", median_us: "10.5" }),
      ],
    },
    async (options, folder) => {
      const rows = ["a", "b", "c"].map((kernel) => ({
        key: keyFields(csvRow({ kernel })),
        mde: 0.0757,
      }));
      const effects = formatEffects({ device: "Fake 1", runs: 5, rows });
      const verdicts = async (threshold?: number) => {
        const { judged } = await compareRows({ ...options, threshold });
        return Object.fromEntries(
          judged.map(({ pair, verdict, why }) => [
            pair.base!.row.kernel,
            why === "" ? verdict : `${verdict}: ${why}`,
          ]),
        );
      };
      const within = "unclear: within its detectable effect of 7.6 %";
      const expected = {
        a: within,
        b: "slower: beyond its detectable effect of 7.6 %",
        // Base and new in the other order are as far apart.
        c: within,
        d: "slower",
      };
      const besideNext = join(folder, "next.mde.json");
      await Deno.writeTextFile(besideNext, effects);
      assertEquals(await verdicts(), expected);
      await Deno.rename(besideNext, join(folder, "base.mde.json"));
      assertEquals(await verdicts(), expected);
      assertEquals((await verdicts(7.8)).b, "slower");
      assertEquals((await verdicts(9)).a, "same");
    },
  ));

Deno.test("compareRows() refuses two CSVs without a row", () =>
  within({ base: [], next: [] }, async (options) => {
    const error = await assertRejects(() => compareRows(options), UserError);
    assertEquals(error.code, EXIT.nothing);
  }));

const ours = { kernel: "cublas", backend: "cuda" };
const peer = { kernel: "torch-eager", library: "torch 2.11.0" };
const other = { suite: "other" };

/** The kernels of BASE that are left beside NEW, and what is said. */
function left(
  base: readonly Parameters<typeof csvRow>[0][],
  next: readonly Parameters<typeof csvRow>[0][],
) {
  const { rows, note } = withoutUnmeasuredPeers(
    base.map((row) => placed(row)),
    next.map((row) => placed(row)),
  );
  return { kernels: rows.map(({ row }) => row.kernel), note };
}

Deno.test("withoutUnmeasuredPeers() drops peers where NEW has none, and says so", () => {
  const { kernels, note } = left([ours, peer], [ours]);
  assertEquals(kernels, ["cublas"]);
  assertMatch(
    note!,
    /^1 rows of peers are not compared, .*: add --peers torch/,
  );
});

Deno.test("withoutUnmeasuredPeers() keeps peers of a run with peers, and of a suite that was not run", () => {
  const all = ["cublas", "torch-eager"];
  const triton = { ...peer, kernel: "triton-decompose-k" };
  for (const next of [[ours, triton], [{ ...ours, ...other }], []]) {
    const { kernels, note } = left([ours, peer], next);
    assertEquals(kernels, all);
    assertEquals(note, undefined);
  }
});

Deno.test("withoutUnmeasuredPeers() knows peers by their library, not by their names", () => {
  const { kernels } = left([{ ...peer, library: "cublas 13.0" }], [ours]);
  assertEquals(kernels, ["torch-eager"]);
});

/** The timers of BASE that are left beside NEW, and what is said. */
function timersLeft(
  base: readonly Parameters<typeof csvRow>[0][],
  next: readonly Parameters<typeof csvRow>[0][],
) {
  const { rows, note } = withoutUnmeasuredTimings(
    base.map((row) => placed(row)),
    next.map((row) => placed(row)),
  );
  return { timers: rows.map(({ row }) => row.timer), note };
}

const [stream, graph] = [{ timer: "do_bench" }, { timer: "graph" }];

Deno.test("withoutUnmeasuredTimings() drops timers that NEW lacks beside one that both have", () => {
  const { timers, note } = timersLeft([stream, graph], [stream]);
  assertEquals(timers, ["do_bench"]);
  assertMatch(
    note!,
    /^1 rows timed by graph are not compared, as NEW has none/,
  );
  const warm = { ...stream, cache: "warm" };
  assertEquals(
    timersLeft([stream, warm], [warm]).note?.slice(0, 29),
    "1 rows timed by do_bench are ",
  );
});

Deno.test("withoutUnmeasuredTimings() keeps what NEW measured, other suites, and what has nothing in common", () => {
  for (const next of [[stream, graph], [{ ...stream, ...other }], []]) {
    assertEquals(timersLeft([stream, graph], next), {
      timers: ["do_bench", "graph"],
      note: undefined,
    });
  }
  const batch = { timer: "batch:4" };
  assertEquals(timersLeft([stream, graph], [batch]).timers.length, 2);
  // The timer of peers is graph, whatever that of ours is.
  const peers = { ...peer, ...graph };
  assertEquals(timersLeft([stream, peers], [stream]).timers.length, 2);
});

Deno.test("limitsOf() refuses a threshold that is no amount", () => {
  for (const threshold of [NaN, -1, Infinity]) {
    assertThrows(() => limitsOf({ threshold }), UserError, "at least 0");
  }
});
