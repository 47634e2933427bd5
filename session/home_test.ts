import { assert, assertEquals, assertMatch } from "@std/assert";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HOME } from "./home.ts";
import {
  evaluated,
  program,
  type Ran,
  testdata,
} from "../cli/testdata/program.ts";

const PUBLISHED = fileURLToPath(
  new URL("../report/import/testdata/plain_matmul_fp32.csv", import.meta.url),
);

/** What `expression` gives of home.ts where a task was typed in `folder`. */
function typedIn(
  folder: string | undefined,
  expression: string,
): Promise<unknown> {
  const home = new URL("./home.ts", import.meta.url);
  return evaluated(home, expression, { INIT_CWD: folder });
}

/** A folder that is not the program's, from which tasks are typed. */
async function elsewhere(
  test: (
    run: (...args: string[]) => Promise<Ran>,
    folder: string,
  ) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const env = { INIT_CWD: folder };
    await test((...args) => program(args, { env }), folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("asTyped() leads to where a path was typed, ofProgram() to where the program runs", async () => {
  const paths =
    '[m.asTyped("here/a.csv"), m.asTyped("here"), m.asTyped(m.asTyped("here")), m.ofProgram("results")]';
  assertEquals(await typedIn("/else/where", paths), [
    ...["/else/where/here/a.csv", "/else/where/here", "/else/where/here"],
    resolve(HOME, "results"),
  ]);
  // The task's own folder is the program's.
  for (const folder of [undefined, resolve(HOME)]) {
    assertEquals(await typedIn(folder, paths), [
      ...["here/a.csv", "here", "here", "results"],
    ]);
  }
});

Deno.test("typed() is a command that works where the user stands", async () => {
  const command = async (folder?: string) =>
    `${await typedIn(folder, 'm.typed("doctor")')}`;
  assertMatch(
    await command("/else/where"),
    / task --config \/.*\/deno\.json doctor$/,
  );
  for (const folder of [HOME, join(HOME, "docs")]) {
    assertMatch(await command(folder), /deno(@[\d.]+)? task doctor$/);
  }
  assertEquals(await command(), "mnkbench doctor");
});

Deno.test("bench writes to --out from where it was typed, and says so", () =>
  elsewhere(async (run, folder) => {
    await Deno.copyFile(testdata("small_suite.ts"), join(folder, "mine.ts"));
    const { code, stderr } = await run(
      ..."bench --suite ./mine.ts --backend cpu --kernel naive --quick --warmup 0"
        .split(" "),
      ..."--rep 1 --out here --fresh".split(" "),
    );
    assertEquals(code, 0, stderr);
    const [device] = [...Deno.readDirSync(join(folder, "here"))];
    const csv = join(folder, "here", device!.name, "small.csv");
    assert(Deno.statSync(csv).isFile);
    assert(stderr.includes(`Wrote ${csv}\n`), stderr);
  }));

Deno.test("table, report and import take and print paths from where they were typed", () =>
  elsewhere(async (run, folder) => {
    const imported = await run(
      ...["import", PUBLISHED, "--run", "theirs", "--out", "here"],
    );
    assertEquals(imported.code, 0, imported.stderr);
    const csv = join(folder, "here", "theirs", basename(`matmul-fp32.csv`));
    assert(imported.stderr.includes(csv), imported.stderr);
    const shown = await run("table", "here/theirs", "--wins");
    assertEquals(shown.code, 0, shown.stderr);
    const page = await run("report", "here/*", "--out", "page.html");
    assertEquals(page.code, 0, page.stderr);
    assert(page.stderr.includes(`${join(folder, "page.html")}: `), page.stderr);
    const absent = await run("table", "none.csv");
    assertMatch(absent.stderr, /^error: Cannot read \/.*\/none\.csv: /);
  }));
