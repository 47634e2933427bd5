import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { program } from "../../testdata/program.ts";

const H200 = fileURLToPath(
  new URL("../../../results/nvidia-h200/epilogue-bf16.csv", import.meta.url),
);

Deno.test("table --weights prints the exact formula of given speed-ups", async () => {
  // An article prints 1.041, 1.116 and 1.207 for these; the last two are wrong.
  const { code, stdout } = await program(
    [
      "table",
      "--weights",
      "--gemm-fraction",
      "0.85",
      "--speedup",
      "1.05,1.15,1.3",
    ],
  );
  assertEquals(code, 0);
  assertEquals(
    stdout,
    `1.05x in GEMMs: 1.0422x the whole
1.15x in GEMMs: 1.1247x the whole
1.3x in GEMMs: 1.2440x the whole
85 % of the time is in GEMMs: the whole becomes at most 6.67x as fast
`,
  );
});

Deno.test("table --weights takes speed-ups from rows and their baseline", async () => {
  const args = [
    "table",
    "--weights",
    "--gemm-fraction",
    "0.85",
    H200,
    "--kernel",
  ];
  const table = await program([...args, "decompose-k"]);
  assertEquals(table.code, 0, table.stderr);
  const lines = table.stdout.trimEnd().split("\n");
  assertMatch(lines[0]!, /^epilogue-bf16 on NVIDIA H200, against cublas$/);
  assertMatch(lines[1]!, /^shape +decompose-k +whole$/);
  assertMatch(lines[2]!, /^16×16×8192 +\d\.\d{3}x +\d\.\d{3}x$/);
  assertMatch(lines.at(-2)!, /^geomean +\d\.\d{3}x +\d\.\d{3}x$/);
  const { stdout } = await program([...args, "decompose-k", "--json"]);
  const rows: {
    device: string;
    speedup: number;
    end_to_end: number;
    kernel: string;
  }[] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(
    new Set(rows.map(({ kernel }) => kernel)),
    new Set(["decompose-k"]),
  );
  for (const { device, speedup, end_to_end } of rows) {
    assertEquals(device, "NVIDIA H200");
    assertEquals(end_to_end, 1 / (1 - 0.85 + 0.85 / speedup));
  }
});

Deno.test("table --weights has a line a kernel where there are many, within a screen", async () => {
  const args = ["table", "--weights", "--gemm-fraction", "0.85", H200];
  const { code, stdout, stderr } = await program(args);
  assertEquals(code, 0, stderr);
  const lines = stdout.trimEnd().split("\n");
  assertMatch(lines[1]!, /^kernel +shapes +GEMM +whole +least +most$/);
  const one = lines.find((line) => line.startsWith("decompose-k "))!;
  assertMatch(one, /^decompose-k( +\d+)( +\d\.\d{3}x){4}$/);
  assert(lines.every((line) => line.length <= 80), stdout);
  // The same means as those of its own table.
  const alone = await program([...args, "--kernel", "decompose-k"]);
  const foot = alone.stdout.trimEnd().split("\n").at(-2)!;
  assertEquals(one.split(/ +/).slice(2, 4), foot.split(/ +/).slice(1));
});

Deno.test("table --weights says a share as it was given", async () => {
  const { stdout } = await program(
    ["table", "--weights", "--gemm-fraction", "0.58", "--speedup", "1"],
  );
  assertMatch(stdout, /^58 % of the time/m);
});

Deno.test("table --weights refuses shares and speed-ups that are none", async () => {
  const of = (...args: string[]) => program(["table", "--weights", ...args]);
  const all = await Promise.all([
    of("--gemm-fraction", "1.5", "--speedup", "2"),
    of("--gemm-fraction", "0.5", "--speedup", "0"),
    of("--speedup", "2"),
    of("--gemm-fraction", "0.5", "--speedup", "2", H200),
  ]);
  assertEquals(all.map(({ code }) => code), [2, 2, 2, 2]);
  assertMatch(all[0]!.stderr, /1\.5 is no share: give 0 to 1, as in 0\.85/);
  assertMatch(all[1]!.stderr, /0 is no speed-up: give factors above 0/);
  assertMatch(all[3]!.stderr, /leave out one of them/);
});
