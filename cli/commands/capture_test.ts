import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import {
  mockFolder,
  mockProgram,
  staticProgram,
} from "../../backends/cuda/capture/testdata/mocks.ts";
import { ccTest } from "../../backends/testdata/mocks.ts";
import { type Captured, readCaptured } from "../../bench/model/captured.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { command, program, type Ran } from "../testdata/program.ts";

interface Recorded extends Ran {
  /** What was written; nothing where nothing was. */
  readonly captured: Captured | undefined;
}

/** Captures the mock program, which does what `what` says. */
async function captured(
  what: string,
  { options = [], env = {}, path = mockProgram() }: {
    readonly options?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly path?: string;
  } = {},
): Promise<Recorded> {
  using folder = temporary();
  const args = ["capture", ...options, "--", path, ...what.split(" ")];
  const ran = await program(args, {
    cwd: folder.path,
    env: { LD_LIBRARY_PATH: mockFolder(), ...env },
  });
  const file = join(folder.path, "captured/captured.json");
  const text = read(file);
  return {
    ...ran,
    captured: text === undefined ? undefined : readCaptured(text, file),
  };
}

function read(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The calls of each shape. */
function callsOf({ captured }: Recorded): Readonly<Record<string, number>> {
  return Object.fromEntries(
    captured!.gemms.map(({ m, n, k, calls }) => [`${m}x${n}x${k}`, calls]),
  );
}

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
      ["cuda gemm 1 2 3 4 sleep 0.3 kill 15", 143],
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
/** The columns of each GEMM that `keys` name, sorted. */
function columnsOf(
  { captured }: Recorded,
  ...keys: readonly (keyof Captured["gemms"][number])[]
): readonly string[] {
  return captured!.gemms.map((gemm) => keys.map((key) => gemm[key]).join(" "))
    .toSorted();
}

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

ccTest(
  "capture matches kernels with calls that CUPTI tells later",
  async () => {
    const ran = await captured("cuda every 1 1.5", {
      env: { MOCK_CUPTI_LATE: "1" },
    });
    const [gemm] = ran.captured!.gemms;
    assert(gemm!.calls > 300, `${gemm!.calls}`);
    assertEquals(gemm!.time_us, gemm!.calls);
    assertEquals(ran.captured!.other, []);
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

ccTest(
  "capture opens the window after the warm-up and closes it in time",
  async () => {
    const options = ["--warmup", "0.5", "--seconds", "0.5"];
    const ran = await captured("cuda every 1 2.5", { options });
    const { window_s, wall_s, gemms, other } = ran.captured!;
    assert(window_s >= 0.5 && window_s < 0.7, `${window_s}`);
    assert(wall_s > 2.5, `${wall_s}`);
    const { calls, time_us } = gemms[0]!;
    assert(calls > 100 && calls < 600, `${calls}`);
    assertEquals(time_us, calls);
    // A call may have begun before the window and run in it.
    assert(other.every((kernel) => kernel.calls === 1), JSON.stringify(other));
    assertMatch(ran.stderr, /The window is over; the program goes on/);
    assertEquals(ran.stderr.match(/MxNxK/g)?.length, 1, ran.stderr);
  },
);

ccTest("capture joins the processes of a program", async () => {
  // The child inherits nothing of the parent's counts; the one that takes its place neither.
  const forked = await captured("fork cuda gemm 4 2 3 4 _exit 0");
  assertEquals(callsOf(forked), { "2x3x4": 4 });
  const both = await captured("cuda gemm 2 2 3 4 fork gemm 4 2 3 4 _exit 5");
  assertEquals([both.code, callsOf(both)], [5, { "2x3x4": 6 }]);
  const replaced = await captured("cuda gemm 2 1 2 3 exec");
  assertEquals(callsOf(replaced), { "1x2x3": 5 });
  assertEquals(replaced.captured!.notes, []);
});

ccTest("capture says why there is no GEMM, and what would work", async () => {
  const path = staticProgram();
  const cases: readonly [
    string,
    Parameters<typeof captured>[1],
    number,
    string,
  ][] = [
    ["exit 0", {}, 3, "it called neither cuBLAS nor CUDA; let it run longer"],
    ["exit 4", {}, 4, "it called neither cuBLAS nor CUDA"],
    ["cuda", {}, 3, "it started CUDA and ran no GEMM in the window"],
    ["cuda kernel gemm", {}, 3, "it called no cuBLAS that the recorder could"],
    ["x", { path }, 3, "it did not load the recorder; it is linked statically"],
    [
      "cuda gemm 9 1 2 3",
      { options: ["--warmup", "60"] },
      3,
      "give a shorter --warmup",
    ],
  ];
  for (const [what, options, code, why] of cases) {
    const ran = await captured(what, options);
    assertEquals([what, ran.code, ran.captured], [what, code, undefined]);
    assertEquals(ran.stderr.trim().split("\n").length, 1, ran.stderr);
    assert(
      ran.stderr.startsWith("error: Cannot capture GEMMs of ") &&
        ran.stderr.includes(why),
      ran.stderr,
    );
  }
  const missing = await captured("x", { path: "/nowhere/program" });
  assertEquals([missing.code, missing.stdout, missing.stderr], [
    2,
    "",
    "error: Cannot start /nowhere/program: it, or what its first line names, is not there; name a program of PATH, or its path\n",
  ]);
});

/** The folder of the fake PyTorch. */
const FAKE = fileURLToPath(
  new URL("../../backends/cuda/capture/testdata/python/", import.meta.url),
);

ccTest(
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
      "triton triton_tem_fused_addmm_relu_t_0 24 40 48 nt  all 2 12 matmul",
    ]);
    assertEquals(
      ran.captured!.gemms.find(({ source }) => source === "triton")?.epilogue,
      "bias+relu",
    );
    assertEquals(ran.captured!.steps, 5);
  },
);

ccTest(
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
        ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
      }).spawn();
    };
    const text = new TextEncoder().encode("one\ntwo\0\n");
    const reader = run("cuda gemm 3 1 2 3 cat");
    const writer = reader.stdin.getWriter();
    await writer.write(text);
    await writer.close();
    assertEquals((await reader.output()).stdout, text);
    const sleeper = run("cuda gemm 3 1 2 3 sleep 0.3 say cat");
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

/** Nanoseconds that a call of the real cuBLAS takes of the host at least. */
const CALL_NS = 2000;

ccTest(
  "capture costs less than 5 % of a call outside of the window",
  async () => {
    const env = { LD_LIBRARY_PATH: mockFolder() };
    const least = { bare: Infinity, recorded: Infinity };
    for (let i = 0; i < 4; i++) {
      const { stdout } = new Deno.Command(mockProgram(), {
        args: ["cuda", "time", "200000"],
        env,
      }).outputSync();
      const options = ["--warmup", "600"];
      const ran = await captured("cuda time 200000", { options });
      least.bare = Math.min(least.bare, +new TextDecoder().decode(stdout));
      least.recorded = Math.min(least.recorded, +ran.stdout);
    }
    assert(
      least.recorded - least.bare < 0.05 * CALL_NS,
      `${least.recorded} ns a call, ${least.bare} without the recorder`,
    );
  },
);
