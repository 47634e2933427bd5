/**
 * Opens a device several times and keeps the opening with the cheapest launches.
 *
 * On NVIDIA's driver a launch takes some 0.15 µs more or less in one context than in
 * another of the same process, for as long as the context lives: a matter of where the
 * driver happened to put its queue. Two runs of one build then differ by 4 %. Opening the
 * device again draws again, so it is opened a few times and a good one is kept.
 *
 * @module
 */

import type { BinaryCache } from "../device/binary_cache.ts";
import type { Backend, Device, DeviceInfo } from "../device/device.ts";
import { Instruments } from "../device/instruments.ts";
import { PHASES, summarize } from "./stats.ts";
import { Stopwatch, warm } from "./time.ts";
import type { Pulse } from "../worker/clock.ts";

/** Launches in a chain, and bytes that each reads: as a kernel of a few steps has them. */
const CHAIN = 3;
const BYTES = 1 << 20;
const SAMPLES = 16 * PHASES;
const FIRST_WARM_MS = 150;
/** Contexts this near to the best one seen are as good. */
const AS_GOOD = 1.01;
/** Openings after which the next one is kept, however it is. */
const PATIENCE = 4;
/** What a compiler is given at most. */
const COMPILE_MS = 300_000;

/**
 * Opens `info`, as often as {@linkcode Backend.openings} says and until the last is as good
 * as the best; once where the backend does not ask for more or has no compiler. `pulse` beats
 * between openings and while the instruments are compiled.
 */
export async function openSteady(
  backend: Backend,
  info: DeviceInfo,
  cache: BinaryCache,
  pulse: Pulse,
): Promise<Device> {
  const wanted = backend.openings ?? 1;
  let best = Infinity;
  for (let opening = 1;; opening++) {
    const device = backend.open(info);
    pulse.beat();
    if (wanted === 1) return device;
    try {
      const us = await chainTime(device, {
        backend,
        cache,
        pulse,
        warmMs: opening === 1 ? FIRST_WARM_MS : 0,
      });
      best = Math.min(best, us);
      const good = us <= AS_GOOD * best && opening >= wanted;
      if (Number.isNaN(us) || good || opening === wanted * PATIENCE) {
        return device;
      }
    } catch (error) {
      device[Symbol.dispose]();
      throw error;
    }
    device[Symbol.dispose]();
  }
}

/** Microseconds of a chain of short launches; NaN without a compiler. */
async function chainTime(
  device: Device,
  { backend, cache, pulse, warmMs }: {
    backend: Backend;
    cache: BinaryCache;
    pulse: Pulse;
    warmMs: number;
  },
): Promise<number> {
  const work = Instruments.open(device, { backend, cache });
  using instruments = await pulse.during(work, COMPILE_MS);
  if (instruments.missing) return NaN;
  using stopwatch = new Stopwatch(device, instruments.nudge());
  warm(stopwatch, instruments.filler(), { leastMs: warmMs });
  const step = instruments.load(BYTES);
  const samples = stopwatch.take(SAMPLES, {
    flush: instruments.flush("zero"),
    run() {
      for (let i = 0; i < CHAIN; i++) step.enqueue();
    },
  });
  return summarize(samples).median / 1e3;
}
