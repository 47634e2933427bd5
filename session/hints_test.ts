import {
  assertEquals,
  assertNotStrictEquals,
  assertStrictEquals,
} from "@std/assert";
import { join } from "node:path";
import { HINT_COLUMNS, type HintRow } from "../bench/tune/hints.ts";
import { pipe, posix } from "../bench/testdata/pipes.ts";
import { within } from "../bench/testdata/temporary.ts";
import { hintsFor, recordedRows } from "./hints.ts";

const HEADER = HINT_COLUMNS.join(",");
const line = (arch: string, config: string, status = "ok", m = config) =>
  HINT_COLUMNS.map((column) =>
    ({ arch, config, status, m, kernel: "tiled" })[column as string] ?? "1"
  ).join(",");
const sm90a = { arch: "sm_90a", name: "NVIDIA GPU" };

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
    // A wrong cell costs its row alone.
    await write("h200/b.csv", [
      ...[HEADER, line("sm_90a", "I=3"), line("sm_9Oa", "I=7")],
      line("sm_90a", "I=8"),
    ]);
    await write("b200/c.csv", [HEADER, line("sm_100a", "I=4")]);
    await write("h200/quotes.csv", [HEADER, 'a"b,"c']);
    await write("h200/other.csv", ["a,b", "1,2"]);
    await write("h200/notes.txt", [HEADER, line("sm_90a", "I=5")]);
    await write("published/them/d.csv", [HEADER, line("sm_90a", "I=6")]);
    const configs = (arch: string) =>
      recordedRows({ arch, name: "H200" }, folder).map(({ config }) => config);
    assertEquals(configs("sm_90a"), ["I=3", "I=8", "I=1", ""]);
    assertEquals(configs("sm_100a"), ["I=4"]);
    assertEquals(configs("gfx942"), []);
    assertEquals(recordedRows(sm90a, join(folder, "none")), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("recordedRows() takes points of several devices from the device itself, else from that of most rows", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const write = async (device: string, lines: readonly string[]) => {
      await Deno.mkdir(join(folder, device));
      const text = [HEADER, ...lines].join("\n");
      await Deno.writeTextFile(join(folder, device, "a.csv"), `${text}\n`);
    };
    const of = (config: string, m: string) => line("sm_90a", config, "ok", m);
    await write("h100", [of("I=1", "16"), of("I=2", "32")]);
    await write("h200", [of("I=3", "16"), of("I=4", "64"), of("I=5", "8")]);
    const configs = (name: string) =>
      recordedRows({ arch: "sm_90a", name }, folder).map((row) => row.config);
    assertEquals(configs("H100"), ["I=1", "I=2", "I=4", "I=5"]);
    assertEquals(configs("H200"), ["I=3", "I=4", "I=5", "I=2"]);
    assertEquals(configs("GH200"), ["I=3", "I=4", "I=5", "I=2"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("recordedRows() takes no points from a device that has auto and libraries alone there", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const write = async (device: string, lines: readonly string[]) => {
      await Deno.mkdir(join(folder, device));
      const text = [HEADER, ...lines].join("\n");
      await Deno.writeTextFile(join(folder, device, "a.csv"), `${text}\n`);
    };
    const of = (row: Partial<HintRow>) =>
      HINT_COLUMNS.map((column) =>
        ({ arch: "sm_90a", status: "ok", kernel: "tiled", ...row })[column] ??
          "1"
      ).join(",");
    const auto = { kernel: "auto", config: "kernel=tiled I=9" };
    const library = { kernel: "blas", config: "ALGO=1", source_hash: "" };
    await write("h100", [
      of({ ...auto, m: "16" }),
      of({ ...library, m: "16" }),
      of({ kernel: "cublas", config: "", m: "16" }),
      of({ ...library, m: "32" }),
    ]);
    await write("h200", [of({ config: "I=1", m: "16" })]);
    assertEquals(
      recordedRows({ arch: "sm_90a", name: "H100" }, folder).map((row) =>
        `${row.m} ${row.config}`
      ),
      ["32 ALGO=1", "16 I=1"],
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("hintsFor() has the recorded configs of this program's kernels, and none elsewhere", () => {
  assertEquals(recordedRows(sm90a).length > 1000, true);
  assertEquals(recordedRows({ arch: "x86_64", name: "CPU" }), []);
  assertStrictEquals(hintsFor(sm90a), hintsFor({ ...sm90a }));
  assertNotStrictEquals(hintsFor(sm90a), hintsFor(sm90a, true));
});

Deno.test(
  "recordedRows() takes what can be read, whatever is beside it",
  posix,
  () =>
    within((root) => {
      const folder = join(root, "results");
      Deno.writeTextFileSync(folder, "");
      assertEquals(recordedRows(sm90a, folder), []);
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
      const rows = recordedRows(sm90a, folder);
      assertEquals(rows.map(({ config }) => config), ["I=1"]);
    }),
);
