import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { AppendFile, recoverLines } from "./append_file.ts";

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
