/**
 * Mistakes in checking what is timed.
 *
 * @module
 */

import { type HarnessMutant, inFile } from "../mutant.ts";

const GUARD = "backends/fake/guard_test.ts";
const BITS = "backends/fake/spine_bits_test.ts";
const PLAN = "bench/measure/guard_plan_test.ts";
const FAULTS = "backends/fake/spine_faults_test.ts";
const SETUP = "backends/fake/spine_setup_test.ts";
const CHANGES = "bench/measure/changes_test.ts";
const TIMED = "bench/measure/timed_test.ts";
const GUARDED = "bench/measure/guarded_test.ts";
const CHEATS = ["kernels/cheats_test.ts", "kernels/cheats_full_test.ts"];

/** The mistakes. */
export const GUARDS: readonly HarnessMutant[] = [
  ...inFile("bench/measure/guard.ts", [GUARD, SETUP, TIMED], [
    [
      "inputs stay the same while they are timed",
      "if (changes) this.#change(index, changes);",
      "",
      "a kernel could remember by pointer",
    ],
    [
      "outputs are not poisoned while they are timed",
      "        whole.fill(byte);\n",
      "",
      "a kernel could skip work that an earlier call did",
    ],
    [
      "poison is always the same",
      "const byte = anyPoison(this.#below);\n      if (stale)",
      "const byte = POISON;\n      if (stale)",
      "a kernel could tell poison from a result",
    ],
    [
      "outputs are always poisoned as a whole",
      "} else if (this.#below(2) === 0) {",
      "} else if (!stale && stale) {",
      "a kernel could look at one element",
    ],
    [
      "outputs never keep what was right",
      "{ stale: stale && !plain, plain }",
      "{ stale: false, plain }",
      "a kernel could skip where the output is as it left it",
    ],
    [
      "outputs keep what settled a warm cache",
      "const stale = changes !== undefined && this.#stale.has(index) &&\n        this.#isUnseen(index, changes);",
      "const stale = changes !== undefined && this.#stale.has(index);",
      "a kernel could skip where the output is right already",
    ],
    [
      "a few elements change before the flush on a CPU too",
      "!this.#isSettled(index, change) && !(late && isPatch(change))",
      "!this.#isSettled(index, change)",
      "a thread of the kernel could compute while a flush runs",
    ],
    [
      "setup is not run again",
      "      setUp();\n",
      "",
      "a kernel that packs weights would be wrong",
    ],
    [
      "work around samples moves the driver's ring",
      "for (let i = count; i % RING !== 0; i++) queue();",
      "",
      "the launches of later samples would change places",
    ],
    [
      "calls that settle a cache see whole inputs that are new",
      "return index === this.#end && !isPatch(change);",
      "return !isPatch(change);",
      "a kernel could compute them before the sample",
    ],
    [
      "warm inputs are not read again after a change",
      "if (settle) { for (let i = 0; i < this.#settles; i++) settle(); }",
      "",
      "warm samples would be cold",
    ],
    [
      "a device without room loses the row",
      'if (!(error instanceof CaseError) || error.failure !== "oom") throw error;',
      "throw error;",
      "a large problem would have no row",
    ],
    [
      "copies are of one set",
      "for (const set of this.#uses(index)) {\n      for (const [output",
      "for (const set of this.#uses(index).slice(0, 1)) {\n      for (const [output",
      "the other sets of a batch would not be compared",
    ],
  ]),
  ...inFile("bench/measure/guard_plan.ts", [GUARD, PLAN], [
    [
      "all inputs change at once",
      "const which = before >= free.length && below(4) === 0 ? free : [alone];",
      "const which = free;",
      "a kernel could look at one input and trust the others",
    ],
    [
      "whole inputs change",
      "hasOriginal && chosen.has(i)",
      "hasOriginal",
      "a kernel could look at some elements",
    ],
    [
      "few whole inputs change",
      "const WHOLE = 0.5;",
      "const WHOLE = 0.2;",
      "a kernel could repair a few elements of a result that it remembers",
    ],
    [
      "few whole inputs change in a short series",
      "count / 2 + 1",
      "count / 4",
      "the median could be of repaired results",
    ],
    [
      "outputs right after a change are kept by chance only",
      "const FRESH = 0.7;",
      "const FRESH = 0;",
      "a kernel that is wrong for one call would pass",
    ],
    [
      "inputs do not become the original ones",
      "    changes.set(\n      end,",
      "    new Map().set(\n      end,",
      "the last output would be compared with another input's",
    ],
  ]),
  ...inFile("bench/measure/guard_check.ts", [GUARD, FAULTS, BITS], [
    [
      "guard bands of kept outputs are not looked at",
      "const touched = touchedOutside(bytes, { operand, before });",
      "const touched = undefined;",
      "writes past the end could be restored before the last check",
    ],
    [
      "kept outputs are compared with the original inputs' results",
      "for (const one of this.#changes) changeOnHost(one, this.#now, originals);",
      "",
      "an honest kernel would be wrong",
    ],
    [
      "bits of kept outputs are not counted",
      "  pool.demand(checked);\n",
      "",
      "a kernel could be precise in checks only",
    ],
    [
      "what is still poison is not compared",
      "      ...poison,\n",
      "",
      "one unwritten tile of a large output would rarely be seen",
    ],
    [
      "what other sets hold is not told",
      "const other = inputs.findIndex((one, i) => i !== set && is(one));",
      "const other = -1;",
      "the message would not say where a copied result came from",
    ],
  ]),
  ...inFile("bench/measure/changes.ts", [CHANGES, GUARD], [
    [
      "random numbers that repeat",
      "crypto.getRandomValues(words);",
      "words.forEach((_, i) => words[i] = Math.imul(i + 1, 0x9e3779b9));",
      "a kernel could foresee what changes",
    ],
    [
      "patches are as usual values",
      "const large = Math.min(gain * usual,",
      "const large = Math.min(usual,",
      "a change would be within the tolerance of long sums",
    ],
    [
      "positions change",
      'type !== "i32" && rows * cols > 0',
      "rows * cols > 0",
      "an honest kernel would read out of bounds",
    ],
    [
      "scales become negative",
      "signed && valueAt(stored, offset) > 0",
      "valueAt(stored, offset) > 0",
      "formats without a sign would be wrong",
    ],
    [
      "padding takes part in a turn",
      "{ unit: BYTES[type] * ld, units: rows }",
      "{ unit: BYTES[type], units: elementsOf(operand) }",
      "values would be in the padding",
    ],
  ]),
  ...inFile("bench/measure/time.ts", [GUARD], [
    [
      "outputs are kept before the sample",
      "interval.measure(run);\n      around?.after(i);",
      "around?.after(i);\n      interval.measure(run);",
      "copies would hold poison",
    ],
  ]),
  ...inFile("bench/measure/operands.ts", ["bench/measure/operands_test.ts"], [
    [
      "the device keeps the bytes of the reference",
      "    memory.fill(POISON);\n",
      "",
      "a kernel could find the right output and copy it",
    ],
    [
      "all sets have the same inputs",
      ": unit * placeInRotation(number, units, operand.name);",
      ": 0;",
      "a kernel could copy the output of one set to all",
    ],
    [
      "sets may have the same inputs by chance",
      "return 1 + (start + number * step) % places;",
      "return 1 + mix(start + number) % places;",
      "a kernel could copy the output of one set to another",
    ],
  ]),
  ...inFile("bench/measure/verify.ts", [FAULTS], [
    [
      "other sets of a batch are looked at for NaN only",
      "if (wrong) return mismatchNote(output.operand, wrong);",
      "",
      "a kernel could leave zeros in them",
    ],
  ]),
  ...inFile("bench/measure/guarded.ts", [GUARD], [
    [
      "kept outputs are not compared",
      "    checkKept({",
      '    if (problem.title === "") checkKept({',
      "nothing that is timed would be checked",
    ],
    [
      "slow samples after a change are not told",
      "this.#guard.fresh.map(",
      "[].map(",
      "a kernel could remember the results of all inputs",
    ],
    [
      "cold times are not compared with warm ones",
      'if (!shouldSave(cold, read)) return "";',
      'if (cold > 0) return "";',
      "a kernel could keep its inputs in the cache",
    ],
  ]),
  ...inFile("bench/measure/guarded.ts", [GUARDED], [
    [
      "only the median of samples after a change is compared",
      " && !areAllSlow(fresh, others, ALL_SLOW)",
      "",
      "a kernel could remember and compute some samples all the same",
    ],
    [
      "operands are to stay in a cache that they just fit",
      "calls * bytes > STAYS * cacheBytes",
      "calls * bytes > cacheBytes",
      "kernels of libraries would be suspect",
    ],
  ]),
  ...inFile("bench/measure/case_run.ts", CHEATS, [
    [
      "threads that work on are not told",
      "if (this.#traces.working()) notes.push(COMPUTES_AHEAD);",
      "",
      "a thread could compute the next result ahead",
    ],
  ]),
  ...inFile("bench/measure/context.ts", [GUARD], [
    [
      "persisting lines stay",
      "    persisting?.forbid();\n",
      "",
      "a kernel could keep its inputs in the cache",
    ],
  ]),
];
