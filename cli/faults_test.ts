import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { readCsv } from "../bench/row/read_csv.ts";
import { readRows } from "../session/read_rows.ts";
import { lacking } from "./testdata/compiler.ts";
import { program, testdata } from "./testdata/program.ts";

const ROWS: readonly (readonly [string, string, RegExp])[] = [
  ["hungry", "oom", /1125899906842624/],
  [
    "uncompilable",
    "compile",
    /^uncompilable\.c:\d+:\d+: error: .*\(log: .*\.log\)$/,
  ],
  ["segfault", "crash", /SIGSEGV/],
  ["illegal", "crash", /SIGSEGV|SIGBUS|SIGILL|SIGTRAP/],
  ["forever", "timeout", /no sign of life for 4 s/],
  ["unwritten", "wrong", /1 of 64 elements are NaN/],
  ["nan-result", "wrong", /64 of 64 elements are NaN/],
  ["out-of-bounds", "wrong", /C: wrote 4 bytes past its end/],
  ["off-by-some", "wrong", /1 of 64 elements mismatch/],
  ["stops", "wrong", /^right at first, .*: C: 64 of 64 elements are NaN/],
  ["right", "ok", /(?:)/],
];

Deno.test({
  name: `bench gives every failing kernel its row and goes on${lacking()}`,
  ignore: lacking() !== "",
  async fn() {
    const out = await Deno.makeTempDir();
    try {
      const { code } = await program([
        ...["bench", "--suite", testdata("fault_suite.ts"), "--backend", "cpu"],
        ...["--timeout", "4", "--warmup", "1", "--rep", "1", "--out", out],
        ...["--kernel-cache", join(out, "cache")],
      ], { cwd: out });
      assertEquals(code, 1);
      const [device] = [...Deno.readDirSync(out)].filter(({ name }) =>
        name !== "cache" && name !== ".runs"
      );
      const file = join(out, device!.name, "faults.csv");
      const rows = readCsv(await Deno.readTextFile(file), file);
      assertEquals(
        rows.map(({ kernel, status }) => [kernel, status]),
        ROWS.map(([kernel, status]) => [kernel, status]),
      );
      const nan = rows.find(({ kernel }) => kernel === "nan-result")!;
      assertEquals(nan.max_abs_err, "NaN");
      assertEquals((await readRows([file])).length, ROWS.length);
      for (const [i, [, , note]] of ROWS.entries()) {
        assertMatch(rows[i]!.note, note);
      }
    } finally {
      await Deno.remove(out, { recursive: true });
    }
  },
});
