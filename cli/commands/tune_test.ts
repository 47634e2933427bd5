import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { isTunable } from "../../session/run_state.ts";
import { testdata, within } from "../testdata/program.ts";
import { timingEntry } from "../../bench/testdata/timings.ts";
import { TimingCache } from "../../bench/tune/timing_cache.ts";
import type { Option } from "../../bench/tune/dispatch.ts";
import { dispatchLines } from "./tune/dispatch_table.ts";

const SUITE = ["--suite", testdata("tunable_suite.ts"), "--backend", "cpu"];
const CACHE = ["--timing-cache", "timings.json"];
const BRIEF = ["--warmup", "0", "--rep", "1", "--search", "2"];

Deno.test("tune finds, shows and remembers, and bench runs at what it found", () =>
  within(async (run) => {
    const bench = (...more: string[]) =>
      run("bench", ...SUITE, ...CACHE, ...BRIEF, "--json", ...more);
    const missed = await bench("--error-on-cache-miss");
    assertEquals(missed.code, 1);
    const row = JSON.parse(missed.stdout);
    assertEquals(row.status, "untuned");
    // What it says to type fills the very file that was looked into.
    assertMatch(
      missed.stderr,
      /^Next, find its config: .*tune --suite \S+tunable_suite\.ts --backend cpu --timing-cache \S+timings\.json --kernel waiting --m 2/m,
    );

    const tuned = await run("tune", ...SUITE, ...CACHE, ...BRIEF, "--skips");
    assertEquals(tuned.code, 0, tuned.stderr);
    const lines = tuned.stdout.trimEnd().split("\n");
    assertMatch(lines[0]!, /^tunable on .*, level 3$/);
    const shown = lines[2]!.split(/ {2,}/);
    assertEquals(
      [...shown.slice(0, 7), ...shown.slice(-2)],
      [
        ...[
          "m=2 n=2 k=8 type=f32 epilogue=none layout=nn",
          "waiting",
          "3",
          "1",
          "0",
          "3",
          "0",
        ],
        ...["search", "STEP=2"],
      ],
    );
    assertEquals(lines.slice(3), [
      "Skipped 1 of 4 configs, by rule: power 1",
      "waiting m=2 n=2 k=8 type=f32 epilogue=none layout=nn: STEP=8: power, a step of 8 is beyond 4",
    ]);
    assertMatch(tuned.stderr, /^Kept 1 config in .*timings\.json$/m);

    const hit = await bench("--error-on-cache-miss");
    assertEquals(hit.code, 0, hit.stderr);
    assertMatch(
      hit.stderr,
      /^Took 1 config from .*timings\.json; --no-timing-cache/m,
    );
    const { config, config_by, status } = JSON.parse(hit.stdout);
    assertEquals([status, config, config_by], ["ok", "STEP=2", "cache"]);
    const searched = JSON.parse(
      (await run("bench", ...SUITE, ...BRIEF, "--json")).stdout,
    );
    assertEquals(searched.config_by, "search");
  }));

Deno.test("bench remembers what it searched, unless told not to", () =>
  within(async (run) => {
    const bench = async (...more: string[]) =>
      JSON.parse(
        (await run("bench", ...SUITE, ...BRIEF, "--json", ...more)).stdout,
      ).config_by;
    assertEquals(await bench("--no-timing-cache"), "search");
    assertEquals(await bench(...CACHE), "search");
    assertEquals(await bench(...CACHE), "cache");
    assertEquals(await bench(...CACHE, "--level", "0"), "first");
    assertEquals(await bench(...CACHE, "--level", "4"), "search");
  }));

Deno.test("isTunable() keeps a kernel that throws: its row is to say so", () => {
  const info = undefined as never;
  const one = { follows: undefined, offers: undefined, unsupported() {} };
  const listing = (candidates: () => unknown) =>
    isTunable({ ...one, candidates } as never, info);
  assertEquals(
    listing(() => {
      throw new ReferenceError("wavesOf is not defined");
    }),
    true,
  );
  assertEquals(listing(() => [{ config: {} }]), false);
  assertEquals(listing(() => [{ config: {} }, { config: {} }]), true);
});

Deno.test("tune --dispatch writes a table where one config overtakes another", () =>
  within(async (run, folder) => {
    const { code, stdout, stderr } = await run(
      ...["tune", ...SUITE, ...CACHE, ...BRIEF, "--dispatch", "m=1,4,6"],
      ...["--out", "d.json", "--header", "d.h"],
    );
    assertEquals(code, 0, stderr);
    assertMatch(stderr, /^Tuning 6 cases at m = 1, 2, 3, 4, 5, 6, then /m);
    const lines = stdout.trimEnd().split("\n");
    assertEquals(lines[0], "matmul k=8 type=f32 epilogue=none layout=nn");
    assertMatch(
      lines[1]!,
      /^ +m = 1 to 4 +waiting STEP=2 +.* µs at 4 +loses 0\.0 %/,
    );
    assertMatch(lines[2]!, /^ +m = 5 to 6 +waiting STEP=3 /);
    assertEquals(lines.length, 3);
    const { format, tables: [table] } = JSON.parse(
      await Deno.readTextFile(join(folder, "d.json")),
    );
    assertEquals(format, "mnkbench dispatch table");
    // N follows M, so only K is fixed.
    assertEquals([table.axis, table.axes.n, table.axes.k], ["m", null, "8"]);
    assertEquals(
      table.ranges[0].points.map(({ at }: { at: number }) => at),
      [1, 2, 3, 4],
    );
    assertMatch(
      await Deno.readTextFile(join(folder, "d.h")),
      /\{1, 4, "waiting", "STEP=2", mnkbench_tunables_0_0, 1, 0\.0/,
    );
    // Earlier outputs are replaced, and files of other kinds are not.
    for (
      const [out, header, said] of [
        ["d.json", "d.h", /^Wrote d\.h$/m],
        ["d.h", "e.h", /d\.h: the file there is not a dispatch table; name /],
        ["e.json", "d.json", /d\.json: the file there is not a header of a di/],
      ] as const
    ) {
      const again = await run(
        ...["tune", ...SUITE, ...CACHE, ...BRIEF, "--dispatch", "m=1,4,6"],
        ...["--out", out, "--header", header],
      );
      assertMatch(again.stderr, said);
      assertEquals(again.code, header === "d.h" ? 0 : 2);
    }
    const opt = await run(
      ...["tune", ...SUITE, ...CACHE, ...BRIEF, "--dispatch", "m=1..6"],
      ...["--opt", "5"],
    );
    assertMatch(
      opt.stdout,
      /^.*\n +m = 1 to 6 +waiting STEP=3 +\S+ µs at 5 .*\n +chosen at m = 5: loses \S+ % at 1, \S+ % at 2, 0\.0 % at 5, \S+ % at 6\n$/,
    );
  }));

Deno.test("tune refuses what contradicts itself, and what has nothing to tune", () =>
  within(async (run) => {
    const naive = testdata("small_suite.ts");
    const both = await run(
      ...["tune", ...SUITE, ...CACHE, "--no-timing-cache"],
    );
    assertEquals(both.code, 2);
    assertMatch(both.stderr, /Cannot both use a timing cache and none/);
    const missed = await run(
      ...["tune", ...SUITE, "--level", "0", "--error-on-cache-miss"],
    );
    assertEquals(missed.code, 2);
    assertMatch(missed.stderr, /Cannot miss what is not looked up/);
    const none = await run("tune", "--suite", naive, ...CACHE);
    assertEquals(none.code, 3);
    assertMatch(
      none.stderr,
      /Nothing to run: no selected kernel has more than one/,
    );
    const ranges = await run("tune", ...SUITE, ...CACHE, "--dispatch", "x=1");
    assertEquals(ranges.code, 2);
    assertMatch(ranges.stderr, /has no axis x: its axes are /);
    const m = await run("tune", ...SUITE, "--dispatch", "m=4", "--m", "2");
    assertEquals(m.code, 2);
    assertMatch(
      m.stderr,
      /Cannot take sizes along m from both --dispatch and --m/,
    );
    for (const bad of ["m=8 --opt 9", "m=1,8 --opt 8", "m=2..8 --opt 1"]) {
      const refused = await run("tune", "--dispatch", ...bad.split(" "));
      assertEquals(refused.code, 2);
      assertMatch(refused.stderr, /^error: Cannot choose for --opt \d: give /);
    }
    const bare = await run("tune", "--opt", "8");
    assertMatch(bare.stderr, /^error: Cannot write a dispatch table without /);
    const nowhere = await run(
      ...["tune", ...SUITE, "--dispatch", "m=4", "--out", "no/such/d.json"],
    );
    assertEquals(nowhere.code, 2);
    assertMatch(
      nowhere.stderr,
      /^error: Cannot write .*d\.json: its folder is not there/m,
    );
    const same = await run(
      ...["tune", ...SUITE, "--dispatch", "m=4", "--out", "d", "--header", "d"],
    );
    assertEquals(same.code, 2);
    assertMatch(
      same.stderr,
      /Cannot write a table and a header to one file, d/,
    );
    const sums = await run(
      ...["tune", "--suite", "grouped-nvfp4", "--dispatch", "m=4"],
    );
    assertEquals(sums.code, 2);
    assertMatch(sums.stderr, /its points have a list of sizes there/);
    const level = await run("tune", ...SUITE, ...CACHE, "--level", "6");
    assertEquals(level.code, 2);
  }));

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
    const none = await timings("edit", `${five.id}:`);
    assertEquals(none.code, 2);
    assertMatch(
      none.stderr,
      /^error: Cannot set waiting to no config: it lacks STEP; give all, as in STEP=1$/m,
    );

    const path = join(folder, "timings.json");
    await Deno.copyFile(path, join(folder, "other.json"));
    const preview = await timings("forget", "waiting m=5", "--dry-run");
    assertEquals(preview.code, 0);
    assertEquals(
      preview.stdout,
      (await timings("list", "--only", "waiting m=5")).stdout,
    );
    assertMatch(preview.stderr, /^Would forget 1 entry$/m);
    assertEquals((await timings("forget", "m=7", "--dry-run")).code, 3);
    assertEquals((await timings("list")).stdout.match(/\n/g)?.length, 2);
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

Deno.test("tune takes a suite file without --suite", () =>
  within(async (run) => {
    const args = ["tune", testdata("tunable_suite.ts"), "--backend", "cpu"];
    const { code, stdout, stderr } = await run(...args, ...CACHE, ...BRIEF);
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /^tunable on .*, level 3$/m);
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

Deno.test("dispatchLines() says what a range loses, and where it loses most to what", () => {
  const [dot, tile]: Option[] = [
    { kernel: "dot", config: "" },
    { kernel: "tile", config: "BM=16" },
  ];
  const range = { option: tile!, from: 1, to: 16 };
  const points = [
    { at: 1, us: 10, best: dot!, best_us: 6 },
    { at: 4, us: 10, best: dot!, best_us: 9 },
    { at: 16, us: 10, best: tile!, best_us: 10 },
  ];
  const quiet = { ...range, from: 17, to: 64, loss: 0, worst: 0 };
  assertEquals(
    dispatchLines([{
      op: "matmul",
      axis: "m",
      axes: { n: null, k: "64" },
      ranges: [
        { ...range, points, loss: 0.2283, worst: 2 / 3 },
        { ...quiet, points: points.slice(2) },
      ],
    }]),
    [
      "matmul k=64",
      "  m = 1 to 16   tile BM=16  10.00 µs at 16  loses 22.8 %, at worst 66.7 % at m = 1, to dot",
      "  m = 17 to 64  tile BM=16  10.00 µs at 16  loses 0.0 %",
    ],
  );
});
