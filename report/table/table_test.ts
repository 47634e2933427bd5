import { assertEquals } from "@std/assert";
import type { Failure } from "../../bench/model/errors.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { CaseKey, Row } from "../../bench/row/row.ts";
import { publishedRow } from "../import/foreign.ts";
import { formatTable, sidesSheet, tableSheet } from "./table.ts";
import { pivots } from "../model/pivot.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { launchNotes, runNotes } from "./notes.ts";

const KEY: CaseKey = {
  suite: "epilogue-bf16",
  op: "matmul",
  kernel: "",
  backend: "cuda",
  a_type: "bf16",
  b_type: "bf16",
  c_type: "bf16",
  acc_type: "f32",
  layout: "nn",
  m: "16",
  n: "16",
  k: "8192",
  params: "epilogue=relu",
};
const FIGURES = {
  q1_us: 1,
  q3_us: 1,
  min_us: 1,
  mean_us: 1,
  samples: 1,
  runs: 1,
  flops: 1,
  bytes: 1,
  tflops: 1,
  gbps: 1,
  floor_us: 1,
};
const BASE = {
  place: { device: "NVIDIA H200", arch: "sm_90a" },
  config: "",
  config_by: "fixed",
  note: "",
  provenance: { timer: "do_bench", cache: "cold" },
} as const;
const ACCURACY = {
  max_abs_err: 0,
  max_rel_err: 0,
  rel_l2_err: 0,
  mismatches: 0,
};

function timed(key: Partial<CaseKey>, median_us: number): Row {
  return {
    ...BASE,
    key: { ...KEY, ...key },
    status: "ok",
    figures: { ...FIGURES, median_us },
    accuracy: ACCURACY,
  };
}

function failed(key: Partial<CaseKey>, status: Failure, note: string): Row {
  return { ...BASE, key: { ...KEY, ...key }, status, note };
}

const OPTIONS = {
  baselines: { "epilogue-bf16": ["cublas", "naive"] },
  width: 100,
  color: false,
};

Deno.test("formatTable() shows medians, the best, failures and speed-ups", () => {
  const rows = [
    timed({ kernel: "cublas" }, 16.5),
    timed({ kernel: "decompose-k" }, 8.25),
    failed({ kernel: "mine" }, "wrong", "3 of 256 elements differ"),
    timed({ kernel: "cublas", k: "32768" }, 32),
    timed({ kernel: "decompose-k", k: "32768" }, 64),
    failed({ kernel: "mine", k: "32768" }, "wrong", "3 of 256 elements differ"),
  ];
  assertEquals(formatTable(rows, OPTIONS), [
    "epilogue-bf16 on NVIDIA H200",
    "median µs          cublas  decompose-k   mine  fastest vs cublas",
    "16×16×8192         16.50        8.250*  wrong              2.00x",
    "16×16×32768        32.00*       64.00   wrong              0.50x",
    "geomean vs cublas  1.00x        1.00x                      1.00x",
    "  * fastest at its shape",
    "  mine wrong at 2 shapes: 3 of 256 elements differ",
  ]);
});

Deno.test("formatTable() says which means are over fewer shapes", () => {
  const rows = [
    timed({ kernel: "cublas" }, 16.5),
    timed({ kernel: "decompose-k" }, 8.25),
    timed({ kernel: "cublas", k: "32768" }, 32),
    failed({ kernel: "decompose-k", k: "32768" }, "untuned", ""),
  ];
  assertEquals(formatTable(rows, OPTIONS).slice(-4), [
    "geomean vs cublas  1.00x        2.00x               2.00x",
    "  * fastest at its shape",
    "  geomean over fewer than the 2 shapes: decompose-k (1)",
    "  decompose-k untuned at 16×16×32768",
  ]);
});

Deno.test("formatTable() marks noisy rows, and says what that means and what helps", () => {
  const noisy = timed({ kernel: "mine" }, 7527);
  const rows: Row[] = [
    timed({ kernel: "cublas" }, 16.5),
    {
      ...noisy,
      figures: { ...FIGURES, median_us: 7527, q1_us: 5449, q3_us: 8681 },
    } as Row,
  ];
  assertEquals(formatTable(rows, OPTIONS), [
    "epilogue-bf16 on NVIDIA H200",
    "median µs          cublas         mine  fastest vs cublas",
    "16×16×8192         16.50*   ~7527 ±22%             ~0.00x",
    "geomean vs cublas  1.00x   ~0.00x                  ~0.00x",
    "  * fastest at its shape; ± half the interquartile range, in % of the median",
    "  ~ noisy (1 of 2 rows): quartiles over 20 % apart, mean over 1.2 medians, runs over 5 % apart, or",
    "    clocks lowered; try --runs 5",
  ]);
});

Deno.test("formatTable() takes the first baseline that was timed", () => {
  const rows = [
    failed({ kernel: "cublas" }, "unsupported", "no cuBLAS is installed"),
    timed({ kernel: "naive" }, 1234.56),
  ];
  assertEquals(formatTable(rows, OPTIONS), [
    "epilogue-bf16 on NVIDIA H200",
    "median µs         naive",
    "16×16×8192         1235",
    "geomean vs naive  1.00x",
    "  cublas: unsupported at every shape: no cuBLAS is installed",
  ]);
});

Deno.test("formatTable() has no speed-ups without a baseline, and a table a suite", () => {
  const rows = [
    timed({ kernel: "mine" }, 2),
    timed({ kernel: "mine", suite: "other" }, 20000),
  ];
  assertEquals(formatTable(rows, OPTIONS), [
    "epilogue-bf16 on NVIDIA H200",
    "median µs    mine",
    "16×16×8192  2.000",
    "",
    "other on NVIDIA H200",
    "median µs    mine",
    "16×16×8192  20000",
  ]);
});

Deno.test("formatTable() tells shapes apart by whatever differs", () => {
  const rows = [
    timed({ kernel: "mine", layout: "nt", params: "" }, 2),
    timed({ kernel: "mine" }, 3),
  ];
  assertEquals(formatTable(rows, OPTIONS).slice(2), [
    "16×16×8192 nt                2.000",
    "16×16×8192 nn epilogue=relu  3.000",
  ]);
});

Deno.test("formatTable() puts kernels down where that is narrower", () => {
  const rows = ["a-kernel", "b-kernel", "c-kernel"].map((kernel, i) =>
    timed({ kernel }, i + 1)
  );
  const lines = formatTable(rows, { ...OPTIONS, width: 32 });
  assertEquals(lines.slice(1), [
    "median µs  16×16×8192",
    "a-kernel       1.000*",
    "b-kernel       2.000",
    "c-kernel       3.000",
    "  * fastest at its shape",
  ]);
});

Deno.test("formatTable() compares the user's kernels with all others", () => {
  const mixed = [
    timed({ kernel: "cublas" }, 20),
    timed({ kernel: "blocked" }, 4),
    timed({ kernel: "mine" }, 8),
    timed({ kernel: "cublas", k: "32768" }, 20),
    timed({ kernel: "blocked", k: "32768" }, 40),
    failed({ kernel: "mine", k: "32768" }, "wrong", ""),
  ];
  const isMine = ({ kernel }: CsvRow) => kernel.startsWith("mine");
  const lead = (rows: readonly Row[]) =>
    formatTable(rows, { ...OPTIONS, isMine }).slice(1, 4)
      .map((line) => line.split(/ {2,}/).at(-1)!);
  assertEquals(lead(mixed), ["mine vs best other", "0.50x", "wrong"]);
  assertEquals(lead([...mixed, timed({ kernel: "mine-2", k: "32768" }, 5)]), [
    "own vs best other",
    "0.50x",
    "4.00x",
  ]);
  // Others are not credited where none of the user's has a time.
  const wrong = [...mixed.slice(0, 2), failed({ kernel: "mine" }, "wrong", "")];
  assertEquals(lead(wrong).slice(0, 2), ["mine", "wrong"]);
  assertEquals(
    formatTable(wrong, OPTIONS)[1]!.endsWith("fastest vs cublas"),
    true,
  );
});

Deno.test("formatTable() leaves a user's kernel on a narrow screen", () => {
  const rows = ["cublas", "a-kernel", "b-kernel", "mine"].map((kernel, i) =>
    timed({ kernel }, i + 1)
  );
  const lines = formatTable(rows, {
    ...OPTIONS,
    width: 31,
    isMine: ({ kernel }) => kernel === "mine",
  });
  assertEquals(/^16×16×8192 .* 1\.000\* +4\.000$/.test(lines[2]!), true);
});

Deno.test("formatTable() says what a star is where kernels were left out", () => {
  const rows = [timed({ kernel: "mine" }, 2), timed({ kernel: "other" }, 3)];
  const lines = formatTable(rows, { ...OPTIONS, areSome: true });
  assertEquals(lines.slice(2), [
    "16×16×8192  2.000*  3.000",
    "  * fastest of those shown",
  ]);
});

Deno.test("formatTable() colours only when told to", () => {
  const rows = [timed({ kernel: "mine" }, 2), timed({ kernel: "other" }, 3)];
  const plain = formatTable(rows, OPTIONS).join("\n");
  const painted = formatTable(rows, { ...OPTIONS, color: true }).join("\n");
  assertEquals(plain.includes("\x1b"), false);
  assertEquals(painted.includes("\x1b[32m    2.000*"), false);
  assertEquals(painted.includes("\x1b[32m2.000*\x1b[0m"), true);
});

Deno.test("formatTable() says nothing about a baseline because of its name", () => {
  const rows = [timed({ kernel: "naive" }, 9), timed({ kernel: "mine" }, 8)];
  const lines = formatTable(rows, {
    ...OPTIONS,
    baselines: { "epilogue-bf16": ["naive"] },
  });
  assertEquals(lines.filter((line) => /^ *naive is/.test(line)), []);
});

function row(
  kernel: string,
  run: string,
  time = "2026-11-21T08:00:00Z",
): CsvRow {
  return { ...publishedRow({ kernel }), run, time };
}

Deno.test("runNotes() names what is of other runs than most rows are", () => {
  const most = [row("a", "1"), row("b", "1"), row("c", "1")];
  assertEquals(runNotes([most]), []);
  assertEquals(runNotes([[row("d", "2"), ...most, row("e", "2")]]), [
    "d, e: 2 of 5 rows are from a different run, of 2026-11-21 08:00 UTC",
  ]);
  const later = row("d", "2", "2026-11-22T00:30:00+02:00");
  assertEquals(runNotes([[...most, later]]), [
    "d: 1 of 4 rows are from a different run, of 2026-11-21 22:30 UTC",
  ]);
  assertEquals(runNotes([[...most, row("d", "2", "2026-11-22T00:30:00Z")]]), [
    "d: 1 of 4 rows are from a different run, of 2026-11-22",
  ]);
  assertEquals(runNotes([[...most, row("d", "2", "")]]), [
    "d: 1 of 4 rows are from a different run",
  ]);
});

Deno.test("runNotes() counts many runs together", () => {
  const rows = ["1", "1", "2", "3", "4", "5", "6"].map((run) => row("a", run));
  assertEquals(runNotes([rows]).slice(2), [
    "a: 1 of 7 rows are from a different run, of 2026-11-21 08:00 UTC",
    "Rows are of 2 more runs",
  ]);
});

Deno.test("runNotes() says nothing of shapes whose rows are of one run", () => {
  const first = [row("a", "1"), row("b", "1")];
  const second = [row("a", "2"), row("b", "2")];
  assertEquals(runNotes([first, second]), []);
  assertEquals(runNotes([first, second, [row("a", "2"), row("b", "3")]]), [
    "b: 1 of 6 rows are from a different run, of 2026-11-21 08:00 UTC",
  ]);
});

Deno.test("launchNotes() compares the launch overheads of a shape's kernels", () => {
  const of = (floor_us: string) => csvRow({ floor_us });
  assertEquals(launchNotes([[of("3.7"), of("3.98")], [of("4.2")]]), []);
  assertEquals(launchNotes([[of("3.7"), of("")], [of("4.2"), of("4.2")]]), []);
  const far = [of("3.7"), of("4.2"), of("4.1")];
  assertEquals(launchNotes([far, [of("3.7"), of("3.7")], [of("4.2")]]), [
    "launch overhead differs between rows by over 3 % of the fastest time at 1 of 2 shapes, by up to 0.500 µs; rows of one device and run differ least",
  ]);
});

Deno.test("tableSheet() marks noisy recorded rows as formatTable() does", () => {
  const row = csvRow({ median_us: "10", q1_us: "7", q3_us: "12" });
  const [table] = pivots([row], { baselines: () => [] });
  const { body, notes } = tableSheet(table!);
  assertEquals(body[0]![1], { text: "~10.00", beside: "±25%", paint: "plain" });
  assertEquals(
    notes.filter((note) => note.startsWith("~ noisy (1 of 1 rows)"))
      .length,
    1,
  );
});

const LOST = { status: "wrong", median_us: "", q1_us: "", q3_us: "" };

/** The texts of the lines of a table of several figures, without blanks around them. */
function textsOf(lines: readonly (readonly { text: string }[])[]): string[][] {
  return lines.map((line) => line.map(({ text }) => text.trim()));
}

Deno.test("tableSheet() of several figures says once that a kernel failed", () => {
  const [table] = pivots([
    csvRow({ kernel: "cublas", median_us: "10" }),
    csvRow({ kernel: "mine", ...LOST }),
  ], { baselines: () => ["cublas"] });
  const { body } = tableSheet(table!, { metrics: ["us", "gbps", "speedup"] });
  assertEquals(
    textsOf(body).find(([, name]) => name === "mine")?.slice(2),
    ["wrong", "", ""],
  );
});

Deno.test("sidesSheet() shows a failure of either set, and a kernel that one set has", () => {
  const [table] = pivots([
    csvRow({ kernel: "mine@old", median_us: "8" }),
    csvRow({ kernel: "mine@new", ...LOST }),
    csvRow({ kernel: "other@new", median_us: "4" }),
    csvRow({ kernel: "both@old", median_us: "6" }),
    csvRow({ kernel: "both@new", median_us: "3" }),
  ], { baselines: () => [] });
  const { head, body } = sidesSheet(table!, ["old", "new"], { baselines: [] });
  assertEquals(head.slice(2), ["old median µs", "new median µs", "new vs old"]);
  const lines = textsOf(body).map(([, name, ...cells]) => [
    name!,
    ...cells.map((cell) => cell.replace("~", "")),
  ]);
  assertEquals(lines.toSorted(), [
    ["both", "6.000", "3.000", "2.00x"],
    ["mine", "8.000", "wrong", ""],
    ["other", "", "4.000", ""],
  ]);
});
