import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { timingEntry } from "../../../bench/testdata/timings.ts";
import { TimingCache } from "../../../bench/tune/timing_cache.ts";
import { testdata, within } from "../../testdata/program.ts";

const SUITE = ["--suite", testdata("tunable_suite.ts"), "--backend", "cpu"];
const CACHE = ["--timing-cache", "timings.json"];
const BRIEF = ["--warmup", "0", "--rep", "1", "--search", "2"];

Deno.test("tune lists, edits, merges and forgets", () =>
  within(async (run, folder) => {
    await run("tune", ...SUITE, ...CACHE, ...BRIEF, "--m", "2,5");
    const timings = (...args: string[]) => run("tune", ...args, ...CACHE);
    const all = (await timings("list")).stdout.trimEnd().split("\n");
    assertEquals(all.length, 2);
    assertMatch(all.find((line) => line.includes("2×2×8"))!, /STEP=2/);
    const five = JSON.parse(
      (await timings("list", "--only", "m=5", "--json")).stdout,
    );
    assertEquals([five.config, five.level, five.key.m], ["STEP=3", 3, "5"]);

    assertEquals((await timings("edit", `${five.id}:STEP=1`)).code, 0);
    const used = await run("tune", ...SUITE, ...CACHE, "--m", "5", "--json");
    assertEquals(
      [JSON.parse(used.stdout).config, JSON.parse(used.stdout).config_by],
      ["STEP=1", "cache"],
    );
    assertEquals((await timings("edit", "none:STEP=1")).code, 2);
    const misspelt = await timings("edit", `${five.id}:STPE=1`);
    assertEquals(misspelt.code, 2);
    assertMatch(
      misspelt.stderr,
      /^error: No tunable of waiting is named STPE: did you mean STEP\?$/m,
    );

    const path = join(folder, "timings.json");
    await Deno.copyFile(path, join(folder, "other.json"));
    assertEquals(
      (await timings("forget", "waiting m=5")).stdout,
      "Forgot 1 entry\n",
    );
    assertEquals((await timings("forget", "m=5")).code, 3);
    assertEquals(
      (await timings("merge", "other.json")).stdout,
      "other.json: took 1 of 2, 1 were there\n",
    );
    assertEquals(
      (await timings("list")).stdout.trimEnd().split("\n").length,
      2,
    );
  }));

Deno.test("a damaged timing cache ends every command with 2, and stays as it is", () =>
  within(async (run, folder) => {
    const path = join(folder, "timings.json");
    await Deno.writeTextFile(path, '{"format": "mnkbench timing cache", "ver');
    const commands = [
      ["bench", ...SUITE],
      ["check", ...SUITE],
      ["tune", ...SUITE],
      ["tune", "list"],
      ["tune", "forget", "m=5"],
    ];
    const all = await Promise.all(
      commands.map((command) => run(...command, ...CACHE)),
    );
    for (const { code, stderr } of all) {
      assertEquals(code, 2);
      assertMatch(
        stderr,
        /^error: Cannot use the timing cache .*timings\.json: it is damaged or cut short; move it away/m,
      );
    }
    assert((await Deno.readTextFile(path)).endsWith('"ver'));
    assertEquals(
      [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
        !name.endsWith(".lock")
      ),
      ["timings.json"],
    );
  }));

Deno.test("tune list --only and tune forget refuse a name that is no field, and say which are near", () =>
  within(async (run, folder) => {
    const timings = (...args: string[]) => run("tune", ...args, ...CACHE);
    // Nothing is known of an empty one, not even which parameters there are.
    assertEquals((await timings("list", "--only", "foo=3")).code, 0);
    const entry = timingEntry("mine");
    const key = { ...entry.key, params: "epilogue=relu" };
    const path = join(folder, "timings.json");
    const text = new TimingCache([{ ...entry, key }]).format();
    await Deno.writeTextFile(path, text);
    for (const part of [["list", "--only"], ["forget"]]) {
      const far = await timings(...part, "kernel=mine foo=3");
      assertEquals(far.code, 2);
      assertMatch(
        far.stderr,
        /^error: No field of a timing is named foo: there are op, kernel, .*, epilogue\n$/,
      );
      const near = await timings(...part, "kernl=mine");
      assertEquals(near.code, 2);
      assertMatch(near.stderr, /named kernl: did you mean kernel\?\n$/);
    }
    assertEquals(await Deno.readTextFile(path), text);
    const found = await timings("list", "--only", "epilogue=relu kernel=mine");
    assertEquals(found.stdout.trimEnd().split("\n").length, 1);
    assertEquals((await timings("list", "--only", "epilogue=none")).stdout, "");
  }));
