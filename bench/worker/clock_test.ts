import { assert, assertEquals } from "@std/assert";
import { ManualClock } from "../testdata/manual_clock.ts";
import { Pulse, realClock } from "./clock.ts";

Deno.test("realClock.timer() rings once, after its time", async () => {
  const start = realClock.now();
  const rang = Promise.withResolvers<number>();
  using _ = realClock.timer(5, () => rang.resolve(realClock.now()));
  // Timers are kept in whole milliseconds, the time is not.
  assert(await rang.promise - start >= 4);
});

Deno.test("realClock.timer() does not ring once it was disposed of", async () => {
  const rang: string[] = [];
  realClock.timer(0, () => rang.push("disposed of"))[Symbol.dispose]();
  const later = Promise.withResolvers<void>();
  using _ = realClock.timer(1, later.resolve);
  await later.promise;
  assertEquals(rang, []);
});

Deno.test("realClock.timer() can wait longer than a timer of JavaScript", async () => {
  let rang = false;
  const later = Promise.withResolvers<void>();
  using _long = realClock.timer(2 ** 40, () => rang = true);
  using _short = realClock.timer(5, later.resolve);
  await later.promise;
  assertEquals(rang, false);
});

Deno.test("realClock.block() takes its time", () => {
  const start = realClock.now();
  realClock.block(5);
  assert(realClock.now() - start >= 4);
});

/** A pulse by a clock of its own, and how often it was said. */
function setUp() {
  const clock = new ManualClock();
  let count = 0;
  return { clock, pulse: new Pulse(() => count++, clock), said: () => count };
}

Deno.test("Pulse.beat() says it once for beats that follow at once", () => {
  const { clock, pulse, said } = setUp();
  const beats = () => {
    for (let i = 0; i < 100; i++) pulse.beat();
    return said();
  };
  assertEquals(beats(), 0);
  clock.advance(49);
  assertEquals(beats(), 0);
  clock.advance(1);
  assertEquals(beats(), 1);
  clock.advance(49);
  assertEquals(beats(), 1);
  clock.advance(1);
  assertEquals(beats(), 2);
});

Deno.test("Pulse.during() says it until the work ends, and no longer than it may", async () => {
  const { clock, pulse, said } = setUp();
  const work = Promise.withResolvers<string>();
  const during = pulse.during(work.promise, 1e9);
  clock.advance(400);
  assertEquals(said(), 8);
  work.resolve("done");
  assertEquals(await during, "done");
  clock.advance(400);
  assertEquals(said(), 8);

  const long = Promise.withResolvers<void>();
  const limited = pulse.during(long.promise, 120);
  clock.advance(400);
  assertEquals(said(), 10);
  long.resolve();
  await limited;
  await pulse.during(Promise.resolve(), 0);
  assertEquals(said(), 10);
});

Deno.test("Pulse.during() is over where the work fails", async () => {
  const { clock, pulse, said } = setUp();
  const failed = await pulse.during(Promise.reject(new Error("no")), 1e9)
    .catch((error: Error) => error.message);
  assertEquals(failed, "no");
  clock.advance(400);
  assertEquals(said(), 0);
});
