import { assert, assertEquals, assertMatch } from "@std/assert";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HOME, userCache } from "./home.ts";
import {
  evaluated,
  program,
  type Ran,
  testdata,
} from "../cli/testdata/program.ts";

const PUBLISHED = fileURLToPath(
  new URL("../report/import/testdata/plain_matmul_fp32.csv", import.meta.url),
);

/** What `expression` gives of home.ts where a task was typed in `INIT_CWD`, or none was. */
function asTask(
  env: Readonly<Record<string, string | undefined>>,
  expression: string,
): Promise<unknown> {
  return evaluated(new URL("./home.ts", import.meta.url), expression, {
    npm_command: undefined,
    ...env,
  });
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

Deno.test("goWhereTyped() leaves the folder of a task for that of the user", async () => {
  const cwd = "[m.goWhereTyped(), Deno.cwd()][1]";
  const user = await Deno.realPath(Deno.env.get("TMPDIR") ?? "/tmp");
  assertEquals(await asTask({ INIT_CWD: user }, cwd), user);
  assertEquals(await asTask({ INIT_CWD: undefined }, cwd), resolve(HOME));
  // A script of npm, which started the program in another folder.
  const elsewhere = `(Deno.chdir("/"), ${cwd})`;
  assertEquals(await asTask({ INIT_CWD: user }, elsewhere), "/");
});

Deno.test("typed() is a command that works where the user stands", async () => {
  const command = (env: Readonly<Record<string, string | undefined>>) =>
    asTask(env, 'm.typed("doctor")');
  assertMatch(
    `${await command({ INIT_CWD: "/else/where" })}`,
    /^deno task --config \/.*\/deno\.json doctor$/,
  );
  for (const folder of [HOME, join(HOME, "docs")]) {
    assertEquals(await command({ INIT_CWD: folder }), "deno task doctor");
  }
  assertEquals(
    await command({ INIT_CWD: HOME, npm_command: "exec" }),
    `npx -y deno@${Deno.version.deno} task doctor`,
  );
  assertEquals(await command({ INIT_CWD: undefined }), "mnkbench doctor");
  // Typed here, for another folder.
  assertMatch(
    `${await asTask({ INIT_CWD: HOME }, 'm.typed("doctor", "/else/where")')}`,
    /^deno task --config \/.*\/deno\.json doctor$/,
  );
});

Deno.test("kernels of an installed program are in the user's cache, those of a task in its folder", async () => {
  const cache = "m.kernelCacheOf(undefined)";
  assertEquals(await asTask({ INIT_CWD: "/tmp" }, cache), join(HOME, ".cache"));
  assertEquals(
    await asTask(
      { INIT_CWD: undefined, XDG_CACHE_HOME: "/home/me/caches" },
      `(Deno.chdir("/"), ${cache})`,
    ),
    "/home/me/caches/mnkbench",
  );
});

Deno.test("userCache() is where XDG and Apple have caches", () => {
  const of = (os: string, env: Readonly<Record<string, string>>) =>
    userCache(os, (name) => env[name]);
  const HOME = "/home/me";
  assertEquals(of("linux", { HOME }), "/home/me/.cache/mnkbench");
  assertEquals(of("darwin", { HOME }), "/home/me/Library/Caches/mnkbench");
  const set = { HOME, XDG_CACHE_HOME: "/caches" };
  assertEquals(of("darwin", set), "/caches/mnkbench");
  // A path that is not absolute is to be ignored, by the specification.
  const bad = { HOME, XDG_CACHE_HOME: "caches" };
  assertEquals(of("linux", bad), "/home/me/.cache/mnkbench");
});

Deno.test("bench of a task writes its rows where the user stands, and says so", () =>
  elsewhere(async (run, folder) => {
    await Deno.copyFile(testdata("small_suite.ts"), join(folder, "mine.ts"));
    const { code, stderr } = await run(
      ..."bench --suite ./mine.ts --backend cpu --kernel naive --quick --warmup 0"
        .split(" "),
      ..."--rep 1 --fresh".split(" "),
    );
    assertEquals(code, 0, stderr);
    const latest = join(folder, ".runs/latest");
    const [device] = [...Deno.readDirSync(latest)];
    assert(Deno.statSync(join(latest, device!.name, "small.csv")).isFile);
    assertMatch(stderr, /^Wrote \.runs\/latest\/.*\/small\.csv$/m);
  }));

Deno.test("table, report and import take paths from where they were typed", () =>
  elsewhere(async (run, folder) => {
    const imported = await run(
      ...["import", PUBLISHED, "--run", "theirs", "--out", "here"],
    );
    assertEquals(imported.code, 0, imported.stderr);
    assert(
      Deno.statSync(join(folder, "here/theirs.csv")).isFile,
      imported.stderr,
    );
    const shown = await run("table", "here/theirs.csv", "--wins");
    assertEquals(shown.code, 0, shown.stderr);
    const page = await run("report", "here/*", "--out", "page.html");
    assertEquals(page.code, 0, page.stderr);
    assert(Deno.statSync(join(folder, "page.html")).isFile, page.stderr);
    const absent = await run("table", "none.csv");
    assertMatch(absent.stderr, /^error: Cannot read none\.csv: /);
  }));
