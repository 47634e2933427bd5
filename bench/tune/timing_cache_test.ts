import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { UserError } from "../model/errors.ts";
import { timingEntry } from "../testdata/timings.ts";
import { TimingCache } from "./timing_cache.ts";
import { TIMING_FIELDS, timingId } from "./timing_key.ts";

const kernels = (cache: TimingCache) =>
  cache.entries.map(([, { key }]) => key.kernel);

Deno.test("TimingCache.query() finds an equal key, and no other", () => {
  const entry = timingEntry("a");
  const cache = new TimingCache([entry]);
  deepStrictEqual(cache.query({ ...entry.key }), entry);
  for (const field of TIMING_FIELDS) {
    const other = { ...entry.key, [field]: "other" };
    strictEqual(cache.query(other), undefined, field);
  }
});

Deno.test("TimingCache.merge() keeps what is there", () => {
  const cache = new TimingCache([timingEntry("a", { us: 1 })]);
  const other = new TimingCache([
    timingEntry("a", { us: 2, level: 5 }),
    timingEntry("b"),
  ]);
  strictEqual(cache.merge(other), 1);
  deepStrictEqual(kernels(cache), ["a", "b"]);
  strictEqual(cache.query(timingEntry("a").key)!.us, 1);
});

Deno.test("TimingCache.improve() yields to a harder search only", () => {
  const cache = new TimingCache([timingEntry("a", { level: 3, us: 1 })]);
  const { key } = timingEntry("a");
  cache.improve(timingEntry("a", { level: 2, us: 2 }));
  strictEqual(cache.query(key)!.us, 1);
  cache.improve(timingEntry("a", { level: 3, us: 3 }));
  strictEqual(cache.query(key)!.us, 3);
});

Deno.test("TimingCache.edit() changes what there is, forget() removes it", () => {
  const cache = new TimingCache([timingEntry("a"), timingEntry("b")]);
  const id = timingId(timingEntry("a").key);
  strictEqual(cache.edit(id, "BM=64"), true);
  strictEqual(cache.edit("none", "BM=64"), false);
  strictEqual(cache.query(timingEntry("a").key)!.config, "BM=64");
  strictEqual(cache.forget(({ key }) => key.kernel === "b"), 1);
  strictEqual(cache.forget((_, name) => name === id), 1);
  strictEqual(cache.size, 0);
});

Deno.test("TimingCache.parse() gives back what format() wrote", () => {
  const entries = [
    timingEntry("b"),
    timingEntry("a", { config: "", error: { max_abs: Infinity, max_rel: 0 } }),
  ];
  const text = new TimingCache(entries).format();
  const again = TimingCache.parse(text, "f");
  strictEqual(again.format(), text);
  deepStrictEqual(again.query(entries[0]!.key), entries[0]);
  strictEqual(
    again.query(entries[1]!.key)!.error.max_abs,
    Number.MAX_VALUE,
  );
  strictEqual(TimingCache.parse(new TimingCache().format(), "f").size, 0);
});

/** `text` as a file of it is refused, with what is said of it. */
function refusal(text: string): string {
  let said = "";
  throws(() => TimingCache.parse(text, "f.json"), (error) => {
    if (!(error instanceof UserError)) return false;
    said = error.message;
    return error.code === 2;
  });
  return said;
}

const WAY_OUT = "; move it away, or name another with --timing-cache FILE";

Deno.test("TimingCache.parse() refuses every beginning of a file", () => {
  const text = new TimingCache([timingEntry("a"), timingEntry("b")]).format();
  // Without its last line feed it is whole.
  for (let length = 0; length < text.length - 1; length += 7) {
    strictEqual(
      refusal(text.slice(0, length)),
      `Cannot use the timing cache f.json: ${
        length === 0 ? "it is empty" : "it is damaged or cut short"
      }${WAY_OUT}`,
    );
  }
});

Deno.test("TimingCache.parse() refuses what is foreign", () => {
  const whole = new TimingCache([timingEntry("a")]).format();
  const id = timingId(timingEntry("a").key);
  const cases: readonly (readonly [string, string])[] = [
    ["[]", "field format is missing"],
    ["{}", "field format is missing"],
    [
      '{"format": "nvdisasm"}',
      'field format is "nvdisasm": it must be "mnkbench timing cache"',
    ],
    [
      whole.replace('"version": 1', '"version": 2'),
      "field version is 2: it must be 1",
    ],
    [
      whole.replace('"entries"', '"items"'),
      "field entries is missing",
    ],
    [
      whole.replace('"us":7.25', '"us":-1'),
      `field entries.${id}.us: it must be above 0`,
    ],
    [
      whole.replace('"us":7.25', '"us":"7"'),
      `field entries.${id}.us is "7": it must be a number`,
    ],
    [
      whole.replace('"level":3', '"level":9'),
      `field entries.${id}.level: it must be a whole number from 1 to 5`,
    ],
    [
      whole.replace('"level":3', '"level":2.5'),
      `field entries.${id}.level: it must be a whole number from 1 to 5`,
    ],
    [
      whole.replace('"version": 1', '"version": {}'),
      "field version is an object: it must be 1",
    ],
    [
      whole.replace('"driver":', '"drivel":'),
      `field entries.${id}.key.driver is missing`,
    ],
    [
      // A bit that flipped in a key.
      whole.replace('"a driver"', '"b driver"'),
      `field entries.${id}: it is not the name of its key`,
    ],
    [
      whole.replace('"max_abs":0.5', '"max_abs":"x"'),
      `field entries.${id}.error.max_abs is "x": it must be a number`,
    ],
    [
      whole.replace('"config"', '"conf"'),
      `field entries.${id}.config is missing`,
    ],
  ];
  for (const [text, why] of cases) {
    strictEqual(
      refusal(text),
      `Cannot use the timing cache f.json: ${why}${WAY_OUT}`,
    );
  }
});
