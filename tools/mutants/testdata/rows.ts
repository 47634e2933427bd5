/**
 * Mistakes in rows, recorded results and verdicts.
 *
 * @module
 */

import { type HarnessMutant, inFile } from "../mutant.ts";

const RESULTS = "bench/row/results_test.ts";
const READ = "bench/row/read_csv_test.ts";
const TIMING = "report/model/timing_test.ts";
const VERDICT = "report/diff/verdict_test.ts";
const INTERVAL = "report/diff/interval_test.ts";

/** The mistakes. */
export const ROWS: readonly HarnessMutant[] = [
  ...inFile("bench/files/lock.ts", ["bench/files/lock_test.ts"], [
    [
      "the lock of a file that was removed",
      "return there?.statSync().ino === this.file.statSync().ino;",
      "return there !== null;",
      "two programs would write at once",
    ],
    [
      "what others still write is removed",
      "if (file.tryLockSync(true)) work();",
      "work();",
      "a second import would remove the first one's files",
    ],
  ]),
  ...inFile("bench/files/replace.ts", ["bench/files/replace_test.ts"], [
    [
      "links are followed out of the folder",
      "return isWithin(...real) ? path",
      "return real.length > 0 ? path",
      "a CSV of others could replace any file",
    ],
  ]),
  ...inFile("bench/row/results.ts", [RESULTS], [
    [
      "the fastest repeat for all",
      'const median_us = meanOf("median_us");',
      "const median_us = medians[0]!;",
      "recorded times would be of the luckiest run",
    ],
    [
      "a failed repeat is left out",
      'const failed = repeats.find((row) => row.status !== "ok");',
      "const failed = undefined as KeptRow | undefined;",
      "a kernel that is wrong now and then would be ok",
    ],
    [
      "rates of one repeat beside the time of all",
      "const rate = figures.median_us / median_us;",
      "const rate = 1;",
      "rates would not be of the time beside them",
    ],
    [
      "one run whatever was repeated",
      "runs: timed.length,",
      "runs: 1,",
      "intervals would be of one run",
    ],
    [
      "old rows of other cases are dropped",
      "const merged = new Map(old.map((row) => [keyText(row), row] as const));",
      "const merged = new Map<string, CsvRow>();",
      "measuring one kernel would remove the others",
    ],
    [
      "rows of another timer replaced",
      "for (const row of rows) merged.set(keyText(rowKey(row)), recordOf(row));",
      "for (const row of rows) {\n    for (const [key, old] of merged) {\n      if (caseText(old) === caseText(row.key)) merged.delete(key);\n    }\n    merged.set(keyText(rowKey(row)), recordOf(row));\n  }",
      "measuring by one timer would remove the rows of another",
    ],
    [
      "old rows win over new ones",
      "for (const row of rows) merged.set(keyText(rowKey(row)), recordOf(row));",
      "for (const row of rows) {\n    const key = keyText(rowKey(row));\n    if (!merged.has(key)) merged.set(key, recordOf(row));\n  }",
      "measuring again would change nothing",
    ],
    [
      "samples of the old run beside the new row",
      "const from = measured.has(key) ? fresh : old.samples;",
      "const from = old.samples.has(key) ? old.samples : fresh;",
      "intervals would be of another run",
    ],
    [
      "peaks of other types are lost",
      "...peaksIn(contained(outDir, folder), device),",
      "",
      "the roofline would lack types",
    ],
  ]),
  ...inFile("report/model/timing.ts", [TIMING], [
    [
      "timers of ours in one table",
      "JSON.stringify([suite, device, arch, timer, cache])",
      "JSON.stringify([suite, device, arch])",
      "tables would compare times of different timers",
    ],
    [
      "peers beside ours whatever the cache",
      "return peer!.cache === own!.cache &&",
      "return",
      "a warm peer would stand beside cold rows",
    ],
  ]),
  ...inFile("bench/row/csv_row.ts", [READ], [
    [
      "rates may contradict the time",
      "Math.abs(number(rate) - expected) > ROUNDING * expected",
      "number(rate) < 0",
      "an edited time would be taken",
    ],
  ]),
  ...inFile("bench/row/samples.ts", [RESULTS], [
    [
      "samples of anything beside a row",
      "if (fits && own.length <= Math.max(1, Number(row.runs))) return;",
      "if (own.length > 0) return;",
      "intervals would be of numbers that nobody measured",
    ],
  ]),
  ...inFile("bench/row/read_csv.ts", [READ, "bench/row/csv_test.ts"], [
    [
      "the same case twice is read",
      "    if (at === undefined) {",
      "    if (at === undefined || at !== undefined) {",
      "one row of a case would hide another",
    ],
    [
      "rows without a time are ok",
      'if (last[this.#medianAt] === "" && lacksTime(row))',
      'if (last[this.#medianAt] === "never" && lacksTime(row))',
      "a row that lost its time would count",
    ],
    [
      "a last line that is cut off is read",
      "if (!torn || this.rows.length === 0",
      "if (torn || this.rows.length === 0",
      "a file that was cut would be taken for whole",
    ],
    [
      "values are not checked",
      "if (flaw !== undefined) {\n        throw fail",
      "if (flaw === null) {\n        throw fail",
      "times such as -1 would count",
    ],
    [
      "lines without regard to line feeds in fields",
      "this.#line += breaks;",
      "",
      "errors would name other lines",
    ],
  ]),
  ...inFile("bench/row/csv_row.ts", [READ, "bench/row/csv_test.ts"], [
    [
      "a time of 0 is read",
      "const duration = number(LEAST_US, MOST_US",
      "const duration = number(0, MOST_US",
      "a speed-up would be infinite",
    ],
  ]),
  ...inFile("bench/worker/run_folder.ts", ["bench/worker/journal_test.ts"], [
    [
      "two runs of a command have one name",
      'randomBytes(4).toString("hex")',
      '"00000000"',
      "rows of two builds could not be told apart",
    ],
  ]),
  ...inFile("bench/device/binary_cache.ts", [
    "bench/device/binary_cache_test.ts",
  ], [
    [
      "comments are code",
      "this.#sources.of(build).code",
      "this.#sources.of(build).text",
      "a comment would make recorded rows stale",
    ],
  ]),
  ...inFile(
    "bench/device/cache_entry.ts",
    ["bench/device/cache_entry_test.ts"],
    [
      [
        "comments begin in strings",
        '/"(?:\\\\[^]|[^"\\\\\\n])*"?/,',
        "",
        "a change of code after a string would go unnoticed",
      ],
    ],
  ),
  ...inFile("session/commit.ts", ["session/commit_test.ts"], [
    [
      "sources are always clean",
      'dirty: changes === "" ? "false" : "true"',
      'dirty: changes === "" ? "false" : "false"',
      "rows of edited sources would pass as those of the commit",
    ],
  ]),
  ...inFile("report/diff/verdict.ts", [VERDICT], [
    [
      "errors up to 1e-4 are roundings",
      "rel_l2_err: 1e-6, max_abs_err: 1e-5",
      "rel_l2_err: 1e-4, max_abs_err: 1e-4",
      "a change to TF32 would not be seen",
    ],
    [
      "errors up to 2e-6 are roundings",
      "rel_l2_err: 1e-6, max_abs_err: 1e-5",
      "rel_l2_err: 2e-6, max_abs_err: 1e-5",
      "less accurate sums would not be seen",
    ],
    [
      "2.9 times the error is as accurate",
      "const LESS_ACCURATE = 2;",
      "const LESS_ACCURATE = 2.9;",
      "a bit of precision could be lost",
    ],
    [
      "NaN is as accurate",
      "if (to <= limit || Number.isNaN(from)) continue;",
      "if (!(to > limit) || Number.isNaN(from)) continue;",
      "an output with NaN would be as accurate",
    ],
    [
      "one threshold is enough",
      "difference > relative * base_us && difference > minUs",
      "difference > relative * base_us || difference > minUs",
      "noise would be slower",
    ],
    [
      "slower without an interval",
      "isSlower ? between.low > marginUs",
      "isSlower ? between.low > -1e9",
      "noise would be slower",
    ],
    [
      "a detectable effect counts for nothing",
      "base_us / next_us) - 1 <= effect",
      "base_us / next_us) - 1 <= 0",
      "what two runs of one build differ by would be slower",
    ],
    [
      "a row that broke is the same",
      'if (base.status === "ok") return ["broken", why];',
      "",
      "a kernel that fails would pass",
    ],
    [
      "rows of two timers are compared",
      '  "arch",\n  "timer",',
      '  "arch",',
      "a change of timer would be faster",
    ],
    [
      "rows above SOL count",
      "return sol === undefined\n    ? { pair, verdict",
      "return sol !== null\n    ? { pair, verdict",
      "a kernel that is too fast would be faster",
    ],
  ]),
  ...inFile("report/diff/interval.ts", [INTERVAL], [
    [
      "any gap between runs is enough",
      "- top > range + more;",
      "- top > more;",
      "three runs of the same code would be slower in 5 % of pairs",
    ],
    [
      "three runs are ranked",
      "const RARE = 0.02;",
      "const RARE = 0.06;",
      "three runs of the same code would be slower in 5 % of pairs",
    ],
    [
      "an interval of 90 %",
      "studentQuantile(freedom: number, level = 0.99)",
      "studentQuantile(freedom: number, level = 0.95)",
      "one of twenty equal builds would be slower",
    ],
    [
      "the machine's change does not widen the interval",
      "reach + sides[0].center * lightChange(base.row, next.row)",
      "reach",
      "another day would be slower",
    ],
    [
      "runs are not pooled",
      "if (between >= within.variance) pooled",
      "if (between < 0) pooled",
      "what fresh processes differ by would be slower",
    ],
    [
      "a run's samples are independent",
      "** (2 / 3);",
      ";",
      "intervals would be narrow",
    ],
  ]),
  ...inFile("report/diff/ratio.ts", ["report/diff/ratio_test.ts"], [
    [
      "the mean's interval is of one round",
      "Math.sqrt(variance(logs) / rounds);",
      "Math.sqrt(variance(logs) / rounds) / 10;",
      "what moved all points in one round would be a verdict",
    ],
    [
      "a mean within its interval is a verdict",
      'if (Math.abs(ratio - 1) <= reach) return "unclear";',
      "",
      "noise would be faster or slower",
    ],
    [
      "the factor is upside down",
      "const ratio = from! / to!;",
      "const ratio = to! / from!;",
      "a slower kernel would be a faster one",
    ],
  ]),
  ...inFile("session/source/roles.ts", [
    "session/source/source_suite_test.ts",
  ], [
    [
      "names do not count",
      'matrices.map(plain).toSorted().join() === "a,b,c";',
      "false;",
      "C, A, B would be called as A, B, C",
    ],
    [
      "long sizes are short",
      "bytes: isWide(one) ? 8 : 4",
      "bytes: 4",
      "a size_t would have four bytes of another argument",
    ],
  ]),
  ...inFile("bench/measure/bootstrap.ts", ["bench/measure/bootstrap_test.ts"], [
    [
      "blocks of one sample",
      "const length = Math.min(block, n - taken);",
      "const length = 1;",
      "one disturbance would count as many",
    ],
    [
      "blocks without a margin",
      "const MARGIN = 2;",
      "const MARGIN = 0.2;",
      "intervals would be narrow",
    ],
  ]),
  ...inFile("report/model/sol.ts", ["report/model/sol_test.ts"], [
    [
      "warm rows are suspect too",
      'return cache === "cold" && time_us',
      "return time_us",
      "what lies in the cache would be too fast",
    ],
    [
      "twice as fast as SOL is sound",
      "const CLEARLY = 0.95;",
      "const CLEARLY = 0.5;",
      "a kernel that reads half of its operands would win",
    ],
  ]),
  ...inFile("report/model/pivot.ts", ["report/table/sheet_test.ts"], [
    [
      "libraries are ours",
      'name !== "" && kernel.startsWith(name)',
      'name === "" && kernel.startsWith(name)',
      "ours vs best peer would compare a library with PyTorch",
    ],
  ]),
  ...inFile("report/table/sheet.ts", ["report/table/sheet_test.ts"], [
    [
      "columns that do not fit are shown",
      "if (kept.length > 1 && widthOfAll(own) > width) break;",
      "",
      "tables would be wider than the terminal",
    ],
  ]),
  ...inFile("report/model/wins.ts", ["report/model/wins_test.ts"], [
    [
      "ties are wins",
      "wins: count((factor) => factor > 1)",
      "wins: count((factor) => factor >= 1)",
      "equal kernels would win",
    ],
  ]),
  ...inFile("report/diff/join.ts", ["report/diff/join_test.ts"], [
    [
      "new rows are not paired",
      "for (const one of left.values()) pairs.push({ next: one });",
      "",
      "rows that are only in the new run would be lost",
    ],
  ]),
];
