/** The order in which a case's work is queued: what each sample is measured after. */

import { assert, assertEquals } from "@std/assert";
import type { Timer } from "../../bench/model/settings.ts";
import { right, rowsOf, suiteOf } from "../testdata/spine.ts";

/** The device's `flushBytes`; no other memory of these cases is as large. */
const FLUSH = "fill 16384";

/** What the device did in a case, from the calibration's end on. */
async function queued(timer: Timer, cache: "cold" | "warm" = "cold") {
  const log: string[] = [];
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    settings: { timer, cache },
    log: (what) => log.push(what),
  });
  assert(row?.status === "ok", row?.note);
  // The samples are the last intervals that start; the check after them has none.
  const starts = log.flatMap((what, i) => what === "start" ? [i] : []);
  return { log, samples: starts.slice(-row.figures.samples) };
}

for (const timer of ["do_bench", "graph"] as const) {
  Deno.test(`run() flushes last before each sample of ${timer}, and measures nothing else`, async () => {
    const { log, samples } = await queued(timer);
    assert(samples.length >= 16);
    for (const [i, start] of samples.entries()) {
      const from = log.lastIndexOf("end", start);
      const before = log.slice(from + 1, start);
      assertEquals(before.at(-1), FLUSH, `sample ${i}`);
      assertEquals(before.filter((what) => what === FLUSH).length, 1);
      assertEquals(
        log.slice(start + 1, log.indexOf("end", start)),
        timer === "graph" ? ["graph", "right"] : ["right"],
      );
    }
  });
}

Deno.test("run() launches nothing before every fourth sample, ahead of its flush", async () => {
  const { log, samples } = await queued("do_bench");
  const nudged = samples.flatMap((start, i) => {
    const from = log.lastIndexOf("end", start);
    return log.slice(from + 1, start).includes("empty") ? [i] : [];
  });
  const every = samples.flatMap((_, i) => i % 4 === 3 ? [i] : []);
  assertEquals(nudged, every);
});

Deno.test("run() does not flush for a warm cache", async () => {
  const { log, samples } = await queued("do_bench", "warm");
  const [first, last] = [samples[0]!, samples.at(-1)!];
  assertEquals(log.slice(first, last).filter((what) => what === FLUSH), []);
});

Deno.test("run() reads no sample before the device has finished all", async () => {
  const { log, samples } = await queued("do_bench");
  const last = log.indexOf("end", samples.at(-1));
  const read = log.indexOf("read", samples[0]);
  const waited = log.indexOf("synchronize", last);
  assert(last < waited && waited < read, `${[last, waited, read]}`);
});
