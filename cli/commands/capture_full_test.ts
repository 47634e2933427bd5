import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  mockFolder,
  mockProgram,
  staticProgram,
} from "../../backends/cuda/capture/testdata/mocks.ts";
import { dirname } from "node:path";
import { ccTest } from "../../backends/testdata/mocks.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { callsOf, captured } from "../testdata/capturing.ts";

ccTest(
  "capture matches kernels with calls that CUPTI tells later",
  async () => {
    const ran = await captured("cuda every 1 1.5", {
      env: { MOCK_CUPTI_LATE: "1" },
    });
    const [gemm] = ran.captured!.gemms;
    assert(gemm!.calls > 20, `${gemm!.calls}`);
    assertEquals(gemm!.time_us, gemm!.calls);
    assertEquals(ran.captured!.other, []);
  },
);

ccTest(
  "capture opens the window after the warm-up and closes it in time",
  async () => {
    const options = ["--warmup", "0.5", "--seconds", "0.5"];
    const ran = await captured("cuda every 1 2.5", { options });
    const { window_s, wall_s, gemms, other } = ran.captured!;
    assert(window_s >= 0.5 && window_s < wall_s - 1, `${window_s}`);
    assert(wall_s > 2.5, `${wall_s}`);
    const { calls, time_us } = gemms[0]!;
    // Each call waits for a millisecond.
    assert(calls > 5 && calls < 1000 * window_s + 10, `${calls}`);
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

/**
 * Calls of the mock in 5 % of a call of cuBLAS: where the mock takes 37 ns, cuBLAS takes 2,000 at
 * least. Calls of one run are compared, so a slow machine slows both.
 */
const CALLS = 2.7;

ccTest(
  "capture costs less than 5 % of a call outside of the window",
  async () => {
    const env = { LD_LIBRARY_PATH: mockFolder() };
    const least = { bare: Infinity, recorded: Infinity };
    for (let i = 0; i < 4; i++) {
      const { stdout } = new Deno.Command(mockProgram(), {
        args: ["cuda", "time", "400"],
        env,
      }).outputSync();
      const options = ["--warmup", "600"];
      const ran = await captured("cuda time 400", { options });
      least.bare = Math.min(least.bare, +new TextDecoder().decode(stdout));
      least.recorded = Math.min(least.recorded, +ran.stdout);
    }
    assert(
      least.recorded - least.bare < CALLS * least.bare,
      `${least.recorded} ns a call, ${least.bare} without the recorder`,
    );
  },
);

ccTest("capture says why the recorder cannot be built or loaded", async () => {
  using folder = temporary();
  const cases: readonly [Parameters<typeof captured>[1], RegExp][] = [
    [
      { options: ["--kernel-cache", `${folder.path}/a b`] },
      /^error: Cannot load .* its path has a blank or a colon; name another folder with --kernel-cache DIR$/,
    ],
    [
      {
        options: ["--kernel-cache", folder.path],
        env: { PATH: dirname(Deno.execPath()) },
      },
      /^error: Cannot build the recorder: .*install gcc, or put a C compiler first in PATH$/,
    ],
    [
      { options: ["--kernel-cache", "/proc/nowhere"] },
      /^error: Cannot write \/proc\/nowhere: /,
    ],
    [{ options: ["--out", "/proc/nowhere"] }, /^error: Cannot write \/proc/],
  ];
  for (const [options, text] of cases) {
    const ran = await captured("cuda gemm 1 2 3 4", options);
    assertEquals([ran.code, ran.stdout, ran.captured], [2, "", undefined]);
    assertMatch(ran.stderr.trimEnd(), text);
  }
});
