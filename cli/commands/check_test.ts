import { assertEquals, assertMatch } from "@std/assert";
import { within } from "../../bench/testdata/temporary.ts";
import { lacking, program } from "../testdata/program.ts";

/** A kernel file that does not compile. */
const BROKEN =
  `void broken(const float *A, const float *B, float *C, int M, int N, int K) {
  undeclared = 1;
}
`;

Deno.test({
  name:
    `check says once why a kernel does not compile, and names each shape${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (cwd) => {
      await Deno.writeTextFile(`${cwd}/broken.c`, BROKEN);
      const args = ["check", "broken.c", "--m", "4,5,6"];
      const { code, stdout, stderr } = await program(args, { cwd });
      assertEquals(code, 1, stderr);
      // The baselines are not what was asked about.
      assertMatch(stdout, /^3 cases: 0 right, 3 failed, 0 unsupported$/m);
      const lines = stderr.split("\n").filter((line) => /^FAIL/.test(line));
      assertMatch(
        lines[0]!,
        /^FAIL broken\.c broken 4×4×4 nn epilogue=none: compile, .*undeclared/,
      );
      const same = "compile, as at 4×4×4 nn epilogue=none";
      assertEquals(lines.slice(1), [
        `FAIL broken.c broken 5×5×5 nn epilogue=none: ${same}`,
        `FAIL broken.c broken 6×6×6 nn epilogue=none: ${same}`,
      ]);
    }),
});
