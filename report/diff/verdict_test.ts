import { assert, assertEquals } from "@std/assert";
import { intervalOf } from "./interval.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import type { Pair } from "./join.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { csvRow, placed } from "../testdata/csv_rows.ts";
import { VERDICT_CASES, type VerdictCase } from "../testdata/verdict_cases.ts";
import { thresholdsOf } from "./thresholds.ts";
import {
  causesOf,
  exceedsThresholds,
  judge,
  mismatchOf,
  VERDICTS,
} from "./verdict.ts";

const DEFAULT_THRESHOLD = thresholdsOf()("s");

function pairOf({ base, next }: VerdictCase): Pair {
  return {
    ...(base && { base: placed(base) }),
    ...(next && { next: placed(next, { file: "b.csv" }) }),
  };
}

const RULES = { threshold: DEFAULT_THRESHOLD, interval: intervalOf };

for (const one of VERDICT_CASES) {
  Deno.test(`judge() says ${one.verdict}: ${one.what}`, () => {
    assertEquals(judge(pairOf(one), RULES).verdict, one.verdict);
  });
}

Deno.test("VERDICT_CASES has every verdict", () => {
  assertEquals(
    new Set(VERDICT_CASES.map(({ verdict }) => verdict)),
    new Set(VERDICTS),
  );
});

Deno.test("judge() says what a worse verdict hides", () => {
  const both = judge(
    {
      base: placed({ rel_l2_err: "0.001" }),
      next: placed({ rel_l2_err: "0.003", median_us: "10.5" }),
    },
    RULES,
  );
  assertEquals(both.verdict, "less-accurate");
  assertEquals(both.also, "slower");
  assertEquals(both.why, "rel_l2_err 0.00100 -> 0.00300");
});

Deno.test("judge() says slower of runs that are apart, and why", () => {
  const verdictOf = (median_us: string, apart: boolean) => {
    const pair = { base: placed(), next: placed({ median_us }) };
    const interval = { low: -90, high: 99, ...(apart && { apart }) };
    const said = judge(pair, { ...RULES, interval: () => interval });
    return [said.verdict, said.why];
  };
  assertEquals(verdictOf("20", false), ["unclear", ""]);
  assertEquals(verdictOf("20", true), [
    "slower",
    "each run is slower than each run of the base",
  ]);
  assertEquals(verdictOf("5", true), [
    "faster",
    "each run is faster than each run of the base",
  ]);
  assertEquals(verdictOf("10.1", true), ["same", ""]);
});

Deno.test("judge() says unclear within the effect that a row can show", () => {
  const verdictOf = (median_us: string, effect: number) => {
    const pair = { base: placed(), next: placed({ median_us }) };
    return judge(pair, { ...RULES, effect }).verdict;
  };
  assertEquals(verdictOf("11", 0.11), "unclear");
  assertEquals(verdictOf("11", 0.09), "slower");
  assertEquals(verdictOf("9", 0.115), "unclear");
  assertEquals(verdictOf("9", 0.105), "faster");
});

Deno.test("judge() says less-accurate from twice the error on, but not among roundings of fp32", () => {
  const verdictOf = (
    column: "rel_l2_err" | "max_abs_err",
    from: number,
    to: number,
  ) =>
    judge(
      {
        base: placed({ [column]: `${from}` }),
        next: placed({ [column]: `${to}` }),
      },
      RULES,
    ).verdict;
  for (
    const [column, tiny] of [["rel_l2_err", 1e-6], [
      "max_abs_err",
      1e-5,
    ]] as const
  ) {
    assertEquals(verdictOf(column, 100 * tiny, 198 * tiny), "same");
    assertEquals(verdictOf(column, 100 * tiny, 202 * tiny), "less-accurate");
    assertEquals(verdictOf(column, 0.2 * tiny, 0.98 * tiny), "same");
    assertEquals(verdictOf(column, 0.2 * tiny, 1.02 * tiny), "less-accurate");
  }
});

Deno.test("judge() asks for an interval only past both thresholds, as exceedsThresholds() says", () => {
  for (const median_us of ["10.29", "10.31", "9.71", "9.69", "10.1"]) {
    let asked = false;
    const pair = { base: placed(), next: placed({ median_us }) };
    judge(pair, {
      threshold: DEFAULT_THRESHOLD,
      interval: () => {
        asked = true;
        return { low: -1, high: 1 };
      },
    });
    assertEquals(asked, exceedsThresholds(pair, DEFAULT_THRESHOLD), median_us);
    assertEquals(asked, Math.abs(Number(median_us) - 10) > 0.3, median_us);
  }
});

Deno.test("causesOf() names what else changed, the likeliest first", () => {
  assertEquals(
    causesOf({
      base: placed({ throttle: "", temp_c: "40" }),
      next: placed({
        temp_c: "41",
        throttle: "sw_power_cap",
        sm_mhz: "1755",
        power_w: "301",
        driver: "581",
        config: "BM=32",
        binary_hash: "cccc",
      }),
    }),
    [
      "binary changed",
      "config BM=16 -> BM=32",
      "driver 580 -> 581",
      "throttle none -> sw_power_cap",
      "sm clock 1980 -> 1755",
    ],
  );
  const base = placed();
  const next = placed({ run: "r2", time: "now" });
  assertEquals(causesOf({ base, next }), []);
  const hashes = (code_hash: string, source_hash: string, commit: string) =>
    placed({ code_hash, source_hash, commit });
  const old = hashes("", "1", "");
  const one = hashes("a", "2", "c1");
  const commented = hashes("a", "3", "c2");
  const other = hashes("b", "4", "c2");
  const causes = (base: SourcedRow, next: SourcedRow) =>
    causesOf({ base, next });
  assertEquals(causes(old, one), ["source changed"]);
  assertEquals(causes(one, commented), ["mnkbench commit c1 -> c2"]);
  assertEquals(causes(one, other), [
    "code changed",
    "mnkbench commit c1 -> c2",
  ]);
  const own = (source_commit: string) => placed({ source_commit });
  assertEquals(causes(own("a1"), own("b2+")), ["source commit a1 -> b2+"]);
  assertEquals(causes(own(""), own("b2")), []);
  const gpus = [
    placed({ device_uuid: "GPU-1" }),
    placed({ device_uuid: "GPU-2" }),
  ];
  assertEquals(causes(gpus[0]!, gpus[1]!), ["device GPU-1 -> GPU-2"]);
  assertEquals(causes(placed(), gpus[1]!), []);
});

Deno.test("causesOf() takes what an unsupported row lacks for no change", () => {
  const unbuilt = { binary_hash: "", source_hash: "", compiler: "" };
  const ok = placed({ source_hash: "1", compiler: "cc 12" });
  const idle = placed({ ...unbuilt, status: "unsupported", driver: "581" });
  const changed = ["driver 580 -> 581"];
  assertEquals(causesOf({ base: ok, next: idle }), changed);
  assertEquals(causesOf({ base: idle, next: ok }), ["driver 581 -> 580"]);
  const failed = placed({ ...unbuilt, status: "crash" });
  assertEquals(causesOf({ base: ok, next: failed }), [
    "binary changed",
    "source changed",
    "compiler cc 12 -> none",
  ]);
});

Deno.test("judge() compares no row whose clocks the GPU lowered, and says which", () => {
  const judged = (base: Partial<CsvRow>, next: Partial<CsvRow>) => {
    const pair = { base: placed(base), next: placed(next) };
    const { verdict, why } = judge(pair, RULES);
    return [verdict, why];
  };
  const lowered = { throttle: "sync_boost+sw_power_cap", median_us: "20" };
  assertEquals(judged({}, lowered), [
    "incomparable",
    "clocks were lowered in new (sw_power_cap): measure it again",
  ]);
  assertEquals(
    judged(lowered, {})[1]!.slice(0, 27),
    "clocks were lowered in base",
  );
  assertEquals(judged({ throttle: "sync_boost" }, {}), ["same", ""]);
});

Deno.test("mismatchOf() takes what a failed row lacks for no difference", () => {
  const failed = csvRow({ status: "crash", flush: "", device: "", arch: "" });
  assertEquals(mismatchOf(csvRow(), failed), undefined);
  assertEquals(
    mismatchOf(csvRow(), csvRow({ flush: "" })),
    "flush zero -> none",
  );
  assert(mismatchOf(csvRow(), { ...failed, seed: "1" }));
});
