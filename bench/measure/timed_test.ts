import { assertEquals } from "@std/assert";
import type { BenchContext, Prepared } from "./context.ts";
import type { Problem } from "../model/suite.ts";
import { setsOf, timedOf } from "./timed.ts";

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
