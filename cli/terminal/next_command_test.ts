import { assertEquals, assertMatch } from "@std/assert";
import type { Failure } from "../../bench/model/errors.ts";
import { DEFAULTS, type Selection } from "../../bench/model/settings.ts";
import type { CaseKey, Row } from "../../bench/row/row.ts";
import { timedRow } from "../../bench/testdata/rows.ts";
import {
  allSelectionArgs,
  debugCommand,
  inputArgs,
  nextCommand,
  type SelectedRun,
  selectionArgs,
} from "./next_command.ts";
import { kernelCacheOf, quoted, timingCacheOf } from "../../session/home.ts";
import { pythonOf } from "../../peers/cases.ts";
import suite from "../testdata/fault_suite.ts";

const SELECTION: Selection = {
  suites: ["other", "./mine.ts"],
  kernels: [],
  backend: "cpu",
  device: 1,
  points: "all",
  overrides: {},
  where: {},
};
const SETTINGS = { ...DEFAULTS, seed: 3, cacheDir: "/cache" };

/** What is said of `rows`, after `mnkbench` or what stands for it in a task. */
function after(
  rows: readonly Row[],
  selection: Partial<Selection> = {},
  preset = false,
  out?: string,
): string {
  const selected = {
    preset,
    selection: { ...SELECTION, ...selection },
    suites: ["other", "mine"].map((name) => ({
      name,
      axes: [
        ...["m", "n", "k"].map((axis) => ({ name: axis, values: "size" })),
        { name: "type", column: "a_type", values: ["bf16", "f32"] },
        { name: "layout", values: ["nn", "nt"] },
        { name: "epilogue", values: ["none", "relu"] },
      ],
      swept: ["m", "n", "k", "epilogue"],
      baselines: ["naive"],
      cases: () => [failed("").key],
    })) as never[],
  };
  return nextCommand(rows, { selected, settings: SETTINGS, out })
    .replace(/(: ).*?(mnkbench|task) /, "$1");
}

function failed(note: string, status: Failure = "wrong"): Row {
  const { figures: _, accuracy: __, ...row } = timedRow("bad", {
    suite: "mine",
  });
  const key = { ...row.key, m: "8", n: "8", k: "32", params: "" };
  return { ...row, key, status, note };
}

const FILES =
  "--backend cpu --device 1 --kernel-cache /cache --no-timing-cache";

Deno.test("nextCommand() names the Python of a Python kernel that failed", () => {
  const { provenance, ...row } = failed("", "crash");
  const library = "python torch 2.11";
  assertMatch(
    after([{ ...row, provenance: { ...provenance, library } } as Row], {
      peers: { python: "/my/python3" },
    }),
    /^Next, one failed case alone: check --suite .* --python \/my\/python3 --kernel bad --m 8/,
  );
});

Deno.test("nextCommand() names a kernel before a baseline, and a baseline alone", () => {
  const crash = failed("", "crash");
  const naive = { ...crash, key: { ...crash.key, kernel: "naive" } };
  assertMatch(after([naive, failed("")]), /--kernel bad /);
  assertMatch(after([naive]), /--kernel naive/);
});

Deno.test("nextCommand() repeats what was selected for a failed case", () => {
  assertEquals(
    after([timedRow("good"), failed("")]),
    `Next, one failed case alone: check --suite ./mine.ts ${FILES} --kernel bad --m 8 --n 8 --k 32 --seed 3`,
  );
  assertEquals(
    after([failed("at 64×128×192, where M, N and K differ: C: 5 of 9")]),
    `Next, one failed case alone: check --suite ./mine.ts ${FILES} --kernel bad --m 64 --n 128 --k 192 --seed 3`,
  );
  assertEquals(
    after([failed("", "untuned")]),
    `Next, find its config: tune --suite ./mine.ts ${FILES} --kernel bad --m 8 --n 8 --k 32`,
  );
  const cached: Row = { ...failed(""), config_by: "cache" };
  assertEquals(
    after([cached]),
    'Its config is from the timing cache; to search again: tune forget "kernel=bad m=8 n=8 k=32"',
  );
});

Deno.test("nextCommand() times a case again that is wrong only while timed", () => {
  for (const note of ["while timed, at sample 1 of 10: C", "suspect: 3 of 5"]) {
    assertEquals(
      after([failed(note)]),
      `Next, one failed case alone, timed, as its checks alone pass: bench --suite ./mine.ts ${FILES} --kernel bad --m 8 --n 8 --k 32 --seed 3`,
    );
  }
});

Deno.test("nextCommand() gives a failed case its values of the axes that were given", () => {
  const { key, ...row } = failed("");
  const other = {
    ...row,
    key: { ...key, layout: "nt", params: "epilogue=relu" },
  } as Row;
  const usual =
    `Next, one failed case alone: check --suite ./mine.ts ${FILES} --kernel bad --m 8 --n 8 --k 32`;
  assertEquals(
    after([other], { overrides: { type: ["f32"], layout: ["nn", "nt"] } }),
    `${usual} --axis type=f32 --axis layout=nt --where epilogue=relu --seed 3`,
  );
  assertEquals(
    after([other], { overrides: { m: [8, 9], epilogue: ["none", "relu"] } }),
    `${usual} --axis epilogue=relu --seed 3`,
  );
});

Deno.test("nextCommand() names a debugger for a crash", () => {
  assertMatch(
    after([timedRow("good"), failed("", "crash")]),
    /^Next, that case alone under a debugger, .* --kernel bad .* --seed 3 --once$/,
  );
  assertMatch(
    after([failed(""), failed("", "untuned"), failed("", "crash")]),
    /^Next, that case alone under a debugger, /,
  );
});

Deno.test("nextCommand() names no debugger for a kernel that ends its process", () => {
  assertMatch(
    after([failed("The worker exited with code 0", "crash")]),
    /^Next, one failed case alone: /,
  );
});

Deno.test("nextCommand() repeats what was selected for more of the same", () => {
  const rows = [timedRow("good")];
  assertEquals(
    after(rows, {}, true),
    `Next, every shape of a suite: bench --suite other ${FILES}`,
  );
  const peers = { set: "torch", python: "/my/python" } as const;
  assertEquals(
    after(rows, { kernels: ["good"], peers }),
    `Next, a size of your own: bench --suite other ${FILES} --kernel good --peers torch --python /my/python --m 24`,
  );
  assertEquals(
    after(rows, { peers: { ...peers, python: pythonOf(undefined) } }),
    `Next, a size of your own: bench --suite other ${FILES} --peers torch --m 24`,
  );
  assertEquals(
    after(rows, {
      overrides: { m: [16], k: [4096], epilogue: ["relu"] },
      where: { n: ["64"], layout: ["nt"] },
    }),
    `Next, a size of your own: bench --suite other ${FILES} --m 24 --k 4096 --axis epilogue=relu --where layout=nt`,
  );
  assertEquals(
    after(rows, { kernels: ["good", "missing"] }),
    `Next, a size of your own: bench --suite other ${FILES} --kernel good --m 24`,
  );
  assertEquals(
    after(rows, {}, true, "my results"),
    `Next, every shape of a suite: bench --suite other ${FILES} --out 'my results'`,
  );
  const rowsOf = (suite: string) =>
    rows.map((row) => ({ ...row, key: { ...row.key, suite } }));
  assertEquals(
    after(rowsOf("other"), {}, false, "my results"),
    "Next, these rows as tables: table 'my results'",
  );
  // Its file has the baselines.
  assertEquals(
    after(rowsOf("mine"), {}, false, "my results"),
    "Next, these rows as tables: table 'my results' --suite ./mine.ts",
  );
});

const TOLD = {
  selection: {
    suites: ["./faults.ts"],
    kernels: [],
    backend: "cpu",
    device: 0,
    points: "all",
    overrides: {},
    where: {},
  },
  suites: [suite],
  settings: { ...DEFAULTS, cacheDir: "/cache" },
} as const;

function said(
  status: "crash" | "launch" | "wrong",
  { note = "", ...key }: Partial<CaseKey> & { note?: string } = {},
): string | undefined {
  const { figures: _, accuracy: __, ...row } = timedRow("segfault");
  const failed = {
    ...row,
    status,
    note,
    key: {
      ...row.key,
      suite: "faults",
      backend: "cpu",
      m: "8",
      n: "8",
      k: "32",
      params: "epilogue=none",
      ...key,
    },
  } as Row;
  return debugCommand(failed, TOLD);
}

Deno.test("debugCommand() runs a case that crashed in the debugged process itself", () => {
  assertMatch(
    said("crash")!,
    /: (gdb -ex run --args|lldb -o run --) \S*deno\S* run (--allow-\w+ )+\S+\/cli\/main\.ts bench --suite \.\/faults\.ts --backend cpu .*--kernel segfault --m 8 --n 8 --k 32 --once$/,
  );
});

Deno.test("debugCommand() names a sanitizer for a fault on the device", () => {
  const note = "Cannot wait: CUDA_ERROR_ILLEGAL_ADDRESS (700)";
  assertMatch(
    said("launch", { note, backend: "cuda" })!,
    /: compute-sanitizer --target-processes all .* bench .*--kernel segfault .*--once$/,
  );
  assertEquals(
    said("launch", { note: "Cannot load x: no such entry", backend: "cuda" }),
    undefined,
  );
});

Deno.test("debugCommand() says nothing of other failures, and where --once would refuse", () => {
  assertEquals(said("wrong"), undefined);
  assertEquals(said("crash", { kernel: "not-there" }), undefined);
  assertEquals(said("crash", { suite: "not-there" }), undefined);
});

const TOLD_SELECTION: Selection = {
  suites: ["decompose-k", "/my suites/mine.ts"],
  kernels: [],
  backend: "hip",
  device: 0,
  points: "all",
  overrides: {},
  where: {},
};
const TOLD_SETTINGS = {
  cacheDir: kernelCacheOf(undefined),
  timingCache: timingCacheOf(undefined, undefined),
  level: DEFAULTS.level,
};

const told = (
  selection: Partial<Selection>,
  settings: Partial<SelectedRun["settings"]> = {},
): SelectedRun => ({
  selection: { ...TOLD_SELECTION, ...selection },
  suites: [{ name: "decompose-k" }, { name: "mine" }],
  settings: { ...TOLD_SETTINGS, ...settings },
});

Deno.test("selectionArgs() has the suite as it was given, and always the backend", () => {
  assertEquals(selectionArgs("decompose-k", told({})), [
    "--suite decompose-k",
    "--backend hip",
  ]);
  assertEquals(selectionArgs("mine", told({ device: 2 })), [
    "--suite '/my suites/mine.ts'",
    "--backend hip",
    "--device 2",
  ]);
  const overrides = { m: [4], layout: ["nn", "nt"] };
  assertEquals(selectionArgs("decompose-k", told({ overrides })), [
    ...["--suite decompose-k", "--backend hip"],
  ]);
});

Deno.test("selectionArgs() names the files of the run where they are not the usual ones", () => {
  const of = (settings: Partial<SelectedRun["settings"]>) =>
    selectionArgs("decompose-k", told({}, settings)).slice(2);
  assertEquals(of({ cacheDir: "/c", timingCache: "/c/timings.json" }), [
    "--kernel-cache /c",
  ]);
  assertEquals(of({ timingCache: "/it's" }), [
    "--timing-cache '/it'\\''s'",
  ]);
  const { cacheDir } = TOLD_SETTINGS;
  const without: SelectedRun["settings"] = { cacheDir, level: 3 };
  const words = (settings: SelectedRun["settings"]) =>
    selectionArgs("decompose-k", { ...told({}), settings }).slice(2);
  assertEquals(words(without), ["--no-timing-cache"]);
  assertEquals(words({ ...without, level: 0 }), ["--level 0"]);
});

Deno.test("allSelectionArgs() has every suite, kernel and size", () => {
  const overrides = { m: [1, 8], k: [64], layout: ["nt"] };
  assertEquals(allSelectionArgs(told({ kernels: ["naive"], overrides })), [
    ...["--suite decompose-k", "--suite '/my suites/mine.ts'"],
    ...[
      "--kernel naive",
      "--m 1,8",
      "--k 64",
      "--axis layout=nt",
      "--backend hip",
    ],
  ]);
});

Deno.test("inputArgs() has what makes other inputs", () => {
  assertEquals(inputArgs(DEFAULTS), []);
  assertEquals(inputArgs({ fill: "integers", seed: 7 }), [
    "--fill integers",
    "--seed 7",
  ]);
});

Deno.test("quoted() leaves plain words as they are", () => {
  assertEquals(quoted("./a-b_c.ts"), "./a-b_c.ts");
  assertEquals(quoted("a b"), "'a b'");
  assertEquals(quoted(""), "''");
});
