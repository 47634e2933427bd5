import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "../model/errors.ts";
import { timingEntry } from "../testdata/timings.ts";
import { changeTimings, readTimings } from "./timing_file.ts";

/** Gives `test` a path in a folder of its own. */
async function within(test: (path: string) => unknown): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await test(join(dir, "deeper", "timings.json"));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("changeTimings() makes the file and its folder, and readTimings() needs neither", () =>
  within((path) => {
    assertEquals(readTimings(path).size, 0);
    changeTimings(path, (timings) => timings.put(timingEntry("a")));
    assertEquals(readTimings(path).size, 1);
  }));

Deno.test("changeTimings() leaves what it cannot read as it was", () =>
  within((path) => {
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
  within((path) => {
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
  within(async (path) => {
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
  within((path) => {
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
