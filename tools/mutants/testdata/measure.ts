/**
 * Mistakes in timing, checking and the statistics of samples.
 *
 * @module
 */

import { type HarnessMutant, inFile } from "../mutant.ts";

const ORDER = "backends/fake/spine_order_test.ts";
const SPINE = "backends/fake/spine_test.ts";
const FAULTS = "backends/fake/spine_faults_test.ts";
const CLOSE = "bench/measure/assert_close_test.ts";
const TIMED = "bench/measure/timed_test.ts";
const TIME = "bench/measure/time_test.ts";
const PRECISION = "bench/measure/precision_test.ts";
const BITS = "backends/fake/spine_bits_test.ts";
const FIGURES = "bench/measure/figures_test.ts";

/** The mistakes. */
export const MEASURE: readonly HarnessMutant[] = [
  ...inFile("bench/measure/time.ts", [ORDER, TIME, SPINE], [
    [
      "no flush before a sample",
      "flush();\n      around?.flushed(i);\n      interval.measure(run);",
      "interval.measure(run);",
      "cold rows would be warm",
    ],
    [
      "the flush after the sample",
      "flush();\n      around?.flushed(i);\n      interval.measure(run);",
      "interval.measure(run);\n      flush();",
      "the first sample would be warm",
    ],
    [
      "the flush within the sample",
      "flush();\n      around?.flushed(i);\n      interval.measure(run);",
      "interval.measure(() => {\n        flush();\n        run();\n      });",
      "every time would have a flush in it",
    ],
    [
      "no empty launch",
      "if (i % NUDGE_EVERY === NUDGE_EVERY - 1) this.nudge();",
      "",
      "a series would have one state of the driver, by chance",
    ],
    [
      "an empty launch before every sample",
      "if (i % NUDGE_EVERY === NUDGE_EVERY - 1) this.nudge();",
      "this.nudge();",
      "the driver's states would not take turns",
    ],
    [
      "an empty launch before every second sample",
      "const NUDGE_EVERY = PHASES / 4;",
      "const NUDGE_EVERY = PHASES / 8;",
      "the driver's states would not take turns",
    ],
    [
      "samples read before the device has finished",
      "    this.device.synchronize();\n    return used.map",
      "    return used.map",
      "times would be of markers that were not reached",
    ],
    [
      "slow calls are not waited for",
      "if (wait) this.#wait();\n    }\n    this.device",
      "}\n    this.device",
      "a worker at a slow kernel would be taken for dead",
    ],
    [
      "5 samples at least",
      "const LEAST_SAMPLES = 10;",
      "const LEAST_SAMPLES = 5;",
      "medians of slow kernels would be of few samples",
    ],
    [
      "the estimate without flushes",
      "          flush();\n          run();\n        }\n      }) / runs;",
      "          run();\n        }\n      }) / runs;",
      "a series would take longer than was asked for",
    ],
    [
      "no warm-up",
      "let i = count(warmup, 1); i > 0; i--",
      "let i = 0; i > 0; i--",
      "the first samples would be slower",
    ],
    [
      "windows of a warm-up agree within 100 %",
      "const AGREEMENT = 0.01;",
      "const AGREEMENT = 1;",
      "timing would start before the clocks are up",
    ],
  ]),
  ...inFile("bench/measure/timed.ts", [TIMED, SPINE, FAULTS, ORDER], [
    [
      "a batch is not divided by its calls",
      "ns.map((x) => x / calls)",
      "[...ns]",
      "batch rows would be as slow as the batch",
    ],
    [
      "no flush beside too few sets",
      "rotation?.enough ?",
      "rotation ?",
      "cold rows of small operands would be warm",
    ],
    [
      "the first of the sets that take turns runs alone",
      "const peek = () => runs[next % runs.length]!();",
      "const peek = () => runs[0]!();",
      "cold rows would be warm",
    ],
    [
      "turns are counted from now at each sample",
      "const first = next;\n      return (index: number) => [(first + index)",
      "return (index: number) => [(next + index)",
      "outputs of other sets would be poisoned and compared",
    ],
    [
      "a warm sample of another set",
      "turns.peek();",
      "run();",
      "every cold row would be as fast as a warm one",
    ],
    [
      "one place for all samples",
      "Math.max(1, Math.min(placement.copies, fit))",
      "1",
      "a row would be of the pages that its process got",
    ],
    [
      "too few sets take turns",
      "1 + Math.ceil(flushBytes / one)",
      "Math.ceil(flushBytes / one)",
      "a set could still be in the cache",
    ],
    [
      "outputs count as bytes that displace a set",
      'operands.filter(({ role }) => role === "in")',
      "operands.filter(() => true)",
      "too few sets would take turns",
    ],
  ]),
  ...inFile("bench/measure/sample_calls.ts", [TIMED, SPINE, ORDER], [
    [
      "one call of a batch is run",
      "for (const [i, call] of calls.entries()) call(",
      "for (const [i, call] of calls.slice(0, 1).entries()) call(",
      "batch rows would be faster by the size of the batch",
    ],
    [
      "the first call of a chain starts early too",
      "call(i > 0 && startsEarly(timer))",
      "call(startsEarly(timer))",
      "it could start before the flush ends",
    ],
    [
      "no call of a chain starts early",
      "call(i > 0 && startsEarly(timer))",
      "call(false)",
      "rows of chain:N:pdl would be those of chain:N",
    ],
    [
      "a chain of one call",
      'Number(timer.split(":")[1] ?? 1)',
      'timer.startsWith("batch:") ? Number(timer.slice(6)) : 1',
      "rows of chain:N would be those of graph",
    ],
    [
      "launches in place of a graph",
      "if (!usesGraph(timer)) return all;",
      "if (timer !== undefined) return all;",
      "graph rows would be of launches",
    ],
    [
      "calls of a chain that wait for one another",
      "call(i > 0 && startsEarly(timer));",
      "call(false);",
      "rows with programmatic dependent launch would be of plain launches",
    ],
  ]),
  ...inFile("bench/measure/assert_close.ts", [CLOSE], [
    [
      "padding of the first row unchecked",
      "for (let i = 0; i < rows; i++) {\n    for (let b",
      "for (let i = 1; i < rows; i++) {\n    for (let b",
      "a kernel could write past the end of a row",
    ],
    [
      "padding of the last row unchecked",
      "for (let i = 0; i < rows; i++) {\n    for (let b",
      "for (let i = 0; i < rows - 1; i++) {\n    for (let b",
      "a kernel could write past the end of a row",
    ],
    [
      "the first byte of padding unchecked",
      "let b = (i * ld + cols) * size;",
      "let b = (i * ld + cols) * size + 1;",
      "a kernel could write past the end of a row",
    ],
    [
      "NaN passes the tolerance",
      "return error < Infinity && error <= atol + rtol * Math.abs(want);",
      "return !(error > atol + rtol * Math.abs(want));",
      "an output that was never written would have no mismatch",
    ],
    [
      "no absolute tolerance",
      "atol + rtol * Math.abs(want)",
      "rtol * Math.abs(want)",
      "elements near 0 would fail",
    ],
    [
      "the relative tolerance is of the output",
      "rtol * Math.abs(want)",
      "rtol * Math.abs(got)",
      "infinity would be right",
    ],
    [
      "the last row unchecked",
      "const count = values.length / ld;",
      "const count = values.length / ld - 1;",
      "a kernel could leave out rows",
    ],
    [
      "the relative L2 error is not of the reference",
      "norm += want * want;",
      "norm += got * got;",
      "a larger output would have a smaller error",
    ],
    [
      "the smaller of two errors",
      "max_abs_err: Math.max(a.max_abs_err",
      "max_abs_err: Math.min(a.max_abs_err",
      "the error of one output would hide that of another",
    ],
  ]),
  ...inFile("bench/measure/spread.ts", [CLOSE], [
    [
      "a sample of a few columns",
      "Math.floor((i * golden) % 1 * length)",
      "Math.floor(i / limit * length)",
      "a reference could be wrong in the others",
    ],
  ]),
  ...inFile("bench/measure/precision.ts", [PRECISION, BITS], [
    [
      "the rounding of the output counts",
      "const rounded = decode(encode(wanted, type), type);",
      "const rounded = Float64Array.from(wanted);",
      "all results in bf16 would have 9 bits",
    ],
    [
      "errors relative to the largest term",
      "errors += error / norm;",
      "errors += error / (norm * norm);",
      "bits would depend on K and on the size of the operands",
    ],
    [
      "mean errors count as deviations",
      "const DEVIATION = Math.sqrt(Math.PI / 2);",
      "const DEVIATION = 2;",
      "bits would be low",
    ],
    [
      "a few elements are a proof",
      "const CHANCE = 1e4;",
      "const CHANCE = 1;",
      "right kernels would be refused by chance",
    ],
    [
      "one element decides",
      "seen += Math.min(1, error / step);",
      "seen += error / step;",
      "one element that is off would look like TF32",
    ],
    [
      "elements that a ReLU made 0 count",
      "&& (got !== 0 || want !== 0)",
      "",
      "a ReLU would give every result a bit",
    ],
    [
      "nothing is refused",
      "if (asked === undefined || bits >= asked || seen <= expected)",
      "if (asked !== null)",
      "TF32 would pass as fp32",
    ],
    [
      "16 elements are enough",
      "elements: { least: 256, most: 4096 }",
      "elements: { least: 16, most: 64 }",
      "partial sums in fp16 could not be told",
    ],
  ]),
  ...inFile("bench/measure/verify.ts", [BITS], [
    [
      "no bits are asked",
      "return tolerance ? undefined : problem.bits;",
      "return undefined;",
      "TF32 would pass as fp32",
    ],
    [
      "kernels that round more often are asked for bits",
      "return tolerance ? undefined : problem.bits;",
      "return problem.bits;",
      "kernels that say how they round would be wrong",
    ],
  ]),
  ...inFile("bench/measure/assert_close.ts", [PRECISION, CLOSE], [
    [
      "the most bits of two checks",
      "{ bits: Math.min(...bits) }",
      "{ bits: Math.max(...bits) }",
      "the bits of one output would hide those of another",
    ],
    [
      "few wrong elements look like a type",
      "precision.even",
      "precision",
      "a wrong tile would be called TF32",
    ],
  ]),
  ...inFile("bench/measure/operands.ts", [FAULTS, SPINE], [
    [
      "outputs are not poisoned",
      "for (const { whole } of this.outs) whole.fill(byte);",
      "",
      "a kernel could leave what an earlier call wrote",
    ],
    [
      "no guard band before an operand",
      "const before = whole.slice(0, BAND)",
      "const before = whole.slice(0, 0)",
      "a kernel could write before its output",
    ],
    [
      "no guard band past an operand",
      "const after = whole.slice(end, whole.bytes - end)",
      "const after = whole.slice(end, 0)",
      "a kernel could write past its output",
    ],
    [
      "inputs are not compared",
      "const changed = changedAt(part, bytes);",
      "const changed = changedAt(part, bytes.subarray(0, 0));",
      "a kernel could overwrite its inputs",
    ],
    [
      "only the first word of an input is compared",
      "while (word < words && a[word] === b[word]) word++;",
      "if (a[0] === b[0]) word = words;",
      "a kernel could overwrite its inputs",
    ],
  ]),
  ...inFile("bench/measure/operands.ts", ["bench/measure/operands_test.ts"], [
    [
      "the device's reference is compared at one element",
      "const SAMPLE = 256;",
      "const SAMPLE = 1;",
      "a wrong reference would judge all kernels",
    ],
    [
      "the device's reference is compared at a quarter of the elements",
      "const SAMPLE = 256;",
      "const SAMPLE = 64;",
      "a wrong reference would judge all kernels",
    ],
    [
      "the device's reference may be off by 1e9",
      "const AGREEMENT = 1e-9;",
      "const AGREEMENT = 1e9;",
      "a wrong reference would judge all kernels",
    ],
    [
      "the device's reference may be off by 1e-8",
      "const AGREEMENT = 1e-9;",
      "const AGREEMENT = 1e-8;",
      "sums of less than double precision would pass",
    ],
    [
      "the device's reference may be NaN",
      "if (!isClose(got, want, { rtol: AGREEMENT, atol: AGREEMENT })) {",
      "if (Math.abs(got - want) > AGREEMENT * (1 + Math.abs(want))) {",
      "a reference that wrote nothing would judge all kernels",
    ],
    [
      "the device's reference for small problems too",
      "problem.work.flops > HOST_FLOPS",
      "problem.work.flops > HOST_FLOPS / 2",
      "the host's reference would be used less than documented",
    ],
  ]),
  ...inFile("bench/measure/verify.ts", [FAULTS, SPINE], [
    [
      "damage is not looked for",
      "const what = wrong ?? damage;",
      "const what = wrong;",
      "a kernel could write outside of its output",
    ],
    [
      "the output of the last sample is not compared",
      '  const last = await verify(c, {\n    context,\n    set,\n    config,\n    when: "after timing, ",\n  });',
      '  const last = await verify(c, {\n    context,\n    set,\n    config,\n    when: "after timing, ",\n  }).catch((error) => error.accuracy);',
      "a kernel could stop working while it is timed",
    ],
    [
      "outputs are not poisoned before the last call",
      "for (const one of sets) one.poison();",
      "",
      "a kernel could stop working while it is timed",
    ],
    [
      "only the first set of a batch is looked at",
      "const [i, other] of others.entries()",
      "const [i, other] of others.slice(1).entries()",
      "a kernel could leave out the other sets",
    ],
  ]),
  ...inFile("bench/model/inputs.ts", ["bench/model/inputs_test.ts"], [
    [
      "stored values of another unit are taken",
      "tensor, type, unit };",
      "tensor, type };",
      "operands would be of another size than their tolerance is for",
    ],
    [
      "stored values go on from their start",
      "for (let from = first; from < count;",
      "for (let from = 0; from < count;",
      "operands would be made again for each shape",
    ],
  ]),
  ...inFile("kernels/common/product.ts", ["kernels/common/product_test.ts"], [
    [
      "the last elements of a row are left out of a sum",
      "  for (; p < length; p++) s0 += x[p]! * w[p]!;\n",
      "",
      "results at a K that is no multiple of 4 would be wrong",
    ],
  ]),
  ...inFile("bench/measure/case_run.ts", [FAULTS, SPINE], [
    [
      "no rest where clocks were lowered",
      "        await context.rest();\n",
      "",
      "the second series would have lowered clocks too",
    ],
    [
      "a second run is not compared",
      "if (deterministic) return { ...accuracy, deterministic };",
      "return { ...accuracy, deterministic };",
      "a kernel could be wrong every second time",
    ],
    [
      "outputs keep what the first run wrote",
      "      set!.poison(poison);\n",
      "",
      "a second run could do nothing",
    ],
    [
      "the second run is on the poison of the first",
      "    once(other);\n",
      "    once();\n",
      "a kernel could know checks by NaN",
    ],
    [
      "wrong kernels are timed",
      "await life.check(); //",
      "await life.check().catch(() => {}); //",
      "a kernel that computes nothing would be the fastest",
    ],
    [
      "samples are not checked after timing",
      "    await life.recheck();",
      "    //",
      "a kernel could stop working while it is timed",
    ],
    [
      "no telemetry",
      "this.#telemetry = context.device.telemetry?.() ?? {};",
      "this.#telemetry = {};",
      "rows would have no clocks",
    ],
  ]),
  ...inFile("bench/measure/stats.ts", [TIME, "bench/measure/stats_test.ts"], [
    [
      "the upper neighbour for a quantile",
      "return low + (high - low) * (at - Math.floor(at));",
      "return high;",
      "medians of even counts would be high",
    ],
    [
      "quantiles by n",
      "const at = q * (sorted.length - 1);",
      "const at = Math.min(q * sorted.length, sorted.length - 1);",
      "quantiles would be high",
    ],
    [
      "the variance by n",
      "mean(squares) * values.length / (values.length - 1)",
      "mean(squares)",
      "the spread of a few runs would be low",
    ],
    [
      "plain medians of series with phases",
      "return medians ? mean(medians) : median(samples);",
      "return median(samples);",
      "a median could be of one state of the driver",
    ],
    [
      "the median of the phases' medians",
      "return medians ? mean(medians) : median(samples);",
      "return medians ? median(medians) : median(samples);",
      "a median could be of one state of the driver",
    ],
    [
      "residues that explain nothing count",
      "const EXPLAINED = 30.58;",
      "const EXPLAINED = 0;",
      "interrupts of a loaded host would move the median",
    ],
    [
      "residues that move the median far count",
      "const MOST_SHIFT = 0.25;",
      "const MOST_SHIFT = 1e9;",
      "interrupts of a loaded host would move the median",
    ],
    [
      "residuals are not widened",
      "const wider = few / (few - 1);",
      "const wider = 1;",
      "intervals would be narrow",
    ],
  ]),
  ...inFile("bench/measure/figures.ts", [FIGURES, SPINE], [
    [
      "SOL is the faster of the two limits",
      "Math.max(...limits)",
      "Math.min(...limits)",
      "kernels that are too fast would not be seen",
    ],
    [
      "the launch overhead is not part of the compute limit",
      "[floor + flops / rate * 1e6]",
      "[flops / rate * 1e6]",
      "the bound of small products would be low",
    ],
    [
      "rates by the mean",
      "tflops: flops / ns.median / 1e3",
      "tflops: flops / ns.mean / 1e3",
      "rates would not be of the time beside them",
    ],
    [
      "the overhead of a launch for graphs",
      'return timer === "graph" ? calibration?.graph_us',
      'return timer !== "graph" ? calibration?.graph_us',
      "the share of the overhead would be wrong",
    ],
    [
      "SOL of another timer",
      "calibration?.timer === timer\n    ? speedOfLight",
      "calibration !== undefined\n    ? speedOfLight",
      "batch rows would be above SOL",
    ],
  ]),
];
