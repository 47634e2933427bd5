import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  assertWritable,
  contained,
  refuseOther,
  replaceBy,
  replaceFile,
} from "./replace.ts";
import { UserError } from "../model/errors.ts";
import { pipe, posix } from "../testdata/pipes.ts";
import { join } from "node:path";
import { within } from "../testdata/temporary.ts";

Deno.test("assertWritable() leaves nothing, and refuses a folder or a path in none", () =>
  within((folder) => {
    const path = join(folder, "file");
    assertWritable(path);
    Deno.writeTextFileSync(path, "kept");
    assertWritable(path);
    assertEquals(Deno.readTextFileSync(path), "kept");
    assertEquals([...Deno.readDirSync(folder)].map((e) => e.name), ["file"]);
    assertMatch(
      assertThrows(() => assertWritable(folder), Error).message,
      /it is a folder; name a file in it/,
    );
    assertThrows(() => assertWritable(join(path, "x")), UserError);
    assertMatch(
      assertThrows(() => assertWritable(join(folder, "no", "x")), Error)
        .message,
      /its folder is not there/,
    );
  }));

Deno.test(
  "replaceFile() and assertWritable() leave what is no regular file",
  posix,
  () =>
    within((folder) => {
      const path = join(folder, "pipe");
      pipe(path);
      Deno.symlinkSync(path, join(folder, "link"));
      Deno.symlinkSync("b", join(folder, "a"));
      Deno.symlinkSync("a", join(folder, "b"));
      const before = [...Deno.readDirSync(folder)].map((e) => e.name).sort();
      for (
        const [name, why] of [
          ["pipe", "it is not a regular file; name another"],
          ["link", "it is not a regular file; name another"],
          ["a", "its links lead in a circle; name another"],
        ] as const
      ) {
        const message = `Cannot write ${join(folder, name)}: ${why}`;
        assertThrows(
          () => replaceFile(join(folder, name), "new"),
          Error,
          message,
        );
        assertThrows(
          () => assertWritable(join(folder, name)),
          Error,
          message,
        );
      }
      assertEquals(Deno.lstatSync(path).isFifo, true);
      assertEquals(
        [...Deno.readDirSync(folder)].map((e) => e.name).sort(),
        before,
      );
    }),
);

Deno.test(
  "replaceFile() leaves a link, and replaces what it points at",
  posix,
  () =>
    within((folder) => {
      const inner = join(folder, "inner");
      Deno.mkdirSync(inner);
      Deno.symlinkSync("inner", join(folder, "door"));
      // From a folder that is a link itself, to a file that is there and to one that is not.
      for (const name of ["old", "new"]) {
        Deno.symlinkSync(`../${name}`, join(inner, name));
      }
      Deno.writeTextFileSync(join(folder, "old"), "old");
      for (const name of ["old", "new"]) {
        replaceFile(join(folder, "door", name), "content");
        assertEquals(Deno.lstatSync(join(inner, name)).isSymlink, true);
        assertEquals(Deno.lstatSync(join(folder, name)).isFile, true);
        assertEquals(Deno.readTextFileSync(join(folder, name)), "content");
      }
    }),
);

Deno.test("refuseOther() lets only a file of the same kind be replaced", () =>
  within((folder) => {
    const path = join(folder, "file");
    const kind = { head: /^# page/, name: "page" };
    refuseOther(path, kind);
    refuseOther(folder, kind);
    for (const text of ["", "# page of today"]) {
      Deno.writeTextFileSync(path, text);
      refuseOther(path, kind);
    }
    Deno.writeTextFileSync(path, "suite,op\n# page");
    assertMatch(
      assertThrows(() => refuseOther(path, kind), UserError).message,
      /^Cannot write \S+: the file there is not a page; name another, or/,
    );
  }));

Deno.test("replaceFile() and assertWritable() remove drafts whose writers have ended", () =>
  within((folder) => {
    const left = ["a.csv.12345.tmp", "a.csv.0123456789abcdef.tmp"];
    const others = ["a.csv.draft.tmp", "b.csv.12345.tmp", "ba.csv.1.tmp"];
    for (
      const write of [assertWritable, (p: string) => replaceFile(p, "new")]
    ) {
      for (const name of [...left, ...others]) {
        Deno.writeTextFileSync(join(folder, name), "");
      }
      // A lock counts as another process's where the file was opened once more.
      using held = Deno.openSync(join(folder, left[0]!), { write: true });
      held.lockSync(true);
      write(join(folder, "a.csv"));
      const names = () => [...Deno.readDirSync(folder)].map((e) => e.name);
      assertEquals(
        names().filter((name) => name !== "a.csv").toSorted(),
        [left[0], ...others].toSorted(),
      );
    }
  }));

Deno.test("replaceBy() leaves what is there where its writer fails", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const path = join(folder, "file");
    const names = () => [...Deno.readDirSync(folder)].map((e) => e.name);
    await replaceBy(path, (draft) => Deno.writeTextFile(draft, "old"));
    await assertRejects(
      () =>
        replaceBy(path, async (draft) => {
          await Deno.writeTextFile(draft, "half");
          throw new Error("no");
        }),
      Error,
      "no",
    );
    assertEquals([names(), Deno.readTextFileSync(path)], [["file"], "old"]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test(
  "contained() refuses names and links that lead out of a folder",
  posix,
  () =>
    within((top) => {
      const folder = join(top, "out");
      Deno.mkdirSync(join(folder, "cpu"), { recursive: true });
      Deno.mkdirSync(join(top, "victim"));
      Deno.symlinkSync("../victim", join(folder, "gpu"));
      Deno.symlinkSync("../../victim/s.csv", join(folder, "cpu", "s.csv"));
      Deno.symlinkSync("../moved.csv", join(folder, "cpu", "t.csv"));
      Deno.symlinkSync(folder, join(top, "link"));
      for (const root of [folder, join(top, "link")]) {
        for (
          const parts of [["cpu", "u.csv"], ["new", "s.csv"], ["cpu", "t.csv"]]
        ) {
          assertEquals(contained(root, ...parts), join(root, ...parts));
        }
        for (
          const [parts, why] of [
            [["..", "victim", "s.csv"], "it is outside of"],
            [["../out2/s.csv"], "it is outside of"],
            [["."], "it is outside of"],
            [["gpu", "s.csv"], "a link leads out of"],
            [["cpu", "s.csv"], "a link leads out of"],
          ] as const
        ) {
          assertThrows(() => contained(root, ...parts), UserError, why);
        }
      }
      // Neither needs to be there.
      assertEquals(
        contained(join(top, "no"), "s.csv"),
        join(top, "no", "s.csv"),
      );
    }),
);
