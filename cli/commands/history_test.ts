import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { command, program } from "../testdata/program.ts";

/** Writes a run of two kernels of which `fast` takes `us`, on day `day`. */
async function writeRun(folder: string, day: number, us: number) {
  const more = {
    suite: "s",
    run: `run-${day}`,
    commit: `commit${day}`,
    time: `2026-01-${10 + day}T00:00:00Z`,
  };
  const rows = [
    csvRow({ ...more, kernel: "fast", median_us: `${us}` }),
    csvRow({ ...more, kernel: "slow", median_us: "12.5" }),
  ];
  await Deno.mkdir(join(folder, `${day}`));
  await Deno.writeTextFile(join(folder, `${day}`, "s.csv"), writeCsv(rows));
}

Deno.test("history adds runs, shows what changed, makes a page and is a base of diff", async () => {
  const cwd = await Deno.makeTempDir();
  const run = (...args: string[]) => program(args, { cwd });
  try {
    const times = [8, 8.02, 8.01, 8, 8.02, 9, 9.02, 9.01, 9];
    for (const [day, us] of times.entries()) {
      await writeRun(cwd, day, us);
      const { code, stderr } = await run("history", "add", `${day}`);
      assertEquals(code, 0, stderr);
      assertMatch(stderr, /^history\.sqlite: 2 new rows, \d+ runs? in all$/m);
      if (day !== 4) continue;
      const { stdout } = await run("history");
      assertEquals(
        stdout,
        "s: 5 runs, 2 cases\n  2 cases timed in fewer than 6 runs, too few to find a change; --all lists them\n",
      );
      const short = await run("history", "show", "--all");
      assertMatch(short.stdout, /fast .* too few runs to find a change, since/);
    }
    const shown = await run("history");
    assertEquals(shown.code, 0, shown.stderr);
    assertMatch(
      shown.stdout,
      /^s: 9 runs, 2 cases\n {2}fast .* 9\.0\d+ µs {2}\+12\.\d %, since the run of 2026-01-15 00:00 UTC by mnkbench commit5\n {2}1 case whose time did not change/,
    );
    const all = await run("history", "show", "--all", "--kernel", "slow");
    assertMatch(
      all.stdout,
      /slow .*12\.50 µs {2}no change, since the run of 2026-01-10 00:00 UTC by mnkbench commit0/,
    );
    const typed = await run("history", "--where", "type=f32", "--all");
    assertEquals([typed.code, typed.stdout], [
      0,
      (await run("history", "--all")).stdout,
    ]);
    for (
      const [args, code, why] of [
        [["--kernel", "fst"], 2, /is named fst: did you mean fast\?$/m],
        [
          ["--where", "bitz=4"],
          2,
          /^error: No axis in these rows is named bitz/m,
        ],
        [["--m", "7"], 3, /^error: No row has m 7: m is \d+$/m],
      ] as const
    ) {
      const ran = await run("history", ...args);
      assertEquals([ran.code, ran.stdout], [code, ""]);
      assertMatch(ran.stderr, why);
    }
    const page = await run("history", "page", "--out", "page.html");
    assertEquals(page.code, 0, page.stderr);
    assertMatch(await Deno.readTextFile(join(cwd, "page.html")), /<polyline/);

    await writeRun(cwd, 9, 10);
    const slower = await run("diff", "9", "--history", "history.sqlite");
    assertEquals(slower.code, 1, slower.stderr);
    assertMatch(slower.stdout, /slower +s fast/);
    const again = await run("history", "add", "0", "1", "2");
    assertMatch(
      again.stderr,
      /^history\.sqlite: 0 new rows \(6 were there\), 9 runs in all$/m,
    );
    const over = await run("history", "page", "--out", "history.sqlite");
    assertEquals(over.code, 2);
    assertMatch(
      over.stderr,
      /the file there is not a page made by mnkbench; name another, or move it away$/m,
    );
    const idleRow = csvRow({
      ...{ run: "u", time: "2026-01-10T00:00:00Z", status: "unsupported" },
      ...{ median_us: "", q1_us: "", q3_us: "", min_us: "", mean_us: "" },
    });
    await Deno.writeTextFile(join(cwd, "u.csv"), writeCsv([idleRow]));
    const added = await run("history", "add", "u.csv", "--history", "u.sqlite");
    assertEquals(added.code, 0, added.stderr);
    const idle = await run("history", "--history", "u.sqlite");
    assertEquals(idle.code, 3);
    assertMatch(
      idle.stderr,
      /^error: Each chosen case in u\.sqlite was unsup/m,
    );
    await run("history", "add", "9", "--history", "other.sqlite");
    const alone = await run("diff", "9", "--history", "other.sqlite");
    assertEquals(alone.code, 3, alone.stderr);
    assertMatch(alone.stderr, /^Nothing was compared: other\.sqlite has no/m);
    const none = await run("history", "--suite", "t");
    assertEquals(none.code, 2);
    assertMatch(
      none.stderr,
      /No suite in these rows is named t: there are s$/m,
    );
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test("history shows beside the last step of a slow drift what all steps make", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const days = Array.from({ length: 20 }, (_, day) => day);
    for (const day of days) await writeRun(cwd, day, 8 * 1.01 ** day);
    await program(["history", "add", ...days.map(String)], { cwd });
    for (const all of [[], ["--all"]]) {
      const { stdout } = await program(["history", "show", ...all], { cwd });
      assertMatch(
        stdout,
        /fast .* µs {2}\+\d\.\d %, since the run of .*commit\d+; \+1\d\.\d % since its first run$/m,
      );
      assertEquals(/slow .* first run/.test(stdout), false);
    }
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

Deno.test({
  name:
    "history says that it is empty, and keeps no file where the disk has no room",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const cwd = await Deno.makeTempDir();
    try {
      await writeRun(cwd, 0, 8);
      // A limit on the size of files: what is larger fails as on a full disk.
      const [own, ...args] = command(["history", "add", "0"]);
      for (const blocks of [16, 8, 1, 0]) {
        const { code, stderr } = await new Deno.Command("sh", {
          args: [
            "-c",
            `trap "" XFSZ; ulimit -f ${blocks}; exec "$@"`,
            ...["sh", own!, ...args],
          ],
          cwd,
        }).output();
        const said = new TextDecoder().decode(stderr);
        assertEquals(code, 2, said);
        assertMatch(said, /^error: Cannot (open|write) history\.sqlite: .*\n$/);
        assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["0"]);
      }
      await Deno.writeTextFile(join(cwd, "none.csv"), writeCsv([]));
      await Deno.writeTextFile(join(cwd, "h.sqlite"), "");
      const words = ["--history", "h.sqlite"];
      const none = await program(["history", "add", "none.csv", ...words], {
        cwd,
      });
      assertEquals(none.code, 3, none.stderr);
      const shown = await program(["history", "show", ...words], { cwd });
      assertEquals(shown.code, 3);
      assertMatch(
        shown.stderr,
        /^error: h\.sqlite is empty: add runs with `history add`$/m,
      );
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});

Deno.test("git ignores what history writes in a clone", () => {
  const file = new URL("../../.gitignore", import.meta.url);
  const ignored = Deno.readTextFileSync(file).split("\n");
  for (const name of ["history.sqlite", "history.html"]) {
    assert(ignored.includes(`/${name}`), name);
  }
});
