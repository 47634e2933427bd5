import { assert, assertEquals } from "@std/assert";
import type { Captured, CapturedGemm } from "../../bench/model/captured.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { formatText } from "../../report/table/sheet.ts";
import { weightsSheet } from "../../report/table/weights_sheet.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { capturedGemm, capturedOf } from "../testdata/captured.ts";
import { pointOfGemm } from "./points.ts";
import { weightsOf } from "./weights.ts";

/** A row of `kernel` at the point of `gemm`. */
function rowOf(
  gemm: CapturedGemm,
  kernel: string,
  us: number,
  own: Partial<CsvRow> = {},
): CsvRow {
  const point = pointOfGemm(gemm);
  assert(typeof point !== "string");
  const { m, n, k, ...key } = point.key;
  const time = `${us}`;
  return csvRow({
    op: point.op,
    suite: "captured",
    device: "NVIDIA H200",
    kernel,
    ...key,
    m: `${m}`,
    n: `${n}`,
    k: `${k}`,
    sol_us: "4",
    floor_us: "4",
    median_us: time,
    q1_us: time,
    q3_us: time,
    mean_us: time,
    ...own,
  });
}

const LARGE = capturedGemm({ n: 2112, k: 7168, time_us: 400 });
const SMALL = capturedGemm({ n: 64, k: 7168, time_us: 200 });
const UNMEASURED = capturedGemm({ n: 96, time_us: 50 });
const BATCH = capturedGemm({ batch: 8, time_us: 30 });
const CAPTURED = capturedOf([LARGE, SMALL, UNMEASURED, BATCH], {
  device: { name: "NVIDIA H200" },
});
const CHAIN = { timer: "chain:32", sol_us: "2", floor_us: "0.5" };
const ROWS = [
  rowOf(LARGE, "cublas", 20),
  rowOf(LARGE, "wgmma-k", 16),
  rowOf(LARGE, "wrong", 5, { status: "wrong", median_us: "", mean_us: "" }),
  rowOf(LARGE, "suspect", 3),
  rowOf(LARGE, "cublas", 12, CHAIN),
  rowOf(LARGE, "wgmma-k", 11.4, CHAIN),
  rowOf(LARGE, "cluster-k", 11, CHAIN),
  rowOf(LARGE, "wgmma-k", 1.9, { timer: "chain:32:pdl", sol_us: "" }),
  rowOf(SMALL, "cublas", 8, { q3_us: "11" }),
  rowOf(SMALL, "cluster-k", 10),
  // Of another machine, and of a point of nothing that was captured.
  rowOf(UNMEASURED, "cublas", 8, { device: "AMD EPYC" }),
  rowOf(capturedGemm({ n: 1 }), "cublas", 1),
];

const NOTES = { suite: "mnkbench bench --suite captured.ts" };

/** The lines of the only table, as wide as `width`. */
function linesOf(
  [weights, ...others]: ReturnType<typeof weightsOf>,
  width: number,
): string[] {
  assertEquals(others, []);
  return formatText(weightsSheet(weights!), { width, color: false });
}

Deno.test("weightsOf() and weightsSheet() show all of a step in 120 columns", () => {
  assertEquals(linesOf(weightsOf(CAPTURED, ROWS, NOTES), 120), [
    "python serve.py, captured on NVIDIA H200, measured on NVIDIA H200",
    "                        calls a             share of  measured  share of                            back to",
    "what runs                  step  ms a step   kernels        ms       SOL        fastest  ms to win     back",
    "16×2112×7168 bf16 nt          5      0.200    54.8 %     0.100    20.0 %       wgmma-k*      0.050    0.010",
    "16×64×7168 bf16 nt            5      0.100    27.4 %    ~0.040    50.0 %        cublas       0.000",
    "16×96×128 bf16 nt             5      0.025     6.8 %                      not measured",
    "8 of 16×64×128 bf16 nt        5      0.015     4.1 %                             no op",
    "softmax                       2      0.025     6.8 %",
    "no kernel                            0.135",
    "sum                                  0.500   100.0 %    ~0.140                               0.050    0.010",
    "  * faster than what runs now",
    "  measured ms: calls × time of cublas; ms to win: ms a step × (1 - fastest / measured), both less floor_us",
    "  ~ noisy (1 of 5 rows): quartiles over 20 % apart, mean over 1.2 medians, runs over 5 % apart, or clocks lowered; try",
    "    --runs 5",
    "  1 of 4 GEMMs not measured on NVIDIA H200: `mnkbench bench --suite captured.ts`",
    "  no op: 8 of 16×64×128 bf16 nt: a batch of 8 products",
    "  with the fastest kernels the step of 0.500 ms becomes 0.450 ms, 1.111x as fast; 82.2 % of its kernel time is measured",
    "  back to back the step of 0.500 ms becomes 0.490 ms, 1.021x as fast; 54.8 % of its kernel time is measured",
  ]);
});

Deno.test("weightsSheet() leaves out the last figures in 80 columns", () => {
  assertEquals(linesOf(weightsOf(CAPTURED, ROWS, NOTES), 80), [
    "python serve.py, captured on NVIDIA H200, measured on NVIDIA H200",
    "                                   share of                            back to",
    "what runs               ms a step   kernels        fastest  ms to win     back",
    "16×2112×7168 bf16 nt        0.200    54.8 %       wgmma-k*      0.050    0.010",
    "16×64×7168 bf16 nt          0.100    27.4 %        cublas       0.000",
    "16×96×128 bf16 nt           0.025     6.8 %  not measured",
    "8 of 16×64×128 bf16 nt      0.015     4.1 %         no op",
    "softmax                     0.025     6.8 %",
    "no kernel                   0.135",
    "sum                         0.500   100.0 %                     0.050    0.010",
    "  * faster than what runs now",
    "  3 columns left out to fit: `table --all` has all",
    "  measured ms: calls × time of cublas; ms to win: ms a step × (1 - fastest /",
    "    measured), both less floor_us",
    "  ~ noisy (1 of 5 rows): quartiles over 20 % apart, mean over 1.2 medians, runs",
    "    over 5 % apart, or clocks lowered; try --runs 5",
    "  1 of 4 GEMMs not measured on NVIDIA H200: `mnkbench bench --suite captured.ts`",
    "  no op: 8 of 16×64×128 bf16 nt: a batch of 8 products",
    "  with the fastest kernels the step of 0.500 ms becomes 0.450 ms, 1.111x as",
    "    fast; 82.2 % of its kernel time is measured",
    "  back to back the step of 0.500 ms becomes 0.490 ms, 1.021x as fast; 54.8 % of",
    "    its kernel time is measured",
  ]);
});

Deno.test("weightsOf() has a table for each device, where none is the captured one", () => {
  const { device: _, ...captured } = CAPTURED;
  const titles = weightsOf(captured, ROWS, NOTES).map(({ title }) => title);
  assertEquals(titles, [
    "python serve.py, measured on NVIDIA H200",
    "python serve.py, measured on AMD EPYC",
  ]);
});

Deno.test("weightsOf() of no row names what measures them", () => {
  const [weights] = weightsOf(CAPTURED, [], NOTES);
  assertEquals(weights!.title, "python serve.py, captured on NVIDIA H200");
  assertEquals(weights!.notes, [
    "3 of 4 GEMMs not measured: `mnkbench bench --suite captured.ts`",
    "no op: 8 of 16×64×128 bf16 nt: a batch of 8 products",
  ]);
});

Deno.test("weightsOf() takes the rows of a timer, and the library that was called", () => {
  const gemm = { ...LARGE, source: "cublaslt" };
  const rows = [
    rowOf(gemm, "cublas", 20),
    rowOf(gemm, "cublaslt", 18),
    rowOf(gemm, "wgmma-k", 9),
    rowOf(gemm, "cublas", 30, { timer: "graph" }),
    rowOf(gemm, "triton", 3, { source_hash: "", sol_us: "" }),
  ];
  const nowOf = (timer?: string) => {
    const [weights] = weightsOf(capturedOf([gemm]), rows, { ...NOTES, timer });
    const { now, fastest } = weights!.lines[0]!.measured!;
    return [now?.kernel, now?.median_us, fastest.kernel];
  };
  assertEquals(nowOf(), ["cublaslt", "18", "triton"]);
  assertEquals(nowOf("graph"), ["cublas", "30", "cublas"]);
  // Another suite without a library has more rows.
  const other = { suite: "mine", timer: "graph" };
  rows.push(
    ...["a", "b", "c", "d", "e"].map((kernel) => rowOf(gemm, kernel, 7, other)),
  );
  assertEquals(nowOf(), ["cublaslt", "18", "triton"]);
});

Deno.test("weightsSheet() adds the GEMMs and kernels beyond those that it shows", () => {
  const other = Array.from({ length: 8 }, (_, i) => ({
    name: `k${i}${"<8>".repeat(i * 30)}`,
    calls: 2,
    time_us: 10 - i,
  }));
  const [weights] = weightsOf(
    capturedOf(CAPTURED.gemms, { other }),
    ROWS,
    NOTES,
  );
  const { head, body, foot } = weightsSheet(weights!, 1);
  const texts = (heads: readonly string[], line: number) =>
    heads.map((name) => body[line]![head.indexOf(name)]!.text);
  const names = body.map(([label]) => label!.text);
  const long = (i: number) => `k${i}${"<8>".repeat(30)}`.slice(0, 58) + "…";
  assertEquals(names, [
    ...["16×2112×7168 bf16 nt", "3 other GEMMs"],
    ...["k0", long(1), long(2), long(3), long(4)],
    ...["3 other kernels", "no kernel"],
  ]);
  const figures = [
    "ms a step",
    "share of kernels",
    "measured ms",
    "fastest",
    "ms to win",
  ];
  assertEquals(texts(figures, 0), [
    ...["0.200", "54.6 %", "0.100", "wgmma-k", "0.050"],
  ]);
  assertEquals(texts(figures, 1), ["0.140", "38.3 %", "~0.040", "", "0.000"]);
  assertEquals(foot[0]![head.indexOf("share of kernels")]!.text, "100.0 %");
});

Deno.test("weightsSheet() saves time of kernels, without that of their launches", () => {
  const savedOf = (
    us: readonly [number, number],
    floors: readonly [string, string],
    own: Partial<CapturedGemm> = {},
    more: Partial<Captured> = {},
  ) => {
    const gemm = { ...LARGE, calls: 10, time_us: 100, ...own };
    const none = { sol_us: "" };
    const rows = [
      rowOf(gemm, "cublas", us[0], { ...none, floor_us: floors[0] }),
      rowOf(gemm, "wgmma-k", us[1], { ...none, floor_us: floors[1] }),
    ];
    const captured = capturedOf([gemm], { steps: 1, ...more });
    const sheet = weightsSheet(weightsOf(captured, rows, NOTES)[0]!);
    return sheet.body[0]![sheet.head.indexOf("ms to win")]!.text;
  };
  // Captured: 10 us a call. Of 10 us 4 are a launch: half of the 6 us of the kernel is saved.
  assertEquals(savedOf([10, 7], ["4", "4"]), "0.050");
  // A peer has a timer and an empty call of its own.
  assertEquals(savedOf([10, 8], ["4", "5"]), "0.050");
  assertEquals(savedOf([10, 5], ["", ""]), "0.050");
  // What is as fast as an empty call saves all; where the library is, nothing is left.
  assertEquals(savedOf([10, 3.9], ["4", "4"]), "0.100");
  assertEquals(savedOf([4, 3.9], ["4", "4"]), "0.000");
  // Nothing was captured: 10 calls that are 3 us faster.
  const unknown = [{ time_us: null }, { clock: "none" }] as const;
  assertEquals(savedOf([10, 7], ["4", "4"], ...unknown), "0.030");
});

Deno.test("weightsOf() says for how much of the window the GPU was busy", () => {
  const [weights] = weightsOf({ ...CAPTURED, gpu_busy_us: 250 }, [], NOTES);
  assert(weights!.notes.includes("the GPU was busy for 25.0 % of 0.001 s"));
});
