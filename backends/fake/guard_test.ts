/** Kernels that are right where they are checked, and cheat where they are timed. */

import { grid } from "../../bench/model/grid.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { CaseError } from "../../bench/model/errors.ts";
import { defineLaunch } from "../../bench/model/kernel.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { scaledMatmul } from "../../kernels/scaled/op.ts";
import type { ScaledPoint } from "../../kernels/scaled/point.ts";
import type { Timer } from "../../bench/model/settings.ts";
import { decode, encode } from "../../bench/model/dtype.ts";
import type { FakeKernel } from "./fake.ts";
import {
  fakeLaunch,
  memoryOf,
  multiply,
  right,
  rowsOf,
  suiteOf,
} from "../testdata/spine.ts";

type Work = (args: readonly unknown[]) => void;
type Bytes = Uint8Array<ArrayBuffer>;

const matrices = (args: readonly unknown[]) =>
  args.slice(0, 3).map(memoryOf) as [Bytes, Bytes, Bytes];

/** Computes what `keyOf` tells apart once, and takes it from memory from then on. */
function remember(keyOf: (a: Bytes, b: Bytes) => unknown): Work {
  const known = new Map<unknown, Bytes>();
  return (args) => {
    const [a, b, c] = matrices(args);
    const key = keyOf(a, b);
    const found = known.get(key);
    if (found) return c.set(found);
    multiply(args);
    known.set(key, c.slice());
  };
}

/** Computes only where `needed` of C, which a call before may have left right. */
function skip(needed: (c: Bytes, args: readonly unknown[]) => boolean): Work {
  return (args) => {
    if (needed(matrices(args)[2], args)) multiply(args);
  };
}

/** Element (0, 0) of A · B: 4 × 4 × 32. */
function firstOf(args: readonly unknown[]): number {
  const [a, b] = matrices(args).map((x) => decode(x.slice(), "bf16"));
  let sum = 0;
  for (let k = 0; k < 32; k++) sum += a![k]! * b![4 * k]!;
  return decode(encode([sum], "bf16"), "bf16")[0]!;
}

/** What was not written is what an earlier call or the harness left. */
const UNDONE =
  /: (still poison, so the work was not done when the clock stopped|right for earlier inputs, so .*)$/;

/** The same, or of the second check, before which C is filled with another byte. */
const NOT_NAN = new RegExp(`^on its second run, C: |${UNDONE.source}`);

/** Each cheat's idea, and what a row says about it. */
const CHEATS: Readonly<Record<string, readonly [() => Work, RegExp]>> = {
  "remembers by pointer": [
    () => remember((a) => a.buffer),
    /: C .*: right for earlier inputs, so it was remembered and not computed$/,
  ],
  "remembers by a hash of a row of A and of B": [
    () => remember((a, b) => `${a.subarray(0, 64)} ${b.subarray(0, 8)}`),
    /: right for earlier inputs/,
  ],
  "remembers by a hash of A alone": [
    () => remember((a) => a.join()),
    /: right for earlier inputs/,
  ],
  "remembers by a hash of B alone": [
    () => remember((_, b) => b.join()),
    /: right for earlier inputs/,
  ],
  "skips where C is not NaN": [
    () => skip((c) => c.every((byte) => byte === 0xff)),
    NOT_NAN,
  ],
  "skips where no element is NaN": [
    () => skip((c) => decode(c.slice(), "bf16").some(Number.isNaN)),
    NOT_NAN,
  ],
  "skips where one element is right": [
    () => skip((c, args) => decode(c.slice(), "bf16")[0] !== firstOf(args)),
    UNDONE,
  ],
  "skips where C is as it left it": [
    () => {
      const left = new Map<ArrayBuffer, string>();
      return (args) => {
        const [, , c] = matrices(args);
        if (left.get(c.buffer) === c.join()) return;
        multiply(args);
        left.set(c.buffer, c.join());
      };
    },
    /: right for earlier inputs/,
  ],
  "computes every second time": [
    () => {
      let calls = 0;
      return (args) => {
        // Checks come in pairs.
        if (calls++ < 4 || calls % 2 === 0) multiply(args);
      };
    },
    UNDONE,
  ],
  "computes an eighth of K from the 40th call on": [
    () => {
      let calls = 0;
      return (args) => {
        multiply(args);
        if (calls++ < 40) return;
        const [a, b, c] = matrices(args);
        const [x, y] = [a, b].map((bytes) => decode(bytes.slice(), "bf16"));
        const sums = Array.from({ length: 16 }, (_, i) => {
          let sum = 0;
          for (let k = 0; k < 4; k++) {
            sum += x![32 * Math.floor(i / 4) + k]! * y![4 * k + i % 4]!;
          }
          return sum;
        });
        c.set(encode(sums, "bf16"));
      };
    },
    /at sample \d+ of \d+.*: C \(\d, \d\) is .* instead of .* compared elements are wrong\)$/,
  ],
  "repacks B once": [
    () => {
      const packed = new Map<ArrayBuffer, Bytes>();
      return (args) => {
        const [, b] = matrices(args);
        if (!packed.has(b.buffer)) packed.set(b.buffer, b.slice());
        const memory = { host: packed.get(b.buffer)! };
        multiply(args.map((arg, i) => i === 1 ? { memory } : arg));
      };
    },
    /while timed, at sample/,
  ],
  "keeps the last row of C": [
    () => {
      const rows = new Map<ArrayBuffer, Bytes>();
      return (args) => {
        multiply(args);
        const [, , c] = matrices(args);
        if (!rows.has(c.buffer)) rows.set(c.buffer, c.slice(24));
        c.set(rows.get(c.buffer)!, 24);
      };
    },
    /: right for earlier inputs/,
  ],
  "writes past the end from the 40th call on": [
    () => {
      let calls = 0;
      return (args) => {
        multiply(args);
        if (calls++ < 40) return;
        const [, , c] = matrices(args);
        new Uint8Array(c.buffer).fill(0, c.byteOffset + 32, c.byteOffset + 36);
      };
    },
    /while timed, at sample \d+ of \d+.*: C: wrote past its end$/,
  ],
};

const TIMERS: readonly Timer[] = ["do_bench", "graph", "batch:3"];
const SEEDS = [1, 2, 3];

/** Enough calls before the samples that a cheat can begin with them. */
const settings = { warmup: 0.2, rep: 1 };

for (const [name, [work, message]] of Object.entries(CHEATS)) {
  Deno.test(`a kernel that ${name} while it is timed is wrong`, async () => {
    for (const timer of TIMERS) {
      for (const chance of SEEDS) {
        const { rows: [row] } = await rowsOf(suiteOf(["cheat"]), {
          kernels: { cheat: { ns: 5000, run: work() } },
          settings: { ...settings, timer },
          chance,
        });
        assertEquals(row!.status, "wrong", `${timer}, ${chance}`);
        assertMatch(row!.note, message, `${timer}, ${chance}`);
      }
    }
  });
}

/** Cheats that only several sets of inputs invite. */
const BATCH: typeof CHEATS = {
  "copies the first set's output": [
    () => {
      let [calls, first]: [number, Bytes | undefined] = [0, undefined];
      const buffers = new Map<ArrayBuffer, number>();
      return (args) => {
        const [, , c] = matrices(args);
        if (!buffers.has(c.buffer)) buffers.set(c.buffer, buffers.size);
        if (buffers.get(c.buffer) === 0 || calls++ < 20) multiply(args);
        else c.set(first!);
        if (buffers.get(c.buffer) === 0) first = c.slice();
      };
    },
    /input set [23] of 3: C .*: right for input set 1, so it was copied from there$/,
  ],
  "leaves zeros in the others": [
    () => {
      const buffers = new Set<ArrayBuffer>();
      return (args) => {
        const [, , c] = matrices(args);
        buffers.add(c.buffer);
        if ([...buffers][0] === c.buffer) multiply(args);
        else c.fill(0);
      };
    },
    /input set [23] of 3: C \(\d, \d\) is 0 instead of/,
  ],
};

for (const [name, [work, message]] of Object.entries(BATCH)) {
  Deno.test(`a kernel that ${name} in a batch is wrong`, async () => {
    for (const chance of SEEDS) {
      const { rows: [row] } = await rowsOf(suiteOf(["cheat"]), {
        kernels: { cheat: { ns: 5000, run: work() } },
        settings: { ...settings, timer: "batch:3" },
        chance,
      });
      assertEquals(row!.status, "wrong", `${chance}`);
      assertMatch(row!.note, message, `${chance}`);
    }
  });
}

Deno.test("an honest kernel passes, whatever changes while it is timed", async () => {
  for (const timer of TIMERS) {
    for (const cache of ["cold", "warm"] as const) {
      for (let chance = 1; chance <= 8; chance++) {
        const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
          kernels: { right },
          settings: { ...settings, timer, cache },
          chance,
        });
        const what = `${timer}, ${cache}, ${chance}`;
        assert(row?.status === "ok", `${what}: ${row?.note}`);
        assertEquals(row.note, "", what);
        assertEquals(row.figures.median_us, 5, what);
      }
    }
  }
});

/** Adds to each element an error that grows with the terms of its sum, as tensor cores do. */
function roughly(point: ScaledPoint): Work {
  return (args) => {
    const inputs = args.slice(0, 4).map((arg) => memoryOf(arg).slice());
    const { all, norms } = scaledMatmul.reference(point, inputs);
    const [rows, columns] = [point.m, point.n].map((n) => [...Array(n).keys()]);
    const sizes = norms!(0, rows!, columns!);
    const sums = all(0).map((sum, i) => sum + 0.003 * sizes[i]!);
    memoryOf(args[4]).set(encode(sums, "bf16"));
  };
}

Deno.test("an error that grows with changed scales is none of the kernel", async () => {
  const point = { m: 4, n: 8, k: 1024, scale: "tensor" } as const;
  const suite = defineSuite<ScaledPoint>({
    name: "fp8",
    title: "FP8",
    op: scaledMatmul,
    baselines: [],
    axes: { m: [point.m], n: [point.n], k: [point.k] },
    kernels: [
      defineLaunch(scaledMatmul, {
        name: "rough",
        backend: "fake",
        source: new URL("./fake.ts", import.meta.url),
        entry: "rough",
        tunables: {},
        shape: () => ({ grid: [1, 1, 1], block: [32, 1, 1] }),
      }),
    ],
  });
  for (let chance = 1; chance <= 8; chance++) {
    const { rows: [row] } = await rowsOf(suite, {
      kernels: { rough: { ns: 5000, run: roughly(point) } },
      settings,
      chance,
    });
    assert(row?.status === "ok", `${chance}: ${row?.note}`);
  }
});

Deno.test("one element of many that is not written while timed is found", async () => {
  let calls = 0;
  const { rows: [row] } = await rowsOf(
    defineSuite<MatmulPoint>({
      name: "wide",
      title: "Wide",
      op: matmul,
      baselines: [],
      axes: { m: [128], k: [4] },
      tie: { n: "m" },
      kernels: [fakeLaunch("sparing")],
    }),
    {
      kernels: {
        sparing: {
          ns: 5000,
          run(args) {
            const c = memoryOf(args[2]);
            const kept = c.slice(777 * 2, 778 * 2);
            multiply(args);
            if (calls++ > 30) c.set(kept, 777 * 2);
          },
        },
      },
    },
  );
  assertMatch(
    row!.note,
    /^while timed, at sample \d+ of 33: C \(6, 9\) is .*: still poison/,
  );
});

/** A kernel that counts how often its inputs and the poison of its output changed. */
function watcher() {
  const seen = {
    inputs: new Set<string>(),
    bytes: new Set<number>(),
    kinds: { whole: 0, part: 0, stale: 0 },
  };
  let last = "";
  const kernel: FakeKernel = {
    ns: 5000,
    run(args) {
      const [a, b, c] = matrices(args);
      seen.inputs.add(`${a.join()} ${b.join()}`);
      const kind = c.every((byte) => byte === c[0])
        ? "whole"
        : c.join() === last
        ? "stale"
        : "part";
      seen.kinds[kind]++;
      if (kind === "whole") seen.bytes.add(c[0]!);
      multiply(args);
      last = c.join();
    },
  };
  return { seen, kernel };
}

Deno.test("a kernel that remembers the results of all inputs is suspect", async () => {
  const keyOf = (args: readonly unknown[]) => {
    const [a, b] = matrices(args);
    return `${a.join()} ${b.join()}`;
  };
  const timers = ["do_bench", "graph"] as const;
  const caches = ["cold", "warm"] as const;
  for (const { timer, cache } of grid({ timer: timers, cache: caches })) {
    const known = new Map<string, Bytes>();
    const memo: FakeKernel = {
      ns: (_launch, _defines, args) => known.has(keyOf(args)) ? 800 : 5000,
      run(args) {
        const [, , c] = matrices(args);
        const found = known.get(keyOf(args));
        if (found) return c.set(found);
        multiply(args);
        known.set(keyOf(args), c.slice());
      },
    };
    const { rows: [row] } = await rowsOf(suiteOf(["memo"]), {
      kernels: { memo },
      settings: { ...settings, timer, cache },
    });
    assertMatch(
      row!.note,
      /suspect: samples right after a change of the inputs take 5\.00 µs, the others 0\.800 µs: results may be remembered/,
    );
  }
});

/** Elements of `a` that are not those of `b`, of two bytes each. */
function differing(a: Bytes, b: Bytes): number {
  let count = 0;
  for (let i = 0; i < a.length; i += 2) {
    if (a[i] !== b[i] || a[i + 1] !== b[i + 1]) count++;
  }
  return count;
}

/** Remembers a result, and repairs what a few other elements change in it, in `fast` nanoseconds. */
function repairing(slow: number, fast: number): FakeKernel {
  let known: readonly [Bytes, Bytes] | undefined;
  return {
    ns(_launch, _defines, args) {
      const [a, b] = matrices(args);
      const isRepaired = known !== undefined &&
        differing(a, known[0]) + differing(b, known[1]) <= 8;
      known = [a.slice(), b.slice()];
      return isRepaired ? fast : slow;
    },
    run: multiply,
  };
}

Deno.test("a kernel that repairs a few elements of a result it remembers is suspect", async () => {
  const timers = ["do_bench", "graph"] as const;
  const caches = ["cold", "warm"] as const;
  for (const { timer, cache } of grid({ timer: timers, cache: caches })) {
    const repairs = repairing(5000, 800);
    for (let chance = 1; chance <= 4; chance++) {
      const { rows: [row] } = await rowsOf(suiteOf(["repairs"]), {
        kernels: { repairs },
        settings: { ...settings, timer, cache },
        chance,
      });
      assertMatch(
        row!.note,
        /suspect: samples right after a change of the inputs take 5\.00 µs, the others 0\.800 µs: results may be remembered/,
        `${timer}, ${cache}, ${chance}`,
      );
    }
  }
});

Deno.test("3 µs more after a few new elements are suspect on a GPU, not on a CPU with a warm cache", async () => {
  for (const shared of [false, true]) {
    for (let chance = 1; chance <= 4; chance++) {
      let known: readonly [Bytes, Bytes] | undefined;
      const slower: FakeKernel = {
        ns(_launch, _defines, args) {
          const [a, b] = matrices(args);
          const changed = known === undefined
            ? 0
            : differing(a, known[0]) + differing(b, known[1]);
          known = [a.slice(), b.slice()];
          return changed > 0 && changed <= 8 ? 5000 : 2000;
        },
        run: multiply,
      };
      const { rows: [row] } = await rowsOf(suiteOf(["slower"]), {
        kernels: { slower },
        settings: { ...settings, cache: "warm" },
        shared,
        chance,
      });
      assertEquals(
        /take 5\.00 µs, the others 2\.00 µs: results may be remembered/
          .test(row!.note),
        !shared,
        `${shared}, ${chance}: ${row!.note}`,
      );
    }
  }
});

Deno.test("a kernel that computes ahead while a flush runs gains nothing on a CPU", async () => {
  const keyOf = (args: readonly unknown[]) => {
    const [a, b] = matrices(args);
    return `${a.join()} ${b.join()}`;
  };
  for (const rep of [0.2, 2]) {
    for (let chance = 1; chance <= 4; chance++) {
      let [last, known]: [readonly unknown[] | undefined, string] = [
        undefined,
        "",
      ];
      const ahead: FakeKernel = {
        ns: (_launch, _defines, args) => keyOf(args) === known ? 800 : 5000,
        run(args) {
          multiply(args);
          last = args;
          known = keyOf(args);
        },
      };
      const { rows: [row] } = await rowsOf(suiteOf(["ahead"]), {
        kernels: { ahead },
        settings: { ...settings, rep },
        shared: true,
        chance,
        log(what) {
          if (what === "fill 16384" && last) known = keyOf(last);
        },
      });
      assert(row?.status === "ok", row?.note);
      const told = `${rep}, ${chance}: ${row.figures.median_us} µs`;
      if (row.figures.samples < 24) {
        assertEquals(row.figures.median_us, 5, told);
      } else assertMatch(row.note, /: results may be remembered(;|$)/, told);
    }
  }
});

Deno.test("the median of a few samples is of whole inputs that are new", async () => {
  const ms = 1e6;
  const repairs = repairing(ms, ms / 10);
  for (let chance = 1; chance <= 8; chance++) {
    const { rows: [row] } = await rowsOf(suiteOf(["repairs"]), {
      kernels: { repairs },
      settings: { ...settings, cache: "cold" },
      chance,
    });
    assert(row?.status === "ok", row?.note);
    assertEquals([row.figures.samples, row.figures.median_us], [10, 1000]);
  }
});

Deno.test("no sample begins with the right output, which settled a warm cache", async () => {
  const isDone = (args: readonly unknown[]) => {
    const [a, b, c] = matrices(args);
    const own = c.slice();
    const sums = args.map((arg, i) =>
      i < 3 ? { memory: { host: [a, b, own][i] } } : arg
    );
    multiply(sums);
    return own.join() === c.join();
  };
  for (let chance = 1; chance <= 8; chance++) {
    const { rows: [row] } = await rowsOf(suiteOf(["idle"]), {
      kernels: {
        idle: {
          ns: (_launch, _defines, args) => isDone(args) ? 100 : 5000,
          run: multiply,
        },
      },
      settings: { ...settings, timer: "graph", cache: "warm" },
      chance,
    });
    assert(row?.status === "ok", row?.note);
    assertEquals(row.figures.min_us, 5, `${chance}`);
  }
});

/** A row of a kernel with 2 KB of the cache's 4, which take 3 µs to read. */
async function rowOfReader(saves: boolean, timer: Timer = "do_bench") {
  // What wrote the cache last, and what does so now.
  let [before, now] = ["", ""];
  const { rows: [row] } = await rowsOf(
    defineSuite<MatmulPoint>({
      name: "large",
      title: "Large",
      op: matmul,
      baselines: [],
      axes: { m: [16], k: [24] },
      tie: { n: "m" },
      kernels: [fakeLaunch("reader")],
    }),
    {
      kernels: {
        load_only: { ns: 5000 },
        reader: {
          ns: () => saves && before === "reader" ? 5_000 : 6_000,
          run: multiply,
        },
      },
      settings: { ...settings, timer },
      log(what) {
        if (/^(fill|reader)/.test(what)) {
          [before, now] = [now, what.split(" ")[0]!];
        }
      },
    },
  );
  assert(row?.status === "ok", row?.note);
  return row;
}

Deno.test("a cold row that is as fast as a warm one is suspect", async () => {
  assertMatch(
    (await rowOfReader(false)).note,
    /^suspect: as fast with a cold cache \(6\.00 µs\) as with a warm one \(6\.00 µs\), though reading its bytes takes 3\.00 µs: they may have stayed in the cache$/,
  );
  assertEquals((await rowOfReader(true)).note, "");
  // Two calls of a sample, of 2 KB each, leave nothing of the first in the cache.
  assertEquals((await rowOfReader(false, "batch:2")).note, "");
});

/** What was queued between the samples of a case: by sample, the entries of the log. */
async function between(cache: "cold" | "warm") {
  const log: string[] = [];
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    settings: { ...settings, cache },
    log: (what) => log.push(what),
  });
  assert(row?.status === "ok", row?.note);
  const starts = log.flatMap((what, i) => what === "start" ? [i] : [])
    .slice(-row.figures.samples);
  return starts.slice(1).map((start, i) =>
    log.slice(log.indexOf("end", starts[i]) + 1, start)
  );
}

Deno.test("copies between samples come in rounds of the driver's ring", async () => {
  const copies = (await between("cold")).map((all) =>
    all.filter((what) => what.startsWith("copy")).length
  );
  assertEquals(new Set(copies.map((n) => n % 32)), new Set([0]));
  assert(copies.filter((n) => n > 0).length >= 12, copies.join());
});

Deno.test("copies of outputs come right behind the end of a sample", async () => {
  const first = (await between("cold")).map(([what]) => what);
  // An output of 32 bytes, its page and the guard bands.
  const kept = first.filter((what) => what === "copy 12288");
  assertEquals(kept.length, 23, "all but the last one");
});

Deno.test("a call reads changed inputs before a warm sample, and none before a cold one", async () => {
  for (const [cache, calls] of [["warm", 32], ["cold", 0]] as const) {
    const all = await between(cache);
    const changed = all.filter((queued) =>
      queued.some((what) => /^copy (2|256)$/.test(what))
    );
    assert(changed.length > 4, `${changed.length}`);
    for (const queued of changed) {
      assertEquals(queued.filter((what) => what === "right").length, calls);
    }
  }
});

Deno.test("a kernel that sets part of the cache aside is suspect", async () => {
  let bytes = 12 << 20;
  const persisting = { forbid: () => void (bytes = 0), bytes: () => bytes };
  const { rows: [honest, cheat] } = await rowsOf(suiteOf(["right", "keeps"]), {
    kernels: {
      right,
      keeps: {
        ns: 5000,
        run(args) {
          bytes = 4 << 10;
          multiply(args);
        },
      },
    },
    persisting,
  });
  assertEquals([honest!.status, honest!.note], ["ok", ""]);
  assertEquals([cheat!.status, cheat!.note], [
    "wrong",
    "suspect: set 4 KiB of the cache aside for lines that outlast a flush",
  ]);
});

Deno.test("run() notes that a driver sets part of the cache aside", async () => {
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    persisting: {
      forbid() {
        throw new CaseError("launch", "cuCtxSetLimit: status 801");
      },
      bytes: () => 12 << 20,
    },
  });
  assertEquals([row!.status, row!.note], [
    "ok",
    "kernels may keep lines in the cache through a flush: cuCtxSetLimit: status 801",
  ]);
});

Deno.test("inputs change without repeating, and poison with each sample", async () => {
  const { seen, kernel } = watcher();
  const { rows: [row] } = await rowsOf(suiteOf(["watcher"]), {
    kernels: { watcher: kernel },
    settings,
  });
  assert(row?.status === "ok", row?.note);
  assertEquals(row.figures.samples, 66);
  // The original ones, and each change.
  assert(seen.inputs.size > 14, `${seen.inputs.size}`);
  const { whole, part, stale } = seen.kinds;
  assert(whole > 20 && part > 12 && stale > 2, JSON.stringify(seen.kinds));
  assert(seen.bytes.size > 15, `${seen.bytes.size}`);
});

Deno.test("a row is kept where there is no room for a guard", async () => {
  // Three operands between their bands, the flush and the sink, and little more.
  const room = 3 * 3 * 4096 + 16384 + 4096;
  const options = { kernels: { right }, settings };
  for (
    const [spare, note] of [
      [
        0,
        /^no room for changes of inputs.*; no room for copies of the outputs/,
      ],
      [
        128,
        /^no room for a second copy of the inputs: only a few elements changed while timed; .*no room/,
      ],
      [4096, /^no room for copies of the outputs: they were not compared/],
    ] as const
  ) {
    const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
      ...options,
      memoryBytes: room + spare,
    });
    assert(row?.status === "ok", row?.note);
    assertMatch(row.note, note);
  }
});

Deno.test("a kernel whose work is done in the next flush is wrong", async () => {
  for (const timer of TIMERS) {
    for (const chance of SEEDS) {
      let calls = 0;
      let later: (() => void)[] = [];
      const late: FakeKernel = {
        ns: 5000,
        run(args) {
          if (calls++ < 40) return multiply(args);
          const [a, b, c] = matrices(args);
          const own = [a, b].map((bytes) => ({
            memory: { host: bytes.slice() },
          }));
          const rest = [{ memory: { host: c } }, ...args.slice(3)];
          later.push(() => multiply([...own, ...rest]));
        },
      };
      const { rows: [row] } = await rowsOf(suiteOf(["late"]), {
        kernels: { late },
        settings: { ...settings, timer },
        chance,
        log(what) {
          if (what !== "fill 16384") return;
          for (const work of later) work();
          later = [];
        },
      });
      assertEquals(row!.status, "wrong", `${timer}, ${chance}`);
      assertMatch(row!.note, /^while timed/, `${timer}, ${chance}`);
    }
  }
});
