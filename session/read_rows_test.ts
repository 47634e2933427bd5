import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCsv } from "../bench/row/csv.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import { csvRow } from "../report/testdata/csv_rows.ts";
import { csvFiles, readRows } from "./read_rows.ts";

/** Runs `test` in a folder with CSVs of one row each, of the kernel in their names. */
async function within(
  files: readonly string[],
  test: (at: (name: string) => string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const file of files) {
      const path = join(folder, file);
      await Deno.mkdir(join(path, ".."), { recursive: true });
      const rows = file.endsWith(".csv") ? [csvRow({ kernel: file })] : [];
      await Deno.writeTextFile(path, writeCsv(rows));
    }
    await test((name) => join(folder, name));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("readRows() reads files, folders and globs, each file once", () =>
  within(["h200/b.csv", "h200/a.csv", "cpu/a.csv"], async (at) => {
    const kernels = async (...paths: string[]) =>
      (await readRows(paths)).map(({ row }) => row.kernel);
    assertEquals(await kernels(at("")), [
      "cpu/a.csv",
      "h200/a.csv",
      "h200/b.csv",
    ]);
    assertEquals(await kernels(at("*/a.csv")), ["cpu/a.csv", "h200/a.csv"]);
    assertEquals(await kernels(at("h200/b.csv"), at("h200")), [
      "h200/b.csv",
      "h200/a.csv",
    ]);
  }));

Deno.test("csvFiles() reads a folder and the folders in it, and none further down", () =>
  within(
    ["a.csv", "h200/b.csv", "stream/h200/b.csv", "notes/n.txt"],
    async (at) => {
      assertEquals(await csvFiles([at("")]), [
        at("a.csv"),
        at("h200/b.csv"),
      ]);
      assertEquals(await csvFiles([at("stream")]), [
        at("stream/h200/b.csv"),
      ]);
      assertMatch(
        (await assertRejects(() => csvFiles([at("notes")]), Error)).message,
        /or name a folder further down$/,
      );
    },
  ));

Deno.test("csvFiles() takes globs of folders, as a shell would expand them", () =>
  within(
    ["run-v1/a.csv", "run-v2/h200/a.csv", "run-v3/n.txt", "other/a.csv"],
    async (at) => {
      assertEquals(await csvFiles([at("run-*")]), [
        at("run-v1/a.csv"),
        at("run-v2/h200/a.csv"),
      ]);
    },
  ));

Deno.test("csvFiles() reads of the repository's results what each device has, once", async () => {
  const results = fileURLToPath(new URL("../results/", import.meta.url));
  const rows = await readRows([results], { lean: true });
  assert(rows.length > 1000);
  const cases = new Set(rows.map(({ identity }) => identity));
  assertEquals(cases.size, rows.length);
  for (const { file } of rows) {
    assertMatch(relative(results, file), /^[^/\\]+[/\\][^/\\]+\.csv$/);
  }
});

Deno.test("csvFiles() leaves published figures and searches out unless named", () =>
  within(
    ["a.csv", "published/p.csv", "x/s.search.csv", ".runs/x.csv"],
    async (at) => {
      assertEquals(await csvFiles([at("")]), [at("a.csv")]);
      assertEquals(await csvFiles([at("published")]), [
        at("published/p.csv"),
      ]);
    },
  ));

Deno.test("readRows() says where each row is from", () =>
  within(["a.csv"], async (at) => {
    const [one] = await readRows([at("a.csv")]);
    assertEquals(one!.file, at("a.csv"));
    assertEquals(one!.line, 2);
    // Rows of their own can be spread, lean ones only be asked.
    assertEquals({ ...one!.row }, csvRow({ kernel: "a.csv" }));
    const [lean] = await readRows([at("a.csv")], { lean: true });
    assertEquals(lean!.row.kernel, "a.csv");
    assertThrows(() => lean!.row.tflops, TypeError, "leave out column tflops");
  }));

async function refusal(path: string): Promise<UserError> {
  const error = await assertRejects(() => readRows([path]), UserError);
  assertEquals(error.message.split("\n").length, 1);
  return error;
}

Deno.test("readRows() refuses paths that lead to no CSV", () =>
  within(["a/a.csv"], async (at) => {
    await Deno.mkdir(at("empty"));
    const none = await refusal(at("empty"));
    assertEquals(none.code, EXIT.nothing);
    assertEquals(
      none.message,
      `Cannot read ${
        at("empty")
      }: no CSV of results is in it or in its folders; make one with \`bench --out ${
        at("empty")
      }\`, or name a folder further down`,
    );
    const absent = await refusal(at("absent.csv"));
    assertEquals(absent.code, EXIT.usage);
    assertEquals((await refusal(at("*/none.csv"))).code, EXIT.usage);
  }));

Deno.test("readRows() refuses what is not text, with the line", () =>
  within(["a.csv"], async (at) => {
    const good = await Deno.readFile(at("a.csv"));
    const bad: readonly (readonly number[])[] = [[0], [0xff, 0xfe], [0xc3]];
    for (const bytes of bad) {
      await Deno.writeFile(at("a.csv"), new Uint8Array([...good, ...bytes]));
      assertEquals(
        (await refusal(at("a.csv"))).message,
        `Cannot read ${
          at("a.csv")
        }: line 3 is not UTF-8 text; name a CSV of results`,
      );
    }
    // The sign that stands for what could not be read is text itself.
    const note = writeCsv([csvRow({ note: "\ufffd" })]);
    await Deno.writeTextFile(at("a.csv"), note);
    assertEquals((await readRows([at("a.csv")]))[0]!.row.note, "\ufffd");
  }));

Deno.test("readRows() refuses what is not a regular file", {
  ignore: Deno.build.os === "windows",
}, () =>
  within(["a.csv"], async (at) => {
    Deno.mkdirSync(at("links"));
    for (const target of ["/dev/zero", "nowhere"]) {
      Deno.symlinkSync(target, at("links/a.csv"));
      assertMatch(
        (await assertRejects(() => readRows([at("links")]), UserError)).message,
        /^Cannot read .*a\.csv: it is (not a regular file; n|a link to nothing; f)/,
      );
      Deno.removeSync(at("links/a.csv"));
    }
    for (const device of ["/dev/null", "/dev/zero"]) {
      assertMatch(
        (await assertRejects(() => readRows([at("a.csv"), device]), UserError))
          .message,
        /^Cannot read \/dev\/(null|zero): it is not a regular file; /,
      );
    }
  }));
