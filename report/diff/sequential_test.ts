import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { generator } from "../../bench/measure/bootstrap.ts";
import { median } from "../../bench/measure/stats.ts";
import { normal } from "../../bench/testdata/samples.ts";
import { evidenceOf, readRows } from "../../session/read_rows.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { type Evidence, studentQuantile } from "./interval.ts";
import { joined, lookAt, LOOKS, meanSpread } from "./sequential.ts";
import type { Verdict } from "./verdict.ts";

/** Draws the samples of one round, nanoseconds. */
type Draw = () => readonly number[];

function roundOf(samples: readonly number[]): Evidence {
  const median_us = `${median(samples) / 1e3}`;
  return {
    row: csvRow({ median_us, samples: `${samples.length}`, sol_us: "" }),
    repeats: [samples],
  };
}

/** Measures until the case is settled, as `compare` does. */
function sequence(
  draw: Draw,
  { slower, cases, relative, minUs }: {
    /** Relative. */
    readonly slower: number;
    readonly cases: number;
    readonly relative: number;
    readonly minUs: number;
  },
): { readonly verdict: Verdict; readonly rounds: number } {
  const sides: [Evidence[], Evidence[]] = [[], []];
  const plan = { looks: LOOKS.length, cases };
  let verdict: Verdict = "unclear";
  for (const rounds of LOOKS) {
    while (sides[0].length < rounds) {
      sides[0].push(roundOf(draw()));
      sides[1].push(roundOf(draw().map((ns) => ns * (1 + slower))));
    }
    const [base, next] = [joined(sides[0]), joined(sides[1])];
    const place = { file: "f", line: 1 };
    const look = lookAt(
      { base: { ...place, row: base.row }, next: { ...place, row: next.row } },
      { rounds: [base, next], plan, threshold: { relative, minUs } },
    );
    verdict = look.judged.verdict;
    if (look.settled) return { verdict, rounds };
  }
  return { verdict, rounds: LOOKS.at(-1)! };
}

/** Runs `trials` sequences. @returns Those that end with "slower", and the mean of their rounds. */
function trials(
  count: number,
  draws: readonly Draw[],
  how: Parameters<typeof sequence>[1],
): { readonly slower: number; readonly rounds: number } {
  const all = Array.from(
    { length: count },
    (_, i) => sequence(draws[i % draws.length]!, how),
  );
  return {
    slower: all.filter(({ verdict }) => verdict === "slower").length,
    rounds: all.reduce((sum, { rounds }) => sum + rounds, 0) / count,
  };
}

/** Normal rounds whose medians differ by `between`, with a few samples around each. */
function normalRounds(between: number): Draw {
  const random = generator(7);
  return () => {
    const center = 1e4 * (1 + between * normal(random));
    return Array.from(
      { length: 15 },
      () => center * (1 + 0.005 * normal(random)),
    );
  };
}

Deno.test("lookAt() finds 3 % in 95 % of 40, with at most 1 % false alarms, of normal rounds", () => {
  const limits = { relative: 0.01, minUs: 0.05 };
  const draws = [normalRounds(0.008)];
  const found = trials(40, draws, { slower: 0.03, cases: 1, ...limits });
  assert(found.slower >= 38, `found ${found.slower} of 40`);
  // Without thresholds the interval alone decides.
  const none = { relative: 0, minUs: 0 };
  const alarms = trials(500, draws, { slower: 0, cases: 1, ...none });
  assert(alarms.slower <= 5, `${alarms.slower} alarms`);
  // A look at the plain interval each time has several times as many.
  const naive = trials(500, draws, { slower: 0, cases: 0.25, ...none });
  assert(naive.slower > 5, `${naive.slower} alarms`);
});

Deno.test("lookAt() finds 3 % in 95 % of 40, with at most 1 % false alarms, of H200 samples", async () => {
  const file = new URL(
    "../../results/nvidia-h200/epilogue-bf16.csv",
    import.meta.url,
  );
  const rows = (await readRows([file.pathname]))
    .filter(({ row }) => row.runs === "5").slice(0, 20);
  const random = generator(3);
  const draws = [...(await evidenceOf(rows)).values()].map(
    ({ repeats }): Draw => () => {
      // Another process, and a stretch of what it measured.
      const all = repeats![Math.floor(random() * repeats!.length)]!;
      const start = Math.floor(random() * (all.length - 300));
      return all.slice(start, start + 300);
    },
  );
  assertEquals(draws.length, 20);
  const how = { cases: 28, relative: 0.01, minUs: 0.05 };
  const found = trials(40, draws, { ...how, slower: 0.03 });
  assert(found.slower >= 38, `found ${found.slower} of 40`);
  const alarms = trials(200, draws, { ...how, slower: 0 });
  assert(alarms.slower <= 2, `${alarms.slower} alarms`);
  assert(alarms.rounds < 8, `${alarms.rounds} rounds`);
});

Deno.test("lookAt() calls no code slower whose processes differ by half the threshold", () => {
  const how = { slower: 0.005, cases: 1, relative: 0.01, minUs: 0.05 };
  const { slower } = trials(200, [normalRounds(0.004)], how);
  assert(slower <= 2, `${slower} alarms`);
});

Deno.test("lookAt() settles no row that rounds leave open", () => {
  const sides = (next: number, between: number) => {
    const of = (us: number) =>
      joined(
        [-1, 0, 1].map((step) =>
          roundOf(Array(9).fill(1e3 * us * (1 + step * between)))
        ),
      );
    return [of(10), of(next)] as const;
  };
  const look = (next: number, between: number) => {
    const rounds = sides(next, between);
    const [base, other] = rounds.map(({ row }) => ({
      file: "f",
      line: 1,
      row,
    }));
    const { judged, settled } = lookAt({ base: base!, next: other! }, {
      rounds,
      plan: { looks: 4, cases: 1 },
      threshold: { relative: 0.01, minUs: 0.05 },
    });
    return [judged.verdict, settled];
  };
  assertEquals(look(10, 0.001), ["same", true]);
  assertEquals(look(10, 0.02), ["same", false]);
  assertEquals(look(10.3, 0.02), ["unclear", false]);
  assertEquals(look(10.3, 0.001), ["slower", true]);
  // Three rounds are apart by their ranks too often.
  assertEquals(look(10.86, 0.02), ["unclear", false]);
});

Deno.test("joined() takes the middle of all rounds, and a failed one for all", () => {
  const round = (us: number) => roundOf(Array(9).fill(1e3 * us));
  const { row, repeats } = joined([round(10), round(30), round(11)]);
  assertEquals([row.median_us, row.runs, repeats?.length], ["11", "3", 3]);
  assertAlmostEquals(meanSpread([{ row }])!, 11.27 / 11, 1e-3);
  assertEquals(meanSpread([round(10)]), undefined);
  const failed = { row: csvRow({ status: "wrong", median_us: "" }) };
  assertEquals(joined([round(10), failed]), failed);
});

Deno.test("studentQuantile() agrees with tables at other levels", () => {
  assertAlmostEquals(studentQuantile(1, 0.975), 12.706, 1e-3);
  assertAlmostEquals(studentQuantile(4, 0.9975), 5.598, 1e-3);
  assertAlmostEquals(studentQuantile(22, 0.9999), 4.452, 1e-3);
  assertAlmostEquals(studentQuantile(1e9), 2.3263, 3e-3);
});
