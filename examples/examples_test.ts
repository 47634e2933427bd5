import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { pythonTest } from "../backends/cuda/capture/testdata/mocks.ts";
import { cxxTest } from "../backends/testdata/mocks.ts";
import { temporary } from "../bench/testdata/temporary.ts";
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

pythonTest(
  "examples/capture compares a recording with the profiler's",
  async () => {
    using folder = temporary();
    const write = (name: string, value: unknown) => {
      const path = `${folder.path}/${name}`;
      Deno.writeTextFileSync(path, JSON.stringify(value));
      return path;
    };
    const captured = write("captured.json", {
      gemms: [
        { time_us: 90, calls: 9, graph_calls: 3 },
        { time_us: 5, calls: 1, graph_calls: 0 },
      ],
      other: [
        { name: "cutlass_x", is_gemm: true, calls: 1, time_us: 5 },
        { name: "softmax", is_gemm: false, calls: 1, time_us: 50 },
      ],
    });
    const profile = write("profile.json", {
      kernels: {
        nvjet_x: [9, 88],
        cutlass_x: [1, 6],
        gemv_x: [1, 6],
        fmha_cutlass_x: [1, 70],
        softmax: [1, 50],
      },
      calls: { "aten::mm": 6, "aten::_grouped_mm": 1, "aten::add": 8 },
    });
    const compare = example("capture/compare.py");
    const { stdout, stderr, success } = await new Deno.Command("python3", {
      args: [compare, captured, profile],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    assertEquals(new TextDecoder().decode(stdout).split("\n"), [
      "GEMM time, us: captured 95 + not seen as calls 5; profiler 100 (+0.0 %)",
      "covered: 95.0 %",
      "calls: captured 10 (3 of graphs); profiler's operators 7",
      "  aten::_grouped_mm: 1",
      "  aten::mm: 6",
      "",
    ]);
  },
);
