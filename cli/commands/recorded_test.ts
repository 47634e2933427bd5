import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { program } from "../testdata/program.ts";

/** What papers and the README say to type, which name no file. */
const BARE: readonly (readonly [line: string, shows: RegExp])[] = [
  ["table --wins", /^epilogue-bf16 on NVIDIA H200: /m],
  [
    "table --suite decode-bf16-k7168 --published --run aiter-gfx950-256cu",
    /^decode-bf16-k7168 on NVIDIA H200$/m,
  ],
  ["table --published --run decompose-k-v3", /published: NVIDIA H100/],
  ["table results --wins --against torch-compiled", /torch-eager/],
  [
    "table --weights --gemm-fraction 0.85",
    /^router-bf16 on NVIDIA H200, against cublas$/m,
  ],
];

for (const [line, shows] of BARE) {
  Deno.test(`${line} works with the repository's own results`, async () => {
    const { code, stdout, stderr } = await program(line.split(" "));
    assertEquals(code, 0, stderr);
    assertMatch(stdout, shows);
  });
}

Deno.test("plot and report work with the repository's own results", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const page = join(folder, "page.html");
    const report = await program(["report", "--out", page]);
    assertEquals(report.code, 0, report.stderr);
    const drawn = await program(
      ["plot", "--suite", "grouped-nvfp4", "--out", folder],
    );
    assertEquals(drawn.code, 0, drawn.stderr);
    assertMatch(drawn.stdout, /nvidia-h200\/grouped-nvfp4: 6 pictures/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
