/**
 * A tunable kernel on the fake device, and what choosing its config gave.
 *
 * @module
 */

import type { Settings } from "../../bench/model/settings.ts";
import type { Event, Tuned } from "../../bench/worker/protocol.ts";
import { TimingCache } from "../../bench/tune/timing_cache.ts";
import type { FakeKernel } from "../fake/fake.ts";
import { multiply, rowsOf, suiteOf } from "./spine.ts";

/** Values of the tunable. */
export const TILES = [8, 16, 32];
/** One case, one kernel, three configs. */
export const suite = suiteOf(["tiled"], { TILE: TILES });

/** 7 µs at TILE=16, 8 µs elsewhere. */
const tiled: FakeKernel = {
  ns: (_, { TILE }) => TILE === 16 ? 7000 : 8000,
  run: multiply,
};

/** The configs that were looked at. */
export const timed = (events: readonly Event[]) =>
  new Set(events.flatMap((e) => e.event === "config" ? [e.config] : []));

/** Runs the only case, with what is in `timings`. */
export async function one(
  { timings = new TimingCache(), kernel = tiled, cases = suite, ...more }: {
    timings?: TimingCache;
    kernel?: FakeKernel;
    cases?: typeof suite;
    settings?: Partial<Settings>;
    probes?: Record<string, readonly string[]>;
  } = {},
) {
  const { rows, events } = await rowsOf(cases, {
    kernels: { tiled: kernel },
    timings,
    ...more,
    settings: { search: 0.1, ...more.settings },
  });
  return {
    row: rows[0]!,
    events,
    tuned: events.find((e): e is Tuned => e.event === "tuned"),
  };
}

/** A cache that knows what a search found. */
export async function filled(
  settings: Partial<Settings> = {},
): Promise<TimingCache> {
  const { tuned } = await one({ settings });
  return new TimingCache([tuned!.entry!]);
}
