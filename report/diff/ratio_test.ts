import { assert, assertEquals } from "@std/assert";
import { generator } from "../../bench/measure/bootstrap.ts";
import { median } from "../../bench/measure/stats.ts";
import { normal } from "../../bench/testdata/samples.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { comparedLines, judgedAsOne } from "./compared.ts";
import type { Evidence } from "./interval.ts";
import {
  geomeanRatio,
  ratioOf,
  type TimedPair,
  verdictOfRatio,
} from "./ratio.ts";
import { judge, type Verdict } from "./verdict.ts";
import { intervalOf } from "./interval.ts";

const THRESHOLD = { relative: 0.01, minUs: 0.05 };

/** Five runs of a kernel of `us` microseconds; runs differ by 0.5 %, samples by 2 %. */
function runsOf(us: number, random: () => number): Evidence {
  const repeats = Array.from({ length: 5 }, () => {
    const center = us * (1 + 0.005 * normal(random));
    return Array.from(
      { length: 40 },
      () => 1e3 * center * (1 + 0.02 * normal(random)),
    );
  });
  const medians = repeats.map((own) => median(own) / 1e3);
  const row = csvRow({ median_us: `${median(medians)}`, runs: "5" });
  return { row, repeats };
}

function verdictOf({ base, next }: TimedPair): Verdict {
  const place = { file: "", line: 1 };
  return judge(
    { base: { ...place, row: base.row }, next: { ...place, row: next.row } },
    { threshold: THRESHOLD, interval: () => intervalOf(base, next) },
  ).verdict;
}

/** The verdicts on twenty comparisons, and on their geometric means of four points. */
function twenty(factor: number) {
  const random = generator(11);
  const all = Array.from({ length: 20 }, () =>
    [10, 20, 50, 100].map((us) => ({
      base: runsOf(us, random),
      next: runsOf(us * factor, random),
    })));
  return {
    points: all.map(([first]) => verdictOf(first!)),
    means: all.map((pairs) => verdictOfRatio(geomeanRatio(pairs)!, THRESHOLD)),
    near: all.flat().map(ratioOf)
      .filter(({ ratio, reach }) => Math.abs(ratio - 1 / factor) <= reach),
  };
}

Deno.test("a kernel that is 3 % slower is found in twenty of twenty comparisons", () => {
  const { points, means, near } = twenty(1.03);
  assert(points.filter((one) => one === "slower").length >= 18, `${points}`);
  assertEquals(new Set(means), new Set(["slower"]));
  // The interval is one of 98 %.
  assert(near.length >= 76, `${near.length}`);
});

Deno.test("a kernel is never slower or faster than itself in twenty comparisons", () => {
  const { points, means, near } = twenty(1);
  assertEquals(
    points.filter((one) => one === "slower" || one === "faster"),
    [],
  );
  assertEquals(new Set(means), new Set(["same"]));
  assert(near.length >= 76, `${near.length}`);
});

Deno.test("ratioOf() knows a large factor as well as a small one", () => {
  const reaches = [1, 20].map((factor) => {
    const random = generator(2);
    const base = runsOf(10, random);
    const { ratio, reach } = ratioOf({
      base,
      next: runsOf(10 * factor, random),
    });
    return reach / ratio;
  });
  assert(Math.abs(reaches[0]! - reaches[1]!) < 1e-6, `${reaches}`);
});

Deno.test("ratioOf() leaves out by what two calibrations differ", () => {
  const reaches = ["5", "6"].map((sol_us) => {
    const random = generator(2);
    const [base, next] = [runsOf(10, random), runsOf(10, random)];
    return ratioOf({
      base: { ...base, row: { ...base.row, sol_us: "5" } },
      next: { ...next, row: { ...next.row, sol_us } },
    }).reach;
  });
  assertEquals(reaches[0], reaches[1]);
});

Deno.test("geomeanRatio() is unclear where all points moved together in one round", () => {
  const random = generator(5);
  const pairs = [10, 20, 50].map((us) => {
    const repeats = (scale: readonly number[]) =>
      scale.map((by) =>
        Array.from(
          { length: 20 },
          () => 1e3 * us * by * (1 + normal(random) / 1000),
        )
      );
    const side = (scale: readonly number[]): Evidence => ({
      row: csvRow({ median_us: `${us * scale[0]!}`, runs: "3" }),
      repeats: repeats(scale),
    });
    return { base: side([1, 1, 1]), next: side([1.02, 1.3, 1.02]) };
  });
  const mean = geomeanRatio(pairs)!;
  assert(mean.reach > 0.3, `${mean.reach}`);
  assertEquals(verdictOfRatio(mean, THRESHOLD), "unclear");
  assertEquals(geomeanRatio([]), undefined);
  assertEquals(geomeanRatio(pairs.slice(0, 1)), ratioOf(pairs[0]!));
  // A run of either side leaves the spreads of the points.
  const single = ({ row, repeats }: Evidence) => ({
    row: { ...row, runs: "1" },
    repeats: repeats!.slice(0, 1),
  });
  const lone = geomeanRatio(
    pairs.map(({ base, next }) => ({ base: single(base), next: single(next) })),
  )!;
  assert(lone.reach > 0 && lone.reach < 0.01, `${lone.reach}`);
});

Deno.test("comparedLines() explain an interval that is wider than its ratio", () => {
  const random = generator(5);
  const place = { file: "", line: 1 };
  const linesOf = (medians: readonly number[]) => {
    const [base, steady] = [runsOf(20, random), runsOf(10, random)];
    const repeats = medians.map((us) => Array<number>(40).fill(1e3 * us));
    const row = { ...steady.row, runs: `${medians.length}` };
    const next = { row, repeats };
    const judged = judge(
      { base: { ...place, row: base.row }, next: { ...place, row } },
      { threshold: THRESHOLD, interval: () => intervalOf(base, next) },
    );
    return comparedLines([{ base, next, judged }], {
      names: ["a", "b"],
      limit: THRESHOLD,
      color: false,
      markdown: false,
    });
  };
  assertEquals(linesOf([10, 10, 10]).length, 2);
  const lines = linesOf([1, 10, 200]);
  assert(lines[1]!.includes("± ?"), lines[1]);
  assertEquals(lines.length, 3);
  assert(lines[2]!.endsWith("give more --runs"), lines[2]);
});

Deno.test("comparedLines() gives the reason where the ratio's interval has 1", () => {
  const place = { file: "", line: 1 };
  const sideOf = (us: number, ...medians: readonly number[]): Evidence => ({
    row: csvRow({ median_us: `${us}`, runs: `${medians.length}` }),
    repeats: medians.map((one) => Array<number>(40).fill(1e3 * one)),
  });
  // The row of B is of the runs near its median, the interval of all.
  const base = sideOf(100, 100, 100, 100, 100, 100);
  const next = sideOf(103, 103, 103, 103, 103, 108);
  const judged = judge(
    { base: { ...place, row: base.row }, next: { ...place, row: next.row } },
    { threshold: THRESHOLD, interval: () => intervalOf(base, next) },
  );
  const shown = {
    names: ["a", "b"],
    limit: THRESHOLD,
    color: false,
    markdown: false,
  } satisfies Parameters<typeof comparedLines>[1];
  const [, line] = comparedLines([{ base, next, judged }], shown);
  assertEquals(judged.verdict, "slower");
  assert(
    line!.endsWith("slower: the mean of its runs is 1.104 to 6.896 µs longer"),
    line,
  );
  const one = { base, next, judged: judgedAsOne(judged), isOneBinary: true };
  const lines = comparedLines([one, one], shown).slice(1);
  assertEquals(
    lines.map((text) => text.slice(text.lastIndexOf("  ") + 2)),
    ["same: the same binary", "same: the same binary", "same"],
  );
});
