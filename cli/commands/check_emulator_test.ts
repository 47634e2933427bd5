import { assertEquals, assertMatch } from "@std/assert";
import { cxxTest } from "../../backends/testdata/mocks.ts";
import { program, within } from "../testdata/program.ts";

const ON = "--device emulator:sm_90a --suite epilogue-bf16 --m 19 --k 64";

/** A kernel that a GPU may well get right and the lane emulator refuses, and one that is right. */
const RACED =
  `#define ARGS                                                                                   \\
  const float *A, const float *B, float *C, int M, int N, int K, int lda, int ldb, int ldc
#define ENTRY extern "C" __global__ void

static __device__ void product(ARGS, int j) {
  const int i = blockIdx.x;
  float sum = 0;
  for (int k = 0; k < K; k++) sum += A[i * lda + k] * B[k * ldb + j];
  C[i * ldc + j] = sum;
}

ENTRY right(ARGS) { product(A, B, C, M, N, K, lda, ldb, ldc, threadIdx.x); }
// Two threads write each element, the same value.
ENTRY raced(ARGS) { product(A, B, C, M, N, K, lda, ldb, ldc, threadIdx.x / 2); }
`;
const SUITE = `import { defineLaunch, defineSuite, matmul } from "mnkbench";

export default defineSuite({
  name: "raced",
  title: "a race that only the lane emulator finds",
  op: matmul,
  axes: { m: [8], k: [32] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: ["raced", "right"].map((entry) =>
    defineLaunch(matmul, {
      name: entry,
      backend: "cuda",
      source: new URL("raced.cu", import.meta.url),
      entry,
      shape: ({ m, n }) => ({
        grid: [m, 1, 1],
        block: [entry === "raced" ? 2 * n : n, 1, 1],
      }),
    })
  ),
  baselines: ["right"],
});
`;

cxxTest("check --device emulator:sm_90a checks a kernel", async () => {
  const { code, stdout, stderr } = await program(
    `check ${ON} --kernel cluster-k --json`.split(" "),
  );
  assertEquals(code, 0, stderr);
  const rows = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(rows.length, 1);
  const [{ kernel, status, device, arch, m, k }] = rows;
  assertEquals(
    [kernel, status, device, arch, m, k].join(", "),
    "cluster-k, checked, emulator sm_90a, sm_90a, 19, 64",
  );
  assertMatch(
    stderr,
    /^Using cuda: emulator sm_90a \(sm_90a, driver emulator /,
  );
});

cxxTest(
  "check on an emulated device finds a race in a user's kernel",
  () =>
    within(async (run, folder) => {
      await Deno.writeTextFile(`${folder}/raced.cu`, RACED);
      await Deno.writeTextFile(`${folder}/raced.ts`, SUITE);
      const { code, stdout, stderr } = await run(
        ...["check", "--device", "emulator:sm_90a", "--suite", "./raced.ts"],
        ...["--m", "8", "--k", "32"],
      );
      assertEquals(code, 1);
      assertEquals(stdout, "2 cases: 1 right, 1 failed, 0 unsupported\n");
      assertMatch(
        stderr,
        /FAIL raced raced .* at raced\.cu:9: a race in global memory at byte \d+/,
      );
    }),
);

cxxTest("bench --once runs a kernel on an emulated device", async () => {
  const { code, stdout, stderr } = await program(
    `bench --once ${ON} --kernel cluster-k`.split(" "),
  );
  assertEquals(code, 0, stderr);
  assertMatch(
    stdout,
    /^epilogue-bf16 cluster-k 19×19×64 nn epilogue=relu: checked$/m,
  );
});

Deno.test("check on an emulated device without a C++ compiler is one line", async () => {
  const { code, stderr } = await program(`check ${ON}`.split(" "), {
    env: { PATH: "/nowhere" },
  });
  assertEquals(code, 3);
  assertMatch(
    stderr,
    /^error: The lane emulator needs a C\+\+ compiler: tried c\+\+, g\+\+, clang\+\+; install one, as in apt-get install g\+\+\n$/,
  );
});

cxxTest(
  "check of a Python file on an emulated device ends with 3, as nothing ran",
  () =>
    within(async (run, folder) => {
      const text = "def fn(A, B, C):\n    return lambda: None\n";
      await Deno.writeTextFile(`${folder}/mine.py`, text);
      const { code, stderr } = await run(
        ...["check", "mine.py:fn", "--device", "emulator:sm_90a", "--m", "16"],
      );
      assertEquals(code, 3, stderr);
      assertMatch(
        stderr,
        /^Of the suite mine\.py no kernel of its own was run: fn \(cuda\); run it where its device is, or name/m,
      );
    }),
);
