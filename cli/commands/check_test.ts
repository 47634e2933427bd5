import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  lacking,
  start,
  suiteOfTolerance,
  testdata,
  within,
} from "../testdata/program.ts";

const SMALL = ["--suite", testdata("small_suite.ts"), "--backend", "cpu"];

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
    within(async (run, cwd) => {
      await Deno.writeTextFile(`${cwd}/broken.c`, BROKEN);
      const args = ["check", "broken.c", "--m", "4,5,6"];
      const { code, stdout, stderr } = await run(...args);
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

Deno.test({
  name: `check --suite of kernel files checks these kernels alone${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (run, cwd) => {
      await Deno.writeTextFile(`${cwd}/broken.c`, BROKEN);
      const other = BROKEN.replaceAll("broken", "other");
      await Deno.writeTextFile(`${cwd}/other.c`, other);
      const args = ["check", "--suite", "broken.c,other.c", "--m", "4"];
      const { code, stdout, stderr } = await run(...args);
      assertEquals(code, 1, stderr);
      assertEquals(stdout, "2 cases: 0 right, 2 failed, 0 unsupported\n");
      assertMatch(stderr, /^other\.c: other\(A, B, C, m, n, k\) is a matmul/m);
    }),
});

Deno.test("check counts what is right, and keeps nothing", () =>
  within(async (run, folder) => {
    const sized = ["check", ...SMALL, "--m", "3", "--k", "8", "--kernel"];
    const right = await run(...sized, "naive,picky");
    assertEquals(
      [right.code, right.stdout],
      [0, "2 cases: 1 right, 0 failed, 1 unsupported\n"],
    );
    assertMatch(
      right.stderr,
      /^ {2}picky unsupported at 3×3×8 .*: It was made for/m,
    );
    const wrong = await run(...sized, "zeros");
    assertEquals(
      [wrong.code, wrong.stdout],
      [1, "1 case: 0 right, 1 failed, 0 unsupported\n"],
    );
    assertMatch(wrong.stderr, /^FAIL small zeros /m);
    assertEquals([...Deno.readDirSync(folder)], []);
  }));

Deno.test("check ends by Ctrl-C while a function of a suite does not return", () =>
  within(async (_, folder) => {
    const called = `${folder}/called`;
    await Deno.writeTextFile(
      `${folder}/odd.ts`,
      suiteOfTolerance(`  Deno.writeTextFileSync("called", "");
  for (;;);`),
    );
    const child = start(["check", "--suite", "./odd.ts"], folder);
    const ended = child.output();
    const isCalled = () => Deno.stat(called).then(() => true, () => false);
    let isOver = false;
    const over = () => isOver = true;
    child.status.then(over, over);
    while (!isOver && !await isCalled()) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert(!isOver, "it ended before it called tolerance()");
    const last = setTimeout(() => child.kill("SIGKILL"), 30_000);
    child.kill("SIGINT");
    assertEquals((await ended).signal, "SIGINT");
    clearTimeout(last);
  }));
