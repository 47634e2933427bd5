import { assertEquals, assertMatch } from "@std/assert";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "../bench/files/run_program.ts";
import { commitOfFile, sourceVersion } from "./commit.ts";
import { COMMIT_FILE } from "./home.ts";
import { VERSION } from "./home.ts";
import { within } from "../bench/testdata/temporary.ts";

async function git(folder: string, ...args: readonly string[]): Promise<void> {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
  const { success, stderr } = await runProgram("git", {
    args: ["-C", folder, ...who, ...args],
    limitMs: 60_000,
  });
  assertEquals([success, stderr], [true, success ? stderr : ""]);
}

Deno.test("sourceVersion() is the commit, and dirty by sources that git tracks", () =>
  within(async (folder) => {
    const write = (name: string, text: string) =>
      Deno.writeTextFile(join(folder, name), text);
    await Deno.mkdir(join(folder, "results"));
    for (const name of ["k.cu", "README.md", "results/a.csv"]) {
      await write(name, "one\n");
    }
    await git(folder, "init", "--quiet");
    await git(folder, "add", ".");
    await git(folder, "commit", "--quiet", "--message", "one");
    const clean = await sourceVersion(folder);
    assertMatch(clean.commit, /^[0-9a-f]{12}$/);
    assertEquals(clean.dirty, "false");
    for (const name of ["README.md", "results/a.csv", "new.ts"]) {
      await write(name, "two\n");
    }
    assertEquals(await sourceVersion(folder), clean);
    await write("k.cu", "two\n");
    assertEquals(await sourceVersion(folder), { ...clean, dirty: "true" });
    // A package within it is no repository.
    const inner = join(folder, "node_modules");
    await Deno.mkdir(inner);
    assertEquals(await sourceVersion(inner), { commit: VERSION, dirty: "" });
  }));

Deno.test("commitOfFile() is the commit of the user's repository that tracks the file", () =>
  within(async (folder) => {
    const write = (name: string, text: string) =>
      Deno.writeTextFile(join(folder, name), text);
    const file = join(folder, "bench/suite.ts");
    await Deno.mkdir(join(folder, "bench"));
    assertEquals(await commitOfFile(file), "");
    await git(folder, "init", "--quiet");
    for (const name of ["bench/suite.ts", "k.c", "rows.csv"]) {
      await write(name, "one\n");
    }
    await git(folder, "add", "k.c", "rows.csv");
    await git(folder, "commit", "--quiet", "--message", "one");
    // It is in no commit.
    assertEquals(await commitOfFile(file), "");
    await git(folder, "add", ".");
    await git(folder, "commit", "--quiet", "--message", "two");
    const clean = await commitOfFile(file);
    assertMatch(clean, /^[0-9a-f]{12}$/);
    await write("rows.csv", "two\n");
    await write("new.c", "one\n");
    assertEquals(await commitOfFile(file), clean);
    await write("k.c", "two\n");
    assertEquals(await commitOfFile(file), `${clean}+`);
    // Neither program is run: one may be of somebody else.
    const planted = join(folder, "planted");
    await write("planted.sh", `#!/bin/sh\ntouch ${planted}\n`);
    await Deno.chmod(join(folder, "planted.sh"), 0o755);
    await git(folder, "config", "core.fsmonitor", join(folder, "planted.sh"));
    assertEquals(await commitOfFile(file), `${clean}+`);
    await git(folder, "config", "filter.own.clean", `touch ${planted}; cat`);
    await write(".gitattributes", "*.c filter=own\n");
    assertEquals(await commitOfFile(file), "");
    assertEquals(existsSync(planted), false);
    await git(folder, "config", "--remove-section", "filter.own");
    // The rows of the program's own suites have its commit already.
    assertEquals(await commitOfFile(file, folder), "");
  }));

Deno.test("sourceVersion() without git is what the archive says, else the version", () =>
  within(async (folder) => {
    const none = { commit: VERSION, dirty: "" } as const;
    assertEquals(await sourceVersion(folder), none);
    const told = { commit: "0123456789ab", dirty: "true" } as const;
    const file = join(folder, COMMIT_FILE);
    await Deno.writeTextFile(file, JSON.stringify(told));
    assertEquals(await sourceVersion(folder), told);
    for (const text of ["", "{", '{"commit":"a\\nb","dirty":"true"}', "{}"]) {
      await Deno.writeTextFile(file, text);
      assertEquals(await sourceVersion(folder), none, text);
    }
  }));
