import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import type { FakeKernel } from "../../backends/fake/fake.ts";
import { multiply, suiteOf, withRig } from "../../backends/testdata/spine.ts";
import { contenders, effortOf, MOST_LEVEL } from "./levels.ts";
import { checkAfterUse, race, type RaceOptions, steadyMedian } from "./race.ts";

/** A generator of numbers in [0, 1): Marsaglia's xorshift of 32 bits. */
function uniform(seed: number): () => number {
  let x = seed * 2654435761 >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

/** Samples around `us` as a GPU gives them: noise, modes of the driver, rare outliers. */
function sampler(seed: number, noise: number) {
  const random = uniform(seed);
  let drift = 1;
  return (us: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      drift *= 1 + 1e-5 * (random() - 0.5);
      const normal = Math.sqrt(-2 * Math.log(1 - random())) *
        Math.cos(2 * Math.PI * random());
      const outlier = random() < 0.01 ? 3 : 1;
      const mode = i % 16 < 4 ? 0.1 : 0;
      return drift * outlier * (us * (1 + noise * normal) + mode);
    });
}

const admit = () => Promise.resolve(true);

/** A race of entries that take `us`, and how many samples it took of each. */
async function run(
  us: readonly number[],
  { level = 3, seed = 1, noise = 0, ...more }:
    & { level?: number; seed?: number; noise?: number }
    & Partial<RaceOptions<number>> = {},
) {
  const take = sampler(seed, noise);
  const looks: number[] = us.map(() => 0);
  const finalists = await race(us.map((_, i) => i), {
    effort: effortOf(level),
    look(i, share) {
      const count = share < 1 ? 14 : 64;
      looks[i]! += count;
      return Promise.resolve(take(us[i]!, count));
    },
    admit,
    ...more,
  });
  return { finalists, looks };
}

Deno.test("race() never drops a winner that noise does not hide", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = uniform(seed + 1000);
    // The winner is 3 % ahead of the next; noise of a sample is 4 %.
    const us = Array.from({ length: 80 }, () => 8.24 + 12 * random() ** 2);
    const best = Math.floor(random() * us.length);
    us[best] = 8;
    for (const level of [3, 4, 5]) {
      const { finalists } = await run(us, { level, seed, noise: 0.04 });
      assertEquals(finalists[0]!.entry, best, `seed ${seed}, level ${level}`);
    }
  }
});

Deno.test("race() picks one of equals where noise hides the best", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const us = Array.from({ length: 40 }, (_, i) => 8 * (1 + i / 400));
    const { finalists } = await run(us, { seed, noise: 0.04 });
    // Forty within 10 %: what is chosen is within 2 % of the best.
    assert(us[finalists[0]!.entry]! <= 8.16, `seed ${seed}`);
  }
});

Deno.test("race() looks longer at fewer", async () => {
  const { looks, finalists } = await run([10, 10.2, 10.9, 12, 13, 40]);
  // 1.25x drops 13 and 40 after the first look, 1.08x drops 10.9 and 12 after the second.
  assertEquals(looks, [14 + 64 * 4, 14 + 64 * 4, 14 + 64, 14 + 64, 14, 14]);
  assertEquals(finalists.map(({ entry }) => entry), [0, 1]);
});

Deno.test("race() keeps what is slower only by chance", async () => {
  // Medians of 10 and 13, but quartiles so wide that they say nothing.
  const wide = [5, 6, 10, 30, 40];
  const { finalists } = await run([10, 13], {
    look: (i) => Promise.resolve(wide.map((x) => x + 3 * i)),
  });
  assertEquals(finalists.map(({ entry }) => entry), [0, 1]);
});

Deno.test("race() lets only those win that are admitted, and asks each once", async () => {
  const asked: number[] = [];
  const { finalists } = await run([8, 8.1, 9, 30], {
    admit(i) {
      asked.push(i);
      return Promise.resolve(i > 1);
    },
  });
  // 9 was dropped for being slower than 8, which is wrong.
  assertEquals(finalists.map(({ entry }) => entry), [2]);
  assertEquals(asked, [0, 1, 2]);
});

Deno.test("race() has no finalist where none can be timed or admitted", async () => {
  const none = await run([1, 2], { look: () => Promise.resolve(undefined) });
  assertEquals(none.finalists, []);
  const refused = await run([1, 2], { admit: () => Promise.resolve(false) });
  assertEquals(refused.finalists, []);
});

Deno.test("race() times one without a rival in turns only when asked", async () => {
  assertEquals((await run([5])).looks[0], 14);
  assertEquals((await run([5], { always: true })).looks[0], 14 + 3 * 64);
});

Deno.test("steadyMedian() is not moved by two interrupts in a phase", () => {
  // Ripples, so that the quartiles differ.
  const calm = Array.from({ length: 64 }, (_, i) => 8 + 0.1 * (i % 3));
  const struck = calm.map((x, i) => i === 5 || i === 21 ? 3 * x : x);
  assert(Math.abs(steadyMedian(struck) - steadyMedian(calm)) < 0.05);
  // Two modes that take turns are not far out: their mean is as before.
  const modes = Array.from({ length: 64 }, (_, i) => i % 4 === 3 ? 9.2 : 8);
  assert(Math.abs(steadyMedian(modes) - 8.3) < 1e-9);
  // Both: half of the samples of one phase are struck.
  const both = modes.map((x, i) => i === 5 || i === 21 ? 3 * x : x);
  assert(Math.abs(steadyMedian(both) - 8.3) < 0.2, `${steadyMedian(both)}`);
});

/** Whether a kernel that is right `times` times is admitted. */
function admitted(times: number): Promise<unknown> {
  let calls = 0;
  const tiled: FakeKernel = {
    ns: 5000,
    run(args) {
      if (calls++ < times) multiply(args);
    },
  };
  const [c] = [...suiteOf(["tiled"], { TILE: [8] }).cases("all")];
  return withRig(
    { kernels: { tiled } },
    (context) => checkAfterUse(c!, { config: { TILE: 8 }, context, uses: 20 }),
  );
}

Deno.test("checkAfterUse() is wrong for a config that stops working after a while", async () => {
  assertMatch(
    (await assertRejects(() => admitted(15), Error)).message,
    /C: 16 of 16 elements are NaN: left unwritten/,
  );
  assertMatch(
    (await assertRejects(() => admitted(0), Error)).message,
    /left unwritten/,
  );
});

Deno.test("checkAfterUse() says how right a config is that goes on", async () => {
  const accuracy = await admitted(Infinity);
  assertEquals((accuracy as { mismatches: number }).mismatches, 0);
});

const counts = (legal: Parameters<typeof contenders>[0]) =>
  Array.from(
    { length: MOST_LEVEL + 1 },
    (_, level) => contenders(legal, level).length,
  );

Deno.test("contenders() grow with the level, up to all of them", () => {
  // 1, 1.01, 1.02 ... the model's best: 51 are within 1.5x, 201 within 3x.
  const legal = Array.from(
    { length: 300 },
    (_, i) => ({ config: { I: i }, predicted: (100 + i) / 100 }),
  );
  assertEquals(counts(legal), [1, 4, 16, 51, 201, 300]);
  assertEquals(contenders(legal, 1).map(({ config }) => config.I), [
    0,
    1,
    2,
    3,
  ]);
});

Deno.test("contenders() at level 3 are 64 at most of those that the model puts level", () => {
  const legal = Array.from(
    { length: 200 },
    (_, i) => ({ config: { I: i }, predicted: 1 }),
  );
  assertEquals(counts(legal), [1, 4, 16, 64, 200, 200]);
});

Deno.test("contenders() keep some however far the model puts them behind", () => {
  const legal = Array.from(
    { length: 200 },
    (_, i) => ({ config: { I: i }, predicted: i === 0 ? 1 : 1000 }),
  );
  assertEquals(counts(legal), [1, 4, 16, 24, 128, 200]);
});

Deno.test("contenders() are all of them where there is no model, from level 3", () => {
  const legal = Array.from({ length: 200 }, (_, i) => ({ config: { I: i } }));
  assertEquals(counts(legal), [1, 4, 16, 200, 200, 200]);
  assertEquals(counts([]), [0, 0, 0, 0, 0, 0]);
});

Deno.test("effortOf() never asks less of a higher level", () => {
  for (let level = 2; level <= MOST_LEVEL; level++) {
    const [low, high] = [effortOf(level - 1), effortOf(level)];
    for (const name of ["most", "least", "finalists", "turns"] as const) {
      assertEquals(high[name] >= low[name], true, `${name} of ${level}`);
    }
  }
  assertMatch(
    assertThrows(() => effortOf(0), Error).message,
    /levels that search are 1 to 5/,
  );
  assertThrows(() => effortOf(6), RangeError);
});
