import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { claimFolder, lockFile, lockFolder, lockFolders } from "./lock.ts";
import { UserError } from "../model/errors.ts";
import { join } from "node:path";
import { within } from "../testdata/temporary.ts";

const names = (folder: string) =>
  [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();

Deno.test("lockFolder() lets one of many in at a time, and leaves nothing", () =>
  within(async (folder) => {
    const path = join(folder, "count");
    Deno.writeTextFileSync(path, "0");
    await Promise.all(Array.from({ length: 8 }, async () => {
      // Who comes again finds another file than those who still wait.
      for (let i = 0; i < 5; i++) {
        using _lock = await lockFolder(folder);
        const count = Number(await Deno.readTextFile(path));
        await Deno.writeTextFile(path, `${count + 1}`);
      }
    }));
    assertEquals(Deno.readTextFileSync(path), "40");
    assertEquals(names(folder), ["count"]);
  }));

Deno.test("lockFolders() waits for whoever has one of them, and takes what was left", () =>
  within(async (top) => {
    const folders = ["b", "a"].map((name) => join(top, name));
    const order: string[] = [];
    const first = await lockFolder(top);
    Deno.mkdirSync(folders[0]!);
    // A process that was killed leaves its lock's file.
    Deno.writeTextFileSync(join(folders[0]!, ".lock"), "");
    const second = (async () => {
      using _lock = await lockFolders([...folders, top]);
      order.push("second");
    })();
    await new Promise((resolve) => setTimeout(resolve, 20));
    order.push("first");
    first[Symbol.dispose]();
    await second;
    assertEquals(order, ["first", "second"]);
    // The other was made for the lock alone.
    assertEquals([names(top), names(folders[0]!)], [["b"], []]);
  }));

Deno.test("lockFolders() removes the folders that it made and nobody used", () =>
  within(async (top) => {
    Deno.mkdirSync(join(top, "there"));
    {
      using _lock = await lockFolders([
        join(top, "new", "used"),
        join(top, "new", "unused"),
        join(top, "other", "unused"),
        join(top, "there"),
      ]);
      Deno.writeTextFileSync(join(top, "new", "used", "a.csv"), "");
    }
    assertEquals(names(top), ["new", "there"]);
    assertEquals(names(join(top, "new")), ["used"]);
  }));

Deno.test("lockFolders() makes a folder again that was removed while it waited", () =>
  within(async (top) => {
    const folder = join(top, "new");
    const first = await lockFolders([folder]);
    const waiting = lockFolders([folder]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    first[Symbol.dispose]();
    using _second = await waiting;
    assertEquals(names(folder), [".lock"]);
  }));

Deno.test("lockFolder() names the lock that it waits for, once", () =>
  within(async (folder) => {
    const notes: string[] = [];
    const noted = Promise.withResolvers<void>();
    const waiting = {
      afterMs: 1,
      note: (line: string) => {
        notes.push(line);
        noted.resolve();
      },
    };
    const first = await lockFolder(folder);
    const second = lockFolders([folder], waiting);
    await noted.promise;
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    assertEquals(notes, [
      `Waiting for another process, which has locked ${join(folder, ".lock")}`,
    ]);
  }));

Deno.test("lockFile() makes the folder of its file, and leaves no file", () =>
  within((folder) => {
    const path = join(folder, "new", "file");
    {
      using _lock = lockFile(path);
      assertEquals(names(join(folder, "new")), ["file.lock"]);
    }
    assertEquals(names(join(folder, "new")), []);
    Deno.writeTextFileSync(path, "");
    assertThrows(() => lockFile(join(path, "x")), UserError, "Cannot write");
  }));

Deno.test("lockFile() says which lock it waits for", () =>
  within(async (folder) => {
    const path = join(folder, "file");
    // Another process, which gives the lock back once it is told that somebody waits.
    const holder = new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        `import { lockFile } from "${new URL("lock.ts", import.meta.url)}";
using lock = lockFile(${JSON.stringify(path)});
console.log("locked");
Deno.stdin.readSync(new Uint8Array(1));`,
      ],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = holder.stdout.getReader();
    await reader.read();
    const notes: string[] = [];
    const note = (line: string) => {
      notes.push(line);
      Deno.kill(holder.pid);
    };
    lockFile(path, { afterMs: 0, note })[Symbol.dispose]();
    assertEquals(notes, [
      `Waiting for another process, which has locked ${path}.lock`,
    ]);
    await reader.cancel();
    await holder.stdin.close().catch(() => {});
    await holder.status;
  }));

Deno.test("claimFolder() removes folders whose processes have ended, and no others", () =>
  within((folder) => {
    for (const name of ["run-left", "run-held", "other-left"]) {
      Deno.mkdirSync(join(folder, name, "inner"), { recursive: true });
    }
    Deno.writeTextFileSync(join(folder, "run-left", ".lock"), "");
    // A lock counts as another process's where the file was opened once more.
    using held = Deno.openSync(join(folder, "run-held", ".lock"), {
      write: true,
      create: true,
    });
    held.lockSync(true);
    Deno.writeTextFileSync(join(folder, "run-file"), "");
    const others = ["other-left", "run-file", "run-held"];
    {
      using one = claimFolder("run-", folder);
      using two = claimFolder("run-", folder);
      assertEquals(
        names(folder),
        [
          ...others,
          ...[one, two].map(({ path }) => path.slice(folder.length + 1)),
        ]
          .toSorted(),
      );
      if (Deno.build.os !== "windows") {
        assertEquals(Deno.statSync(one.path).mode! & 0o777, 0o700);
      }
    }
    assertEquals(names(folder), others);
  }));

Deno.test({
  name: "claimFolder() leaves a folder where no other file can be opened",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    within(async (top) => {
      const code = `import { claimFolder } from "${new URL(
        "./lock.ts",
        import.meta.url,
      )}";
const claimed = claimFolder("own-", Deno.args[0]);
const files = [];
try {
  while (true) files.push(Deno.openSync("/dev/null"));
} catch { /* There are no more. */ }
claimed[Symbol.dispose]();
Deno.stdout.writeSync(new TextEncoder().encode("left"));
Deno.exit(0);`;
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", code, top],
      }).output();
      const [out, said] = [stdout, stderr].map((b) =>
        new TextDecoder().decode(b)
      );
      assertEquals(out, "left", said);
      // Whoever claims the next one finds its lock free.
      using _next = claimFolder("own-", top);
      assertEquals(names(top).length, 1);
    }),
});

Deno.test("claimFolder() leaves a folder to whoever makes a lock there while it is removed", () =>
  within((folder) => {
    Deno.mkdirSync(join(folder, "run-left"));
    const remove = Deno.removeSync;
    try {
      Deno.removeSync = (path, options) => {
        remove(path, options);
        Deno.mkdirSync(path);
        Deno.writeTextFileSync(join(`${path}`, ".lock"), "");
        remove(path);
      };
      claimFolder("run-", folder)[Symbol.dispose]();
    } finally {
      Deno.removeSync = remove;
    }
    assertEquals(names(folder).length, 2);
  }));

Deno.test({
  name:
    "locks that are no regular files are refused, and left alone if others'",
  ignore: Deno.build.os === "windows",
  fn: () =>
    within(async (folder) => {
      const make: Record<string, (path: string) => unknown> = {
        // Opening it would never end.
        "not a regular file": (path) =>
          new Deno.Command("mkfifo", { args: [path] }).outputSync(),
        "a folder": (path) => Deno.mkdirSync(path),
        "a link": (path) => Deno.symlinkSync("nowhere", path),
      };
      for (const [what, put] of Object.entries(make)) {
        const left = join(folder, `run-${what}`);
        Deno.mkdirSync(left);
        const lock = join(left, ".lock");
        put(lock);
        put(join(left, "file.lock"));
        const errors = [
          await assertRejects(() => lockFolder(left), UserError),
          assertThrows(() => lockFile(join(left, "file")), UserError),
        ];
        const refused = [[left, lock], [
          join(left, "file"),
          join(left, "file.lock"),
        ]];
        assertEquals(
          errors.map(({ message }) => message),
          refused.map(([target, path]) =>
            `Cannot write ${target}: its lock ${path} is ${what}; remove that, then give the same command again`
          ),
        );
        claimFolder("run-", folder)[Symbol.dispose]();
        assertEquals(names(left), [".lock", "file.lock"]);
      }
    }),
});
