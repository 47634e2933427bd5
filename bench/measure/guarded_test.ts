import { assert, assertEquals, assertMatch } from "@std/assert";
import { generator } from "./bootstrap.ts";
import { freshNote, shouldSave } from "./guarded.ts";

/** Places of so many changes among `count` samples. */
function placesIn(count: number, next: () => number): ReadonlySet<number> {
  const places = new Set<number>();
  while (places.size < 7) places.add(Math.floor(next() * count));
  return places;
}

/** Samples of a host that is busy now and then, for several samples in a row. */
function busy(count: number, next: () => number): number[] {
  let isBusy = false;
  return Array.from({ length: count }, () => {
    if (next() < 0.2) isBusy = next() < 0.35;
    return 1000 * (isBusy ? 2 + 4 * next() : 1 + 0.1 * next());
  });
}

Deno.test("freshNote() suspects no honest kernel on a busy host", () => {
  const next = generator(1);
  let suspected = 0;
  for (let i = 0; i < 1500; i++) {
    const count = [20, 40, 100][i % 3]!;
    const samples = busy(count, next);
    if (freshNote(samples, { after: placesIn(count, next) }) !== "") {
      suspected++;
    }
  }
  assertEquals(suspected, 0);
});

Deno.test("freshNote() suspects a kernel that remembers, on a busy host too", () => {
  const next = generator(2);
  let missed = 0;
  for (let i = 0; i < 300; i++) {
    const places = placesIn(100, next);
    const samples = busy(100, next).map((ns, at) =>
      places.has(at) ? 6 * ns : ns
    );
    const note = freshNote(samples, { after: places });
    if (note === "") missed++;
    else assertMatch(note, /^suspect: samples right after a change of the/);
  }
  assert(missed < 30, `${missed} of 300`);
});

Deno.test("freshNote() suspects a kernel that remembers, and computes 42 % of the others", () => {
  const next = generator(3);
  let [missed, suspected] = [0, 0];
  for (let i = 0; i < 300; i++) {
    const places = new Set(Array.from({ length: 16 }, (_, at) => 20 * at + 3));
    const seriesOf = (isSlow: (at: number) => boolean) =>
      Array.from({ length: 320 }, (_, at) => isSlow(at) ? 180 : 6 + next());
    const remembers = seriesOf((at) => places.has(at) || next() < 0.42);
    if (freshNote(remembers, { after: places }) === "") missed++;
    const honest = seriesOf(() => next() < 0.5);
    if (freshNote(honest, { after: places }) !== "") suspected++;
  }
  assertEquals([missed, suspected], [0, 0]);
});

Deno.test("freshNote() suspects no kernel that copies of its inputs slow down", () => {
  const [after, again] = [0, 5].map((first) =>
    new Set(Array.from({ length: 8 }, (_, i) => first + 12 * i))
  ) as [Set<number>, Set<number>];
  const seriesOf = (afterCopies: number) =>
    Array.from(
      { length: 100 },
      (_, i) => after.has(i) ? 900 : again.has(i) ? afterCopies : 100 + i,
    );
  assertEquals(freshNote(seriesOf(800), { after, again }), "");
  assertMatch(freshNote(seriesOf(300), { after, again }), /^suspect: /);
  // Nothing is known where no values were copied again.
  assertEquals(freshNote(seriesOf(300), { after, again: new Set() }), "");
});

Deno.test("freshNote() asks for a least difference where a patch alone makes samples slower", () => {
  // Of an honest kernel with a warm cache, on a busy host.
  const slow = [3036, 5430, 3616, 3457, 4699, 2945, 2896, 3937, 3657, 4338];
  const after = new Set(slow.map((_, i) => 10 * i + 3));
  const samples = Array.from(
    { length: 100 },
    (_, i) => after.has(i) ? slow[Math.floor(i / 10)]! : 1364 + i % 10,
  );
  assertMatch(freshNote(samples, { after }), /^suspect: /);
  assertEquals(freshNote(samples, { after, leastNs: 5000 }), "");
  const slower = samples.map((ns, i) => after.has(i) ? ns + 3000 : ns);
  assertMatch(freshNote(slower, { after, leastNs: 5000 }), /^suspect: /);
});

Deno.test("freshNote() leaves samples apart that may have new inputs as well", () => {
  const after = new Set([3, 9, 14, 20, 27, 33]);
  const apart = new Set([...after].map((i) => i + 2));
  const samples = Array.from(
    { length: 45 },
    (_, i) => after.has(i) || apart.has(i) ? 5000 : 800,
  );
  assertEquals(freshNote(samples, { after }), "");
  assertMatch(freshNote(samples, { after, apart }), /^suspect: /);
});

/** A read of so many bytes of a cache of 60 MB, whose call takes `us`; an empty one takes 3.5 µs. */
function readOf(bytes: number, us: number) {
  return {
    bytes,
    calls: 1,
    cacheBytes: 60_000_000,
    calibration: {
      timer: "graph",
      marker_us: 1,
      launch_us: 3.5,
      peak: {},
      load: [{ bytes: 0, us: 3.5 }, { bytes, us }],
    },
  };
}

Deno.test("shouldSave() expects no gain where arithmetic hides the read", () => {
  const read = readOf(30_000_000, 14);
  // The read takes 10.5 µs: 0.63 and 0.68 of the time without the launch.
  assert(!shouldSave(20_100, read));
  assert(shouldSave(19_000, read));
  assert(!shouldSave(19_000, { ...read, cacheBytes: 50_000_000 }));
});

Deno.test("shouldSave() expects no gain of a read that is shorter than latencies", () => {
  const read = readOf(2_000_000, 4.9);
  assert(!shouldSave(5_000, read));
  assert(shouldSave(5_000, { ...read, bytes: 3_000_000 }));
});
