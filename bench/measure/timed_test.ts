import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { BenchContext, Prepared } from "./context.ts";
import {
  copiesOf,
  type Rotated,
  rotationOf,
  setsOf,
  timedOf,
} from "./timed.ts";
import { CaseError } from "../model/errors.ts";
import type { Operand } from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";

const problem = {
  operands: [
    { name: "x", role: "in", type: "f32", rows: 1, cols: 256, ld: 256 },
  ],
} as unknown as Problem;

/** What is queued for `count` samples where a flush takes `flushBytes`. */
function queued(
  flushBytes: number,
  rotates: boolean,
  count: number,
  timer = "do_bench",
) {
  const log: string[] = [];
  const context = {
    settings: { timer, cache: "cold" },
    device: { info: { flushBytes } },
    options: { backend: { name: "test", rotates } },
    flush: () => void log.push("flush"),
    stopwatch: {
      take(count: number, { run, flush }: { run(): void; flush(): void }) {
        return Array.from({ length: count }, () => {
          flush();
          run();
          return 6;
        });
      },
    },
  } as unknown as BenchContext;
  const plans = Array.from(
    { length: setsOf(context, problem) },
    (_, i) => ({ run: () => void log.push(`${i}`) }) as unknown as Prepared,
  );
  using timed = timedOf(context, plans, problem);
  const samples = timed.take(count);
  const before = log.length;
  timed.again();
  return {
    samples,
    log: log.slice(0, before).join(" "),
    again: log.slice(before).join(" "),
  };
}

Deno.test("timedOf() lets operands take turns instead of a flush", () => {
  assertEquals(queued(2048, true, 4), {
    samples: [6, 6, 6, 6],
    log: "0 1 2 0",
    again: "1 2 0",
  });
});

Deno.test("timedOf() flushes too where too few bytes take turns", () => {
  assertEquals(queued(1 << 20, true, 2).log, "flush 0 flush 1");
});

Deno.test("timedOf() calls every set once again, unflushed", () => {
  assertEquals(queued(2048, true, 1).again, "1 2 0");
  assertEquals(queued(2048, false, 1).again, "0");
  assertEquals(queued(2048, false, 1, "batch:3").again, "0 1 2");
});

Deno.test("timedOf() flushes where nothing takes turns", () => {
  assertEquals(queued(2048, false, 2).log, "flush 0 flush 0");
});

/** What one sample of a chain queues where the first step of a plan may start early, or not. */
function chained(timer: string, early: boolean, capture = true): string {
  const log: string[] = [];
  const context = {
    settings: { timer, cache: "warm" },
    device: {
      info: {},
      ...(capture
        ? {
          capture(work: () => void) {
            log.push("capture");
            work();
            return {
              launch: () => void log.push("replay"),
              [Symbol.dispose]: () => void log.push("freed"),
            };
          },
        }
        : {}),
    },
    options: { backend: { name: "test" } },
    flush: () => {},
    stopwatch: {
      take: (count: number, { run }: { run(): void }) =>
        Array.from({ length: count }, () => {
          run();
          return 12;
        }),
    },
  } as unknown as BenchContext;
  const step = {
    label: "first",
    capturable: true,
    ...(early ? { early: () => {} } : {}),
  };
  const plans = Array.from({ length: setsOf(context, problem) }, (_, i) =>
    ({
      plan: { steps: [step] },
      run: (early: boolean) => void log.push(`${i}${early ? " early" : ""}`),
    }) as unknown as Prepared);
  using timed = timedOf(context, plans, problem);
  return `${timed.take(2)}: ${log.join(", ")}`;
}

Deno.test("timedOf() replays one graph of all calls of a chain, and gives the time of one", () => {
  assertEquals(
    chained("chain:3", false),
    "4,4: capture, 0, 1, 2, replay, replay",
  );
});

Deno.test("timedOf() starts all calls of a chain but the first early with pdl", () => {
  assertEquals(
    chained("chain:3:pdl", true),
    "4,4: capture, 0, 1 early, 2 early, replay, replay",
  );
});

Deno.test("timedOf() refuses a chain without graphs, and pdl for a kernel that does not wait", () => {
  assertEquals(
    assertThrows(() => chained("chain:3", false, false), CaseError).message,
    "test has no graphs: time with --timer do_bench or --timer batch:N",
  );
  const { failure, message } = assertThrows(
    () => chained("chain:3:pdl", false),
    CaseError,
  );
  assertEquals([failure, message], [
    "unsupported",
    "first does not wait for the call before it (waits in its shape), as chain:3:pdl needs: time with --timer chain:3",
  ]);
});

Deno.test("timedOf() lets copies take turns, each in a graph of its own after a flush", () => {
  const log: string[] = [];
  let graphs = 0;
  const context = {
    settings: { timer: "graph", cache: "cold" },
    device: {
      info: {},
      capture(work: () => void) {
        work();
        const graph = graphs++;
        return {
          launch: () => void log.push(`replay ${graph}`),
          [Symbol.dispose]: () => {},
        };
      },
    },
    options: { backend: { name: "test" } },
    flush: () => void log.push("flush"),
    stopwatch: {
      take: (count: number, { run, flush }: { run(): void; flush(): void }) =>
        Array.from({ length: count }, () => {
          flush();
          run();
          return 6;
        }),
    },
  } as unknown as BenchContext;
  const plans = [0, 1].map(() =>
    ({ plan: { steps: [] }, run: () => {} }) as unknown as Prepared
  );
  using timed = timedOf(context, plans, problem);
  const queuedBy = (work: () => void) => {
    log.length = 0;
    work();
    return log.join(", ");
  };
  assertEquals(
    queuedBy(() => timed.take(3)),
    "flush, replay 0, flush, replay 1, flush, replay 0",
  );
  // What a warm sample reads is that which was read just before it.
  assertEquals(
    queuedBy(() => timed.warm(2)),
    "flush, replay 1, replay 1, flush, replay 0, replay 0",
  );
});

const context: Rotated = {
  settings: { timer: "do_bench", cache: "cold", checkOnly: false, once: false },
  device: { info: { flushBytes: 1 << 20 } },
  options: { backend: { rotates: true } },
};
const operand = (rows: number, role: Operand["role"]): Operand => ({
  name: "x",
  role,
  type: "f32",
  rows,
  cols: 256,
  ld: 256,
});
const problemOf = (rows: number) => ({
  operands: [operand(rows, "in"), operand(rows, "in"), operand(999, "out")],
});

Deno.test("rotationOf() has as many sets as displace one", () => {
  // Inputs of 200 KiB: five others are a flush of 1 MiB, with one that is in use.
  assertEquals(rotationOf(context, problemOf(100)), {
    sets: 7,
    bytes: 6 * 204800,
    enough: true,
  });
  // One that is larger than the cache displaces itself, but for what is used last.
  assertStrictEquals(rotationOf(context, problemOf(1000))!.sets, 2);
});

Deno.test("rotationOf() says where the most sets are not enough", () => {
  assertEquals(rotationOf(context, problemOf(1)), {
    sets: 256,
    bytes: 255 * 2048,
    enough: false,
  });
});

Deno.test("rotationOf() is for cold samples of backends that ask for it", () => {
  const others: Rotated[] = [
    { ...context, settings: { ...context.settings, cache: "warm" } },
    { ...context, settings: { ...context.settings, timer: "batch:4" } },
    { ...context, settings: { ...context.settings, checkOnly: true } },
    { ...context, settings: { ...context.settings, once: true } },
    { ...context, options: { backend: {} } },
  ];
  for (const other of others) {
    assertStrictEquals(rotationOf(other, problemOf(100)), undefined);
  }
});

Deno.test("copiesOf() has as many as the placement says and as fit", () => {
  const placed = (
    copies: number,
    other: Partial<Rotated["settings"]> = {},
  ) => ({
    ...context,
    settings: { ...context.settings, timer: "graph" as const, ...other },
    options: { backend: { placement: { copies, pageBytes: 1 << 21 } } },
  });
  assertStrictEquals(copiesOf(placed(16), problemOf(100)), 16);
  // Inputs of 16 MiB and 8 KiB of guard bands each, and an output of one page.
  assertStrictEquals(copiesOf(placed(16), problemOf(16384)), 3);
  assertStrictEquals(copiesOf(placed(16), problemOf(1 << 20)), 1);
  for (
    const other of [
      { cache: "warm" as const },
      { timer: "chain:4" as const },
      { checkOnly: true },
      { once: true },
      { tune: true },
    ]
  ) assertStrictEquals(copiesOf(placed(16, other), problemOf(100)), 1);
  assertStrictEquals(copiesOf(context, problemOf(100)), 1);
});
