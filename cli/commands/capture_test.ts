import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  mockFolder,
  mockProgram,
  pythonTest,
} from "../../backends/cuda/capture/testdata/mocks.ts";
import { ccTest } from "../../backends/testdata/mocks.ts";
import { readCaptured } from "../../bench/model/captured.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { callsOf, captured, columnsOf, read } from "../testdata/capturing.ts";
import { command } from "../testdata/program.ts";

ccTest(
  "capture counts the calls of 8 threads exactly, with their time",
  async () => {
    const ran = await captured("cuda threads 8 1000");
    assertEquals(ran.code, 0, ran.stderr);
    assertEquals(callsOf(ran), {
      "16x64x128": 2000,
      "16x128x128": 2000,
      "16x256x128": 2000,
      "16x512x128": 2000,
    });
    const { gemms, other, clock, device, notes } = ran.captured!;
    assertEquals(
      gemms.map(({ time_us, op, layout, lda, ldb, ldc }) =>
        [time_us, op, layout, lda, ldb, ldc].join()
      ).toSorted(),
      [128, 256, 512, 64].map((n) => `2000,matmul,nt,128,128,${n}`),
    );
    assertEquals(other, [
      { name: "mock_softmax", is_gemm: false, calls: 1000, time_us: 100 },
    ]);
    assertEquals([clock, device, notes], [
      "cupti",
      { name: "Mock GPU 0", arch: "sm_90" },
      [],
    ]);
  },
);

ccTest(
  "capture counts what graphs replay, with all kernels of a call",
  async () => {
    const ran = await captured("cuda graph 10 gemm 5 16 64 8192");
    assertEquals(ran.code, 0, ran.stderr);
    assertEquals(
      ran.captured!.gemms.map((
        { m, n, k, calls, graph_calls, time_us, kernels },
      ) => ({ at: [m, n, k], calls, graph_calls, time_us, kernels })),
      [
        {
          at: [16, 64, 8192],
          calls: 15,
          graph_calls: 10,
          time_us: 15 * 1.5,
          kernels: ["mock_gemm_kernel", "mock_splitk_reduce"],
        },
        {
          at: [16, 128, 64],
          calls: 10,
          graph_calls: 10,
          time_us: 10,
          kernels: ["mock_gemm_kernel"],
        },
      ],
    );
  },
);

ccTest(
  "capture passes streams, exit codes and signals of the program",
  async () => {
    const cases: readonly [string, number, string?][] = [
      ["cuda gemm 1 2 3 4 cat exit 7", 7, "to stderr\n"],
      ["cuda gemm 1 2 3 4 _exit 9", 9],
      ["cuda gemm 1 2 3 4 written kill 15", 143],
      ["cuda gemm 1 2 3 4 fork exit 5", 5],
    ];
    for (const [what, code, stderr = ""] of cases) {
      const ran = await captured(what);
      assertEquals([what, ran.code, ran.stdout], [what, code, ""]);
      assert(ran.stderr.startsWith(stderr), ran.stderr);
      assertEquals(callsOf(ran), { "2x3x4": 1 }, what);
    }
  },
);
ccTest("capture turns column-major calls to row-major ones", async () => {
  const ran = await captured("cuda layouts");
  assertEquals(
    columnsOf(ran, "layout", "m", "n", "k", "lda", "ldb", "ldc", "calls"),
    [
      "nn 20 10 30 50 40 60 1",
      // T and C, the conjugate.
      "nt 20 10 30 50 40 60 2",
      "tn 20 10 30 50 40 60 1",
      "tt 20 10 30 50 40 60 2",
    ],
  );
  assertEquals(columnsOf(ran, "layout", "op", "why_no_op"), [
    "nn matmul ",
    "nt matmul ",
    "tn  A is stored transposed",
    "tt  A is stored transposed",
  ]);
});

ccTest(
  "capture names types, sums, batches, groups and C of each function",
  async () => {
    const ran = await captured("cuda types");
    assertEquals(
      columnsOf(
        ran,
        ...["name", "a", "b", "c", "compute", "batch", "beta_nonzero"] as const,
      ),
      [
        "cublasDgemm_v2 f64 f64 f64 f64 1 true",
        "cublasGemmEx_64 f16 f16 f32 f32 1 false",
        "cublasGemmGroupedBatchedEx (2 groups) bf16 bf16 bf16 f32 5 false",
        "cublasGemmStridedBatchedEx i8 i8 i32 i32 9 false",
        // Its beta is -0.
        "cublasHgemm f16 f16 f16 f16 1 false",
        "cublasSgemmBatched f32 f32 f32 f32 7 false",
        // With beta on the device, and with TF32 allowed.
        "cublasSgemm_v2 f32 f32 f32 f32 1 ",
        "cublasSgemm_v2 f32 f32 f32 tf32 1 true",
      ],
    );
    const grouped = ran.captured!.gemms.find(({ name }) =>
      name.includes("2 g")
    )!;
    const { m, n, k, why_no_op } = grouped;
    assertEquals([m, n, k, why_no_op], [5, 4, 6, "its 2 shapes are one call"]);
  },
);

ccTest("capture reads descriptors of cuBLASLt", async () => {
  const ran = await captured("cuda lt");
  const shape = ["m", "n", "k", "lda", "ldb", "ldc", "layout"] as const;
  assertEquals(
    new Set(columnsOf(ran, ...shape)),
    new Set(["16 64 32 34 33 65 nt"]),
  );
  assertEquals(
    columnsOf(ran, "a", "b", "c", "epilogue", "scale", "calls"),
    [
      // By columns, and by rows.
      "bf16 bf16 bf16 none  2",
      "bf16 bf16 bf16 relu  1",
      "bf16 bf16 bf16 bias  1",
      "bf16 bf16 bf16 bias+relu  1",
      "bf16 bf16 bf16 gelu  1",
      "bf16 bf16 bf16 bias+gelu  1",
      "bf16 bf16 bf16 bias+gelu+aux  1",
      "bf16 bf16 bf16 cublaslt-epilogue-256  1",
      "e4m3 e4m3 bf16 none tensor 1",
      "e4m3 e4m3 bf16 none row 1",
      "e4m3 e4m3 bf16 none block128 1",
      "e2m1 e2m1 bf16 none vec16-ue4m3 1",
    ].toSorted(),
  );
});

ccTest(
  "capture records functions that the program looks up by name",
  async () => {
    const ran = await captured("cuda dlopen");
    assertEquals([ran.code, callsOf(ran)], [0, { "16x48x32": 1 }], ran.stderr);
  },
);

ccTest("capture times calls by events where CUPTI is taken", async () => {
  const ran = await captured("cuda gemm 7 1 2 3 graph 3", {
    env: { MOCK_CUPTI_BUSY: "1" },
  });
  const { gemms, clock, notes, gpu_busy_us } = ran.captured!;
  assertEquals(
    gemms.map(({ m, calls, time_us }) => [m, calls, time_us]),
    [[1, 7, 7]],
  );
  assertEquals([clock, gpu_busy_us], ["events", undefined]);
  assertMatch(
    notes.join(),
    /^times are of CUDA events around calls, and replays of graphs are not counted: cuptiSubscribe failed: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED; .*start no other profiler$/,
  );
});

/** The folder of the fake PyTorch. */
const FAKE = fileURLToPath(
  new URL("../../backends/cuda/capture/testdata/python/", import.meta.url),
);

pythonTest(
  "capture records what PyTorch computes without cuBLAS, and phases",
  async () => {
    const ran = await captured(`${FAKE}products.py`, {
      path: "python3",
      env: { PYTHONPATH: FAKE },
    });
    assertEquals(ran.code, 6, ran.stderr);
    const columns = [
      ...["source", "name", "m", "n", "k", "layout", "scale", "phase"] as const,
      ...["calls", "time_us", "op"] as const,
    ];
    assertEquals(columnsOf(ran, ...columns), [
      "cublas cublasGemmEx 16 32 64 nn  all 1 1 matmul",
      "cublas cublasGemmEx 2 128 64 nn  decode 4 4 matmul",
      "cublas cublasGemmEx 20 128 64 nn  prefill 1 1 matmul",
      "cublas cublasGemmEx 4 32 64 nn  all 1 1 matmul",
      "torch aten::_grouped_mm (8 groups) 40 16 64 nt  all 3 9 ",
      "torch aten::_scaled_mm 16 32 64 nt row all 1 4 scaled-matmul",
      "triton triton_tem_fused_addmm_relu_t_1 24 40 48 nt  all 1 6 ",
      "triton triton_tem_fused_addmm_t_0 24 40 48 nt  all 2 12 matmul",
    ]);
    const triton = ran.captured!.gemms.filter(({ source }) =>
      source === "triton"
    );
    assertEquals(triton.map((gemm) => gemm.epilogue), ["bias", "fused"]);
    assertEquals(ran.captured!.steps, 5);
  },
);

pythonTest(
  "capture records a library that is loaded for itself alone",
  async () => {
    const ran = await captured(`${FAKE}plugin.py`, { path: "python3" });
    assertEquals(
      [ran.code, ran.stderr.includes("rror")],
      [0, false],
      ran.stderr,
    );
    assertEquals(callsOf(ran), { "6x7x5": 12 });
  },
);

ccTest(
  "capture leaves standard input to the program, and forwards signals",
  async () => {
    using folder = temporary();
    const run = (what: string) => {
      const args = ["capture", "--", mockProgram(), ...what.split(" ")];
      const [deno, ...rest] = command(args);
      return new Deno.Command(deno!, {
        args: [...rest],
        cwd: folder.path,
        env: { LD_LIBRARY_PATH: mockFolder() },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    };
    const text = new TextEncoder().encode("one\ntwo\0\n");
    const reader = run("cuda gemm 3 1 2 3 cat");
    const writer = reader.stdin.getWriter();
    await writer.write(text);
    await writer.close();
    assertEquals((await reader.output()).stdout, text);
    const sleeper = run("cuda gemm 3 1 2 3 written say cat");
    // The program has the signal's default action, which ends it.
    const file = join(folder.path, "captured/captured.json");
    Deno.removeSync(file);
    const output = sleeper.stdout.getReader();
    await output.read();
    sleeper.kill("SIGTERM");
    assertEquals((await sleeper.status).code, 143);
    await Promise.all([
      output.cancel(),
      sleeper.stderr.cancel(),
      sleeper.stdin.close(),
    ]);
    assertEquals(readCaptured(read(file)!, file).gemms[0]!.calls, 3);
  },
);

ccTest("capture takes a thread's outermost NVTX ranges as phases", async () => {
  const ran = await captured("cuda ranges");
  assertEquals([ran.code, columnsOf(ran, "m", "phase", "calls")], [
    0,
    ["2 all 1", "2 decode # 6"],
  ]);
});

ccTest("capture takes an NVTX range as the window", async () => {
  const counted = async (...options: readonly string[]) => {
    const ran = await captured("cuda gemm 9 4 5 6 ranges gemm 9 4 5 6", {
      options,
    });
    return [ran.code, ran.captured && columnsOf(ran, "m", "phase", "calls")];
  };
  // An outermost range, and the first of three that are inside of others.
  assertEquals(await counted("--range", "decode 10"), [0, ["2 decode # 2"]]);
  assertEquals(await counted("--range", "attention"), [0, ["2 decode # 1"]]);
  assertEquals(await counted("--range", "decode 1"), [3, undefined]);
  const ends = await captured("cuda ranges sleep 4 exit 7", {
    options: ["--range", "decode 9"],
  });
  assertMatch(ends.stderr, /The window is over; the program goes on/);
  assertEquals([ends.code, ends.captured!.notes], [7, []]);
  assert(ends.captured!.window_s < 3, `${ends.captured!.window_s}`);
  const none = await captured("cuda ranges", { options: ["--range", "x"] });
  assertMatch(
    none.stderr,
    /^error: Cannot capture GEMMs of \S+: it began no NVTX range x; name one that it has in the default domain, or leave out --range\n$/,
  );
  for (const more of [["--seconds", "1"], ["--warmup", "1"]]) {
    const two = await captured("x", { options: ["--range", "x", ...more] });
    assertEquals([two.code, two.stdout], [2, ""]);
    assertMatch(two.stderr, /^error: Cannot tell the window: give --range/);
  }
});
