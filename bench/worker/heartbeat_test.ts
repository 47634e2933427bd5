import { assertEquals } from "@std/assert";
import { ManualClock } from "../testdata/manual_clock.ts";
import { Pulse } from "./heartbeat.ts";

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
