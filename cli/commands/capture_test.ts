import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import {
  mockFolder,
  mockProgram,
  staticProgram,
} from "../../backends/cuda/capture/testdata/mocks.ts";
import { ccTest } from "../../backends/testdata/mocks.ts";
import { type Captured, readCaptured } from "../../bench/model/captured.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { program, type Ran } from "../testdata/program.ts";

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
