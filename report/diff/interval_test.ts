import { assert, assertEquals } from "@std/assert";
import { quantile, spread, summarize } from "../../bench/measure/stats.ts";
import { generator } from "../../bench/measure/bootstrap.ts";
import { type Evidence, intervalOf } from "./interval.ts";
import { thresholdsOf } from "./thresholds.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { drifting, normal } from "../../bench/testdata/samples.ts";
import { judge, type Verdict } from "./verdict.ts";

const DEFAULT_THRESHOLD = thresholdsOf()("s");

/** The statistics of a simulated case. Deviations are per cent. */
interface Behaviour {
  readonly us: number;
  readonly runs: number;
  /** The deviation of the samples of one run. */
  readonly within: number;
  readonly correlation: number;
  /** The deviation of the runs. */
  readonly between: number;
  readonly kept?: boolean;
}

/** A measurement of such a case, as a row and what lies beside it. */
function measure(random: () => number, how: Behaviour): Evidence {
  const { us, runs, within, correlation, between, kept = true } = how;
  const repeats = Array.from({ length: runs }, () =>
    drifting(random, {
      n: 500,
      correlation,
      deviation: within,
      center: 1e3 * us * (1 + between * normal(random) / 100),
    }));
  const summaries = repeats.map(summarize)
    .toSorted((a, b) => a.median - b.median);
  const medians = summaries.map(({ median }) => median / 1e3);
  const middle = summaries[Math.ceil(runs / 2) - 1]!;
  const row = csvRow({
    median_us: `${quantile(medians, 0.5)}`,
    q1_us: `${middle.q1 / 1e3}`,
    q3_us: `${middle.q3 / 1e3}`,
    samples: "500",
    runs: `${runs}`,
    between_run_us: runs > 1 ? `${spread(medians)}` : "",
  });
  return kept ? { row, repeats } : { row };
}

/** The share of `verdict` among `trials` comparisons of such cases. */
function share(
  verdict: Verdict,
  { slower, trials = 200, ...how }: Omit<Behaviour, "us"> & {
    /** Per cent. */
    readonly slower: number;
    readonly trials?: number;
  },
): number {
  const random = generator(11);
  let found = 0;
  for (let i = 0; i < trials; i++) {
    const base = measure(random, { ...how, us: 20 });
    const next = measure(random, { ...how, us: 20 * (1 + slower / 100) });
    const place = { file: "a.csv", line: 2 };
    const said = judge(
      { base: { ...place, row: base.row }, next: { ...place, row: next.row } },
      { threshold: DEFAULT_THRESHOLD, interval: () => intervalOf(base, next) },
    );
    if (said.verdict === verdict) found++;
  }
  return found / trials;
}

const NOISY = { correlation: 0.9, between: 0 };

Deno.test("intervalOf() lets 5 % at a spread of 1 % be found in 95 % of rows", () => {
  const one = share("slower", { ...NOISY, slower: 5, within: 1, runs: 1 });
  assert(one >= 0.95, `one run: ${one}`);
  const drift = { within: 1, correlation: 0.9, between: 1 };
  const five = share("slower", { ...drift, slower: 5, runs: 5, trials: 80 });
  assert(five >= 0.95, `five runs that differ by 1 %: ${five}`);
  const rows = share("slower", {
    ...NOISY,
    slower: 5,
    within: 1,
    runs: 1,
    kept: false,
  });
  assert(rows >= 0.95, `without samples: ${rows}`);
});

Deno.test("intervalOf() lets 10 % at a spread of 3 % be found in 95 % of rows", () => {
  const one = share("slower", { ...NOISY, slower: 10, within: 3, runs: 1 });
  assert(one >= 0.95, `one run: ${one}`);
  const drift = { within: 3, correlation: 0.9, between: 3 };
  const five = share("slower", { ...drift, slower: 10, runs: 5, trials: 80 });
  assert(five >= 0.95, `five runs that differ by 3 %: ${five}`);
});

Deno.test("intervalOf() lets hardly a row of the same code be found slower", () => {
  // One in a hundred is what the interval lets pass; two of 200 trials are so many or few.
  const noise = { within: 5, between: 0, slower: 0, runs: 1 };
  const one = share("slower", { ...noise, correlation: 0.9 });
  assert(one <= 0.02, `samples that follow each other: ${one}`);
  // Here 500 samples are worth 8, of which no method makes more.
  const long = share("slower", { ...noise, correlation: 0.97 });
  assert(long <= 0.02, `samples that follow each other for long: ${long}`);
  const runs = { within: 1, correlation: 0.5, between: 8 };
  const five = share("slower", { ...runs, slower: 0, runs: 5, trials: 100 });
  assert(five <= 0.02, `five runs that differ by 8 %: ${five}`);
});

Deno.test("intervalOf() without samples takes the quartiles", () => {
  const side = (median_us: string, half: number) => ({
    row: csvRow({
      median_us,
      q1_us: `${Number(median_us) - half}`,
      q3_us: `${Number(median_us) + half}`,
      samples: "1000",
    }),
  });
  const { low, high } = intervalOf(side("10", 0.6745), side("11", 0.6745));
  // A deviation of 1, of which 100 of the 1000 samples are independent: 198 degrees.
  const error = 2.3454 * Math.sqrt(2 * Math.PI / 2 / 100);
  assert(Math.abs(low - (1 - error)) < 1e-3, `${low}`);
  assert(Math.abs(high - (1 + error)) < 1e-3, `${high}`);
  assertEquals(intervalOf(side("10", 0), side("11", 0)), {
    low: 1,
    high: 1,
  });
});

Deno.test("intervalOf() holds one run to be as variable as the other side's several", () => {
  const row = (change: Parameters<typeof csvRow>[0]) => ({
    row: csvRow({ q1_us: "10", q3_us: "10", ...change }),
  });
  const several = row({ runs: "5", between_run_us: "0.5" });
  const { low, high } = intervalOf(several, row({}));
  // 99 % of Student's t with four degrees of freedom.
  const error = 3.746947 * 0.5 * Math.sqrt(Math.PI / 11 + 1);
  assert(Math.abs(high - error) < 1e-6 && Math.abs(low + error) < 1e-6);
});

Deno.test("intervalOf() is wider by what the speed of light changed by", () => {
  const row = (sol_us: string) => ({
    row: csvRow({ q1_us: "10", q3_us: "10", sol_us }),
  });
  assertEquals(intervalOf(row("8"), row("8")), { low: 0, high: 0 });
  const { low, high } = intervalOf(row("8"), row("9"));
  assert(Math.abs(low + 1.25) < 1e-9 && Math.abs(high - 1.25) < 1e-9);
  assertEquals(intervalOf(row("8"), row("")), { low: 0, high: 0 });
});

/** Runs with these medians: 20 samples each, 1 % around them. */
function ofRuns(...medians: readonly number[]): Evidence {
  const repeats = medians.map((us) =>
    Array.from({ length: 20 }, (_, i) => 1e3 * us * (0.99 + i * 0.001))
  );
  return {
    row: csvRow({
      median_us: `${quantile(medians.toSorted((a, b) => a - b), 0.5)}`,
      runs: `${medians.length}`,
      between_run_us: `${spread(medians)}`,
      sol_us: "",
    }),
    repeats,
  };
}

Deno.test("intervalOf() tells runs apart by their ranks, whatever one of them did", () => {
  const base = ofRuns(280, 286, 290, 293);
  const disturbed = ofRuns(905, 1000, 1096, 4200);
  const { low, high, apart } = intervalOf(base, disturbed);
  assert(low < 0 && high > 0, `${low} to ${high}`);
  assertEquals(apart, true);
  assertEquals(intervalOf(disturbed, base).apart, true);
  const others: readonly (readonly [Evidence, Evidence, string])[] = [
    [base, ofRuns(290, 1000, 1096, 4200), "one run is no slower"],
    [base, ofRuns(300, 1000, 1096, 4200), "a gap as wide as the base's runs"],
    [ofRuns(280, 286, 290, 900), disturbed, "a wide base"],
    [ofRuns(280, 286, 293), ofRuns(905, 1096, 4200), "one order of 20"],
    [base, { row: disturbed.row }, "samples that were not kept"],
  ];
  for (const [from, to, why] of others) {
    assertEquals(intervalOf(from, to).apart, undefined, why);
  }
  const sol = (sol_us: string, { row, repeats }: Evidence): Evidence => ({
    row: { ...row, sol_us },
    ...(repeats && { repeats }),
  });
  // The machine is three times as slow.
  const slower = intervalOf(sol("8", base), sol("27", disturbed));
  assertEquals(slower.apart, undefined);
});

Deno.test("intervalOf() lets hardly a row of the same code be found slower by three runs", () => {
  const runs = { within: 1, correlation: 0.5, between: 8 };
  const three = share("slower", { ...runs, slower: 0, runs: 3 });
  assert(three <= 0.015, `three runs that differ by 8 %: ${three}`);
});
