import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { join } from "node:path";
import { assertWritable, readIfThere } from "./disk.ts";
import { UserError } from "./errors.ts";

/** Gives `test` a folder of its own. */
function within(test: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    test(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("readIfThere() refuses a file that no text can hold, without reading it", () =>
  within((folder) => {
    const path = join(folder, "long");
    strictEqual(readIfThere(path), undefined);
    Deno.writeTextFileSync(path, "");
    Deno.truncateSync(path, 600_000_000);
    throws(
      () => readIfThere(path),
      (error) =>
        error instanceof UserError &&
        /long: its 600000000 bytes are more than a text/.test(error.message),
    );
  }));

Deno.test("assertWritable() leaves nothing, and refuses a folder or a path in none", () =>
  within((folder) => {
    const path = join(folder, "file");
    assertWritable(path);
    Deno.writeTextFileSync(path, "kept");
    assertWritable(path);
    strictEqual(Deno.readTextFileSync(path), "kept");
    deepStrictEqual([...Deno.readDirSync(folder)].map((e) => e.name), ["file"]);
    throws(() => assertWritable(folder), /it is a folder; name a file in it/);
    throws(() => assertWritable(join(path, "x")), UserError);
    throws(() => assertWritable(join(folder, "no", "x")), /No such file/);
  }));
