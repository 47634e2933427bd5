import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  AppendFile,
  assertWritable,
  readBytesIfThere,
  readIfThere,
  recoverLines,
  replaceFile,
} from "./disk.ts";
import { UserError } from "../model/errors.ts";
import { join } from "node:path";

/** Gives `test` a folder of its own. */
function within(test: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    test(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

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
      /No such file/,
    );
  }));

/** Makes a named pipe: as little a file as a device is, and anybody may make one. */
function pipe(path: string): void {
  const { success } = new Deno.Command("mkfifo", { args: [path] }).outputSync();
  assertEquals(success, true);
}

/** Of tests that need what Windows has not. */
const posix = { ignore: Deno.build.os === "windows" };

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

Deno.test(
  "readBytesIfThere() and readIfThere() refuse what may never end, and a folder",
  posix,
  () =>
    within((folder) => {
      const path = join(folder, "pipe");
      pipe(path);
      for (const read of [readBytesIfThere, readIfThere]) {
        assertEquals(
          assertThrows(() => read(path), UserError).message,
          `Cannot read ${path}: it is not a regular file; move it away`,
        );
        assertMatch(
          assertThrows(() => read(folder), Error).message,
          /it is a folder; move it away/,
        );
        assertEquals(read(join(folder, "none")), undefined);
      }
    }),
);

Deno.test(
  "readBytesIfThere() and readIfThere() say in one line what cannot be looked at",
  posix,
  () =>
    within((folder) => {
      const path = join(folder, "file");
      Deno.writeTextFileSync(path, "");
      for (const read of [readBytesIfThere, readIfThere]) {
        assertMatch(
          assertThrows(() => read(join(path, "x")), UserError).message,
          /^Cannot read .*file\/x: Not a directory.*; make it readable/,
        );
      }
    }),
);

function inFolder(work: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("AppendFile adds to what is there", () => {
  inFolder((folder) => {
    const path = `${folder}/x`;
    for (const line of ["a\n", "ü\n"]) {
      using file = new AppendFile(path);
      file.append(line, true);
    }
    assertEquals(Deno.readTextFileSync(path), "a\nü\n");
  });
});

Deno.test({
  name: Deno.build.os === "linux"
    ? "AppendFile says that the disk is full"
    : "AppendFile says that the disk is full (needs /dev/full)",
  ignore: Deno.build.os !== "linux",
  fn() {
    using file = new AppendFile("/dev/full");
    assertEquals(
      assertThrows(() => file.append("a\n", true), UserError).message,
      "Cannot write /dev/full: No space left on device (os error 28); what was measured before is kept: make room or make the folder writable, then give the same command again to go on",
    );
  },
});

Deno.test("AppendFile says that a folder cannot be written to", () => {
  inFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/file`, "");
    assertMatch(
      assertThrows(() => new AppendFile(`${folder}/file/x`), UserError).message,
      /^Cannot write .*file\/x: Not a directory/,
    );
  });
});

Deno.test("recoverLines() cuts a file at any byte back to its whole lines", () => {
  inFolder((folder) => {
    const path = `${folder}/x.jsonl`;
    const lines = ['{"a":"\\""}\n', '{"a":"ü\\n"}\n', "1\n"];
    const all = new TextEncoder().encode(lines.join(""));
    for (let length = 0; length <= all.length; length++) {
      Deno.writeFileSync(path, all.subarray(0, length));
      let [whole, bytes] = ["", 0];
      for (const line of lines) {
        bytes += new TextEncoder().encode(line).length;
        if (bytes <= length) whole += line;
      }
      assertEquals(recoverLines(path), whole);
      assertEquals(Deno.readTextFileSync(path), whole);
    }
  });
});

Deno.test("recoverLines() gives nothing where there is no file, and makes none", () => {
  inFolder((folder) => {
    assertEquals(recoverLines(`${folder}/x`), "");
    assertEquals([...Deno.readDirSync(folder)].length, 0);
  });
});
