import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import type { Event } from "../bench/worker/protocol.ts";
import { readTimings, type TimingEntry } from "../bench/tune/timing_cache.ts";
import { timingEntry } from "../bench/testdata/timings.ts";
import { Remembered } from "./remembered_timings.ts";

function tuned(entry: TimingEntry): Event {
  return { event: "tuned", entry } as Event;
}

Deno.test("Remembered keeps what a run found before it was killed, of repeats the first", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const [draft, timingCache] = [join(dir, "draft"), join(dir, "t.json")];
    const first = new Remembered({ timingCache }, draft);
    assertEquals(first.keep(), []);
    first.take(tuned(timingEntry("a", { us: 1 })));
    // Killed here; the same command goes on.
    const second = new Remembered({ timingCache }, draft);
    second.take(tuned(timingEntry("a", { us: 2 })));
    second.take(tuned(timingEntry("b", { us: 3 })));
    assertEquals(readTimings(timingCache).size, 0);
    assertMatch(second.keep().join(), /^Kept 2 configs in .*t\.json$/);
    assertEquals(
      readTimings(timingCache).entries.map(([, { us }]) => us).sort(),
      [1, 3],
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("Remembered keeps nothing without a timing cache", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const one = new Remembered({}, join(dir, "draft"));
    one.take(tuned(timingEntry("a")));
    assertEquals(one.keep(), []);
    assertEquals([...Deno.readDirSync(dir)], []);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
