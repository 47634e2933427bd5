import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { HINT_COLUMNS } from "../bench/tune/hints.ts";
import { pipe, posix } from "../bench/testdata/pipes.ts";
import { within } from "../bench/testdata/temporary.ts";
import { hintsFor, recordedRows } from "./hints.ts";

const HEADER = HINT_COLUMNS.join(",");
const line = (arch: string, config: string, status = "ok") =>
  HINT_COLUMNS.map((column) =>
    ({ arch, config, status, kernel: "tiled" })[column as string] ?? "1"
  ).join(",");

Deno.test("recordedRows() takes rows that ran from the folders of devices of an architecture", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const write = async (path: string, lines: readonly string[]) => {
      await Deno.mkdir(join(folder, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(folder, path), `${lines.join("\n")}\n`);
    };
    await write("h100/a.csv", [
      HEADER,
      line("sm_90a", "I=1"),
      line("sm_90a", "I=2", "wrong"),
      line("sm_90a", ""),
    ]);
    await write("h200/b.csv", [HEADER, line("sm_90a", "I=3")]);
    await write("b200/c.csv", [HEADER, line("sm_100a", "I=4")]);
    await write("h200/quotes.csv", [HEADER, 'a"b,"c']);
    await write("h200/other.csv", ["a,b", "1,2"]);
    await write("h200/notes.txt", [HEADER, line("sm_90a", "I=5")]);
    await write("published/them/d.csv", [HEADER, line("sm_90a", "I=6")]);
    const configs = (arch: string) =>
      recordedRows(arch, folder).map(({ config }) => config);
    assertEquals(configs("sm_90a"), ["I=1", "", "I=3"]);
    assertEquals(configs("sm_100a"), ["I=4"]);
    assertEquals(configs("gfx942"), []);
    assertEquals(recordedRows("sm_90a", join(folder, "none")), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("hintsFor() has the recorded configs of this program's kernels, and none elsewhere", () => {
  assertEquals(recordedRows("sm_90a").length > 1000, true);
  assertEquals(recordedRows("x86_64"), []);
  assertEquals(hintsFor("sm_90a"), hintsFor("sm_90a"));
});

Deno.test(
  "recordedRows() takes what can be read, whatever is beside it",
  posix,
  () =>
    within((root) => {
      const folder = join(root, "results");
      Deno.writeTextFileSync(folder, "");
      assertEquals(recordedRows("sm_90a", folder), []);
      Deno.removeSync(folder);
      Deno.mkdirSync(join(folder, "h/folder.csv"), { recursive: true });
      const at = (name: string) => join(folder, "h", name);
      Deno.symlinkSync("nowhere", at("dangling.csv"));
      Deno.symlinkSync("self.csv", at("self.csv"));
      Deno.symlinkSync("/dev/zero", at("device.csv"));
      pipe(at("pipe.csv"));
      const text = `${HEADER}\n${line("sm_90a", "I=1")}\n`;
      for (const [name, bytes] of [["long.csv", 2 ** 26 + 1], ["a.csv", 0]]) {
        Deno.writeTextFileSync(at(`${name}`), text);
        // A hole takes no room on the disk.
        if (bytes) Deno.truncateSync(at(`${name}`), +bytes);
      }
      const rows = recordedRows("sm_90a", folder);
      assertEquals(rows.map(({ config }) => config), ["I=1"]);
    }),
);
