/**
 * Mistakes in searching, dispatch and resuming, and in the tolerances of operations.
 *
 * @module
 */

import { type HarnessMutant, inFile } from "../mutant.ts";

const RACE = "bench/tune/race_test.ts";
const TUNING = "backends/fake/tuning_test.ts";
const SETUP = "backends/fake/spine_setup_test.ts";
const JOURNAL = "bench/worker/journal_test.ts";
const TOLERANCE = "kernels/tolerance_test.ts";

/** The mistakes. */
export const TUNE: readonly HarnessMutant[] = [
  ...inFile("bench/tune/race.ts", [RACE, SETUP, TUNING], [
    [
      "winners are not called before their check",
      "for (let use = 0; use < uses; use++) prepared.run();",
      "",
      "a config that stops working could win",
    ],
    [
      "winners are checked on what earlier calls wrote",
      "  set!.poison();\n  prepared.run();\n  context.device",
      "  prepared.run();\n  context.device",
      "a config that stops working could win",
    ],
    [
      "whatever is slower is dropped",
      "const CLEAR_ERRORS = 3;",
      "const CLEAR_ERRORS = 0;",
      "the fastest config could be dropped by chance",
    ],
    [
      "the slowest finalist wins",
      "})).sort((a, b) => a.median - b.median);\n}\n\n/** Returns whether",
      "})).sort((a, b) => b.median - a.median);\n}\n\n/** Returns whether",
      "searches would choose the slowest",
    ],
    [
      "runners in the order of the list",
      "runners = seen.sort((a, b) => a.median - b.median);",
      "runners = seen;",
      "the best could be left out",
    ],
    [
      "no fence for interrupts",
      "const FENCE = 3;",
      "const FENCE = 1e9;",
      "an interrupt could decide a search",
    ],
    [
      "one turn in the finals",
      "for (let turn = 0; turn < turns; turn++)",
      "for (let turn = 0; turn < 1; turn++)",
      "a drift could decide a search",
    ],
  ]),
  ...inFile("bench/tune/search.ts", [TUNING, SETUP, RACE], [
    [
      "winners have no calls before their check",
      "const uses = Math.min(USES.most, Math.floor(USES.ns / median));",
      "const uses = 0;",
      "a config that stops working could win",
    ],
    [
      "wrong configs may win",
      "      this.#fail(config, error);\n      if (error instanceof WrongError) {",
      "      if (error instanceof WrongError) return true;\n      this.#fail(config, error);\n      if (error instanceof WrongError) {",
      "the winner of a search would be the fastest wrong config",
    ],
    [
      "operands are kept after a wrong config",
      "        context.dropOperands();\n",
      "",
      "what a wrong config overwrote would fail the next one",
    ],
    [
      "the last finalist is chosen",
      "const best = finalists[0];",
      "const best = finalists.at(-1);",
      "searches would not choose the fastest",
    ],
  ]),
  ...inFile("bench/tune/decide.ts", [TUNING], [
    [
      "remembered configs of a lower level are used",
      "if (entry.level < level) {",
      "if (entry.level < 0) {",
      "a harder search would not search",
    ],
    [
      "illegal remembered configs are used",
      "return named(entry.config, legal)\n    ? undefined",
      "return legal.length > 0\n    ? undefined",
      "a config that a kernel no longer has would be run",
    ],
  ]),
  ...inFile("bench/tune/dispatch.ts", ["bench/tune/dispatch_test.ts"], [
    [
      "ranges that lose 50 % are merged",
      "const MERGED_LOSS = 0.05;",
      "const MERGED_LOSS = 0.5;",
      "a table of kernels would be slow at some sizes",
    ],
    [
      "ranges are merged whoever is the fastest at their ends",
      "return us <= best_us && worst <= MERGED_LOSS;",
      "return worst <= MERGED_LOSS;",
      "a cut that was asked for would be gone",
    ],
    [
      "the worst option of a range",
      "cost(b) < cost(a) ? b : a",
      "cost(b) > cost(a) ? b : a",
      "a table of kernels would have the slowest",
    ],
    [
      "the size that a range is for says nothing",
      "at === opt)?.us ?? loss",
      "at === to)?.us ?? loss",
      "a table would have what is fast at its end alone",
    ],
  ]),
  ...inFile("bench/tune/timing_cache.ts", [
    "bench/tune/timing_cache_test.ts",
    TUNING,
  ], [
    [
      "easier searches replace harder ones",
      "known.level <= entry.level",
      "known.level >= entry.level",
      "a quick run would spoil a long search",
    ],
    [
      "merging replaces what is there",
      "if (!this.#entries.has(id)) this.#entries.set(id, entry);",
      "this.#entries.set(id, entry);",
      "configs of another machine would win",
    ],
    [
      "the driver is no part of the key",
      '  "driver",\n  "compiler",\n  "library",',
      '  "compiler",\n  "library",',
      "configs of another driver would be used",
    ],
  ]),
  ...inFile("bench/worker/journal.ts", [JOURNAL], [
    [
      "the first row of a case counts",
      "    this.#rows.delete(id);\n    this.#rows.set(id, entry);",
      "    if (!this.#rows.has(id)) this.#rows.set(id, entry);",
      "a run that goes on would keep old rows",
    ],
    [
      "rows of other sources are kept",
      "if (options.stillValid?.(entry.row) === false) {",
      "if (options.fresh && options.stillValid?.(entry.row) === false) {",
      "a run that goes on would have rows of two builds",
    ],
    [
      "rows of all repeats count for each",
      "const rows = this.rows.filter((r) => r.repeat === repeat);",
      "const rows = this.rows;",
      "a run that goes on would lack repeats",
    ],
    [
      "rows are not waited for",
      "this.#journal.append(lineOf({ schema: SCHEMA, ...entry }), true);\n    this.#keep",
      "this.#keep",
      "a row would be lost with the process",
    ],
    [
      "damaged lines count",
      "if (!isSealed(line)) throw refuse(UNSEALED);",
      "if (line.sum === undefined) throw refuse(UNSEALED);",
      "a bit that flips on a disk would change a published time",
    ],
  ]),
  ...inFile("session/run_state.ts", ["session/run_state_test.ts"], [
    [
      "rows of any sources hold",
      'return sources(key, config) === (provenance.source_hash ?? "");',
      "return true;",
      "a run that goes on would have rows of two builds",
    ],
  ]),
  ...inFile("kernels/matmul/op.ts", [TOLERANCE], [
    [
      "fp32 to 2e-3",
      "f32: { rtol: 1e-4, atol: 1e-3 }",
      "f32: { rtol: 1e-4, atol: 2e-3 }",
      "TF32 would pass at short K",
    ],
    [
      "ten times the tolerance of fp32",
      "f32: { rtol: 1e-4, atol: 1e-3 }",
      "f32: { rtol: 1e-3, atol: 1e-2 }",
      "TF32 would pass",
    ],
    [
      "a hundred times the tolerance of fp32",
      "f32: { rtol: 1e-4, atol: 1e-3 }",
      "f32: { rtol: 1e-2, atol: 1e-1 }",
      "bf16 would pass",
    ],
    [
      "ten times the tolerance of bf16",
      "bf16: { rtol: 2e-2, atol: 1e-2 }",
      "bf16: { rtol: 2e-1, atol: 1e-1 }",
      "FP8 would pass",
    ],
    [
      "ten times the tolerance of fp16",
      "  f16: { rtol: 2e-2, atol: 1e-2 }",
      "  f16: { rtol: 2e-1, atol: 1e-1 }",
      "FP8 would pass",
    ],
  ]),
  ...inFile("kernels/qmm/op.ts", [TOLERANCE], [
    [
      "ten times the tolerance of qmm",
      "f16: { rtol: 1e-3, atol: 1e-3 }",
      "f16: { rtol: 1e-2, atol: 1e-2 }",
      "FP8 would pass",
    ],
  ]),
  ...inFile("kernels/grouped/op.ts", [TOLERANCE], [
    [
      "ten times the tolerance of grouped-matmul",
      "rtol: 1e-3, atol: 1e-3 }),",
      "rtol: 1e-2, atol: 1e-2 }),",
      "bf16 would pass",
    ],
  ]),
  ...inFile("kernels/scaled/op.ts", [TOLERANCE], [
    [
      "ten times the tolerance of scaled-matmul",
      "rtol: 2e-2, atol: 1e-2 }),",
      "rtol: 2e-1, atol: 1e-1 }),",
      "a dropped block would pass",
    ],
  ]),
  ...inFile("kernels/swiglu/op.ts", [TOLERANCE], [
    [
      "ten times the tolerance of swiglu",
      "rtol: 2e-2, atol: 1e-2 }),",
      "rtol: 2e-1, atol: 1e-1 }),",
      "GELU would pass for silu",
    ],
  ]),
];
