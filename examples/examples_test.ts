import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { cxxTest } from "../backends/testdata/mocks.ts";
import { program } from "../cli/testdata/program.ts";

/** The path of `name` in this folder. */
function example(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

cxxTest(
  "examples/op is right at its sizes and at its own edge-case shapes",
  async () => {
    const { code, stdout, stderr } = await program(
      `check --backend cpu --suite ${example("op/suite.ts")}`.split(" "),
    );
    assertEquals(code, 0, stderr);
    assertEquals(stdout, "5 cases: 5 right, 0 failed, 0 unsupported\n");
  },
);

cxxTest(
  "examples/c-kernel is right at its sizes and at edge-case shapes",
  async () => {
    const { code, stdout, stderr } = await program(
      `check --backend cpu --suite ${
        example("c-kernel/suite.ts")
      } --kernel rows`
        .split(" "),
    );
    assertEquals(code, 0, stderr);
    const [, right] = /^\d+ cases: (\d+) right, 0 failed, 0 unsupported$/m.exec(
      stdout,
    ) ?? [];
    assert(Number(right) > 10, stdout);
  },
);

cxxTest(
  "examples/tuning finds a config, and says which one no rule allows",
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      const { code, stdout, stderr } = await program([
        ...["tune", "--backend", "cpu", "--suite", example("tuning/suite.ts")],
        ...["--kernel", "tiled", "--m", "16", "--search", "1", "--skips"],
        ...["--timing-cache", `${folder}/timings.json`],
      ]);
      assertEquals(code, 0, stderr);
      assertMatch(stdout, /tiled +4 +4 .* search +BN=(8|16) BK=(64|256)/);
      assertMatch(stdout, /: columns, BN = 32 is at least twice N = 16$/m);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

Deno.test("examples/ci pins the actions that this repository's workflow pins", async () => {
  const uses = async (path: string) => {
    const text = await Deno.readTextFile(new URL(path, import.meta.url));
    return new Set([...text.matchAll(/uses: (.*)$/gm)].map(([, use]) => use!));
  };
  const ours = await uses("../.github/workflows/bench.yml");
  const theirs = await uses("ci/kernels.yml");
  assert(theirs.size > 0);
  assertEquals([...theirs.difference(ours)], []);
});
