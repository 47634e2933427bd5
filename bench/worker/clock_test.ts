import { assert, assertEquals } from "@std/assert";
import { realClock } from "./clock.ts";

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
