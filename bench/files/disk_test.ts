import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  AppendFile,
  onDisk,
  readBytesIfThere,
  readIfThere,
  recoverLines,
} from "./disk.ts";
import { UserError } from "../model/errors.ts";
import { pipe, posix } from "../testdata/pipes.ts";
import { join } from "node:path";
import { within } from "../testdata/temporary.ts";

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
          /it is a folder; name a file, or move it away/,
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

Deno.test("onDisk() says that the folder of a file is not there", () => {
  return within((folder) => {
    const path = join(folder, "nowhere", "x");
    assertEquals(
      assertThrows(
        () => onDisk(path, () => Deno.writeTextFileSync(path, "")),
        UserError,
      ).message,
      `Cannot write ${path}: its folder is not there; make it or name another`,
    );
  });
});

Deno.test("AppendFile adds to what is there", () => {
  return within((folder) => {
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
      "Cannot write /dev/full: No space left on device (os error 28); make room, make the folder writable or name another",
    );
  },
});

Deno.test("AppendFile says that a folder cannot be written to", () => {
  return within((folder) => {
    Deno.writeTextFileSync(`${folder}/file`, "");
    assertMatch(
      assertThrows(() => new AppendFile(`${folder}/file/x`), UserError).message,
      /^Cannot write .*file\/x: Not a directory/,
    );
  });
});

Deno.test("recoverLines() cuts a file at any byte back to its whole lines", () => {
  return within((folder) => {
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
  return within((folder) => {
    assertEquals(recoverLines(`${folder}/x`), "");
    assertEquals([...Deno.readDirSync(folder)].length, 0);
  });
});
