import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { timingEntry } from "../testdata/timings.ts";
import {
  changeTimings,
  readTimings,
  TIMING_FIELDS,
  TimingCache,
  timingId,
} from "./timing_cache.ts";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { within } from "../testdata/temporary.ts";

const kernels = (cache: TimingCache) =>
  cache.entries.map(([, { key }]) => key.kernel);

Deno.test("TimingCache.query() finds an equal key, and no other", () => {
  const entry = timingEntry("a");
  const cache = new TimingCache([entry]);
  assertEquals(cache.query({ ...entry.key }), entry);
  for (const field of TIMING_FIELDS) {
    const other = { ...entry.key, [field]: "other" };
    assertEquals(cache.query(other), undefined, field);
  }
});

Deno.test("TimingCache.merge() keeps what is there", () => {
  const cache = new TimingCache([timingEntry("a", { us: 1 })]);
  const other = new TimingCache([
    timingEntry("a", { us: 2, level: 5 }),
    timingEntry("b"),
  ]);
  assertEquals(cache.merge(other), 1);
  assertEquals(kernels(cache), ["a", "b"]);
  assertEquals(cache.query(timingEntry("a").key)!.us, 1);
});

Deno.test("TimingCache.improve() yields to a harder search only", () => {
  const cache = new TimingCache([timingEntry("a", { level: 3, us: 1 })]);
  const { key } = timingEntry("a");
  cache.improve(timingEntry("a", { level: 2, us: 2 }));
  assertEquals(cache.query(key)!.us, 1);
  cache.improve(timingEntry("a", { level: 3, us: 3 }));
  assertEquals(cache.query(key)!.us, 3);
});

Deno.test("TimingCache.edit() changes what there is, forget() removes it", () => {
  const cache = new TimingCache([timingEntry("a"), timingEntry("b")]);
  const id = timingId(timingEntry("a").key);
  assertEquals(cache.edit(id, "BM=64"), true);
  assertEquals(cache.edit("none", "BM=64"), false);
  assertEquals(cache.query(timingEntry("a").key)!.config, "BM=64");
  assertEquals(cache.forget(({ key }) => key.kernel === "b"), 1);
  assertEquals(cache.forget((_, name) => name === id), 1);
  assertEquals(cache.size, 0);
});

Deno.test("TimingCache.parse() gives back what format() wrote", () => {
  const entries = [
    timingEntry("b"),
    timingEntry("a", { config: "", error: { max_abs: Infinity, max_rel: 0 } }),
  ];
  const text = new TimingCache(entries).format();
  const again = TimingCache.parse(text, "f");
  assertEquals(again.format(), text);
  assertEquals(again.query(entries[0]!.key), entries[0]);
  assertEquals(
    again.query(entries[1]!.key)!.error.max_abs,
    Number.MAX_VALUE,
  );
  assertEquals(TimingCache.parse(new TimingCache().format(), "f").size, 0);
});

/** `text` as a file of it is refused, with what is said of it. */
function refusal(text: string): string {
  const { code, message } = assertThrows(
    () => TimingCache.parse(text, "f.json"),
    UserError,
  );
  assertEquals(code, 2);
  return message;
}

const WAY_OUT = "; move it away, or name another with --timing-cache FILE";

Deno.test("TimingCache.parse() refuses every beginning of a file", () => {
  const text = new TimingCache([timingEntry("a"), timingEntry("b")]).format();
  // Without its last line feed it is whole.
  for (let length = 0; length < text.length - 1; length += 7) {
    assertEquals(
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
      whole.replace(id, "1f00ba5e1f00ba5e"),
      "field entries.1f00ba5e1f00ba5e: it is not the name of its key",
    ],
    // A bit that flipped, in a key, a config or a number.
    ...[
      ['"a driver"', '"b driver"'],
      ["BM=16", "BM=17"],
      ["7.25", "7.24"],
      ["2026", "2027"],
    ].map(([from, to]): readonly [string, string] => [
      whole.replace(from!, to!),
      `field entries.${id}: its checksum is of other content; it is damaged, or was edited by hand`,
    ]),
    [
      whole.replace('"sum"', '"sun"'),
      `field entries.${id}.sun is unknown`,
    ],
    [
      whole.replace(
        '"key":',
        `"key":${"[".repeat(1e5)}${"]".repeat(1e5)},"x":`,
      ),
      "it is nested too deeply",
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
    assertEquals(
      refusal(text),
      `Cannot use the timing cache f.json: ${why}${WAY_OUT}`,
    );
  }
});

Deno.test("TimingCache.parse() reads entries of versions that wrote no checksum", () => {
  const timings = new TimingCache([timingEntry("a")]);
  const old = timings.format().replace(/"sum":"\w+",/, "");
  assert(old !== timings.format());
  assertEquals(TimingCache.parse(old, "f.json").entries, timings.entries);
});

/** Gives `test` a path in a folder of its own. */
function at(test: (path: string) => unknown): Promise<void> {
  return within((folder) => test(join(folder, "deeper", "timings.json")));
}

Deno.test("changeTimings() makes the file and its folder, and readTimings() needs neither", () =>
  at((path) => {
    assertEquals(readTimings(path).size, 0);
    changeTimings(path, (timings) => timings.put(timingEntry("a")));
    assertEquals(readTimings(path).size, 1);
  }));

Deno.test("changeTimings() leaves what it cannot read as it was", () =>
  at((path) => {
    changeTimings(path, (timings) => timings.put(timingEntry("a")));
    const torn = Deno.readTextFileSync(path).slice(0, 100);
    Deno.writeTextFileSync(path, torn);
    assertMatch(
      assertThrows(
        () => changeTimings(path, (timings) => timings.put(timingEntry("b"))),
        Error,
      )
        .message,
      /is damaged or cut short; move it away/,
    );
    assertEquals(Deno.readTextFileSync(path), torn);
  }));

Deno.test("changeTimings() leaves the file as it was where the change fails", () =>
  at((path) => {
    changeTimings(path, (timings) => timings.put(timingEntry("a")));
    const before = Deno.readTextFileSync(path);
    assertMatch(
      assertThrows(() =>
        changeTimings(path, (timings) => {
          timings.put(timingEntry("b"));
          throw new Error("no");
        }), Error).message,
      /no/,
    );
    assertEquals(Deno.readTextFileSync(path), before);
    // And unlocked.
    changeTimings(path, (timings) => timings.put(timingEntry("c")));
    assertEquals(readTimings(path).size, 2);
  }));

Deno.test("changeTimings() loses nothing of two processes that write at once", () =>
  at(async (path) => {
    const writer = fileURLToPath(
      new URL("../testdata/timing_writer.ts", import.meta.url),
    );
    const names = (who: string) =>
      Array.from({ length: 40 }, (_, i) => `${who}${i}`);
    const done = await Promise.all(
      ["a", "b"].map((who) =>
        new Deno.Command(Deno.execPath(), {
          args: ["run", "-RW", "--quiet", writer, path, ...names(who)],
        }).output()
      ),
    );
    assertEquals(done.map(({ code }) => code), [0, 0]);
    assertEquals(
      readTimings(path).entries.map(([, { key }]) => key.kernel).sort(),
      [...names("a"), ...names("b")].sort(),
    );
  }));

Deno.test("changeTimings() says that its folder cannot be made", () =>
  at((path) => {
    // A file in the place of the folder: a test may run as one who may write anywhere.
    Deno.writeTextFileSync(dirname(path), "");
    const { message } = assertThrows(
      () => changeTimings(path, () => {}),
      UserError,
    );
    assertMatch(
      message,
      /^Cannot write .*timings\.json: .*make the folder writable/,
    );
  }));
