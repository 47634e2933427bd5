import { assert, assertEquals } from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { publishedRow } from "../import/foreign.ts";
import { formatMarkdown, formatText } from "../table/sheet.ts";
import { leftOut, pivots } from "./pivot.ts";
import { pivotsCsv, pivotsJson, winsCsv } from "../table/pivot_data.ts";
import { tableSheet } from "../table/table.ts";
import { winsSheets } from "../table/wins_sheet.ts";

const SCREEN = { width: Infinity, color: false };
const CONDITIONS = {
  timer: "do_bench",
  cache: "cold",
  flush: "zero",
  fill: "normal",
};

/** A row: published where it has a run. */
function row(kernel: string, k: string, fields: Partial<CsvRow>): CsvRow {
  return publishedRow({
    suite: "epilogue-bf16",
    backend: "cuda",
    a_type: "bf16",
    b_type: "bf16",
    c_type: "bf16",
    layout: "nn",
    m: "16",
    n: "16",
    params: "epilogue=relu",
    device: fields.run === undefined ? "NVIDIA H200" : "NVIDIA H100",
    harness: fields.run === undefined ? "0.1.0" : "published",
    ...CONDITIONS,
    kernel,
    k,
    ...fields,
  });
}

const OWN = [
  row("cublas", "8192", { median_us: "12" }),
  row("decompose-k", "8192", { median_us: "8" }),
  row("mine", "8192", { status: "wrong", note: "3 of 256 elements differ" }),
  row("cublas", "16384", { median_us: "16" }),
  row("decompose-k", "16384", { median_us: "16" }),
  row("mine", "16384", { status: "unsupported", note: "" }),
];
const V3 = [
  row("torch.mm+relu", "8192", { median_us: "3", run: "v3" }),
  row("torch.mm+relu", "999", { median_us: "3", run: "v3" }),
];
const V2 = [row("torch.mm+relu", "8192", { mean_us: "4", run: "v2" })];
const baselines = () => ["nobody", "cublas"];

Deno.test("pivots() marks the best, the baseline and other machines' figures", () => {
  const [table, ...rest] = pivots([...OWN, ...V3, ...V2], { baselines });
  assertEquals(rest, []);
  assertEquals(formatText(tableSheet(table!), SCREEN), [
    "epilogue-bf16 on NVIDIA H200",
    "median µs          cublas  decompose-k         mine  torch.mm+relu@v3[1]  torch.mm+relu@v2[2]  fastest vs cublas",
    "16×16×8192         12.00        8.000*        wrong                3.000                4.000              1.50x",
    "16×16×16384        16.00*       16.00   unsupported                                                        1.00x",
    "geomean vs cublas  1.00x        1.22x                              4.00x                3.00x              1.22x",
    "  * fastest at its shape",
    "  [1] another machine's, published: NVIDIA H100, v3 (do_bench cold zero normal)",
    "  [2] another machine's, published: NVIDIA H100, v2 (do_bench cold zero normal, means)",
    "  geomean over fewer than the 2 shapes: torch.mm+relu@v3 (1), torch.mm+relu@v2 (1)",
    "  mine wrong at 16×16×8192: 3 of 256 elements differ",
    "  mine unsupported at 16×16×16384",
  ]);
});

Deno.test("leftOut() has the published rows at other shapes", () => {
  const all = [...OWN, ...V3];
  assertEquals(leftOut(all, pivots(all, { baselines })), [V3[1]]);
});

Deno.test("pivots() makes a table of a suite that is only published, without marks", () => {
  const [table] = pivots(V3, { baselines: () => [] });
  assertEquals(formatMarkdown(tableSheet(table!)), [
    "**epilogue-bf16 on NVIDIA H100**",
    "",
    "| median µs | torch.mm+relu |",
    "| --- | ---: |",
    "| 16×16×999 | 3.000 |",
    "| 16×16×8192 | 3.000 |",
    "",
    "- published: NVIDIA H100, v3 (do_bench cold zero normal)",
  ]);
});

Deno.test("pivots() has shapes by M, N and K as numbers, however rows were appended", () => {
  const sizes = [["64", "16", "8"], ["16", "128", "8"], ["16", "64", "512"]];
  const rows = [...sizes, ["16", "64", "64"]].map(([m, n, k]) =>
    row("cublas", k!, { m: m!, n: n!, median_us: "1" })
  );
  assertEquals(
    pivots(rows, { baselines })[0]!.shapes.map(({ label }) => label),
    ["16×64×64", "16×64×512", "16×128×8", "64×16×8"],
  );
});

Deno.test("pivots() keeps devices apart and names what else differs between shapes", () => {
  const cpu = { device: "CPU", arch: "x86_64", median_us: "1" };
  const tables = pivots([
    ...OWN,
    row("naive", "8192", cpu),
    row("naive", "8192", { ...cpu, params: "epilogue=none" }),
  ], { baselines });
  assertEquals(
    tables.map(({ device, shapes }) => [device, shapes.map((s) => s.label)]),
    [
      ["NVIDIA H200", ["16×16×8192", "16×16×16384"]],
      ["CPU", ["16×16×8192 epilogue=relu", "16×16×8192 epilogue=none"]],
    ],
  );
});

Deno.test("tableSheet() says where rows were measured differently", () => {
  const rows = [...OWN.slice(0, 1), { ...OWN[1]!, flush: "read" }];
  const [table] = pivots(rows, { baselines });
  assertEquals(tableSheet(table!).notes, [
    "not comparable, as measured differently: do_bench cold zero normal; do_bench cold read normal",
  ]);
});

Deno.test("winsSheets() says how many shapes are not counted", () => {
  const [table] = pivots([...OWN, ...V3], { baselines });
  const [sheet] = winsSheets(table!, ["torch.mm+relu@v3"]);
  assertEquals(formatText(sheet!, SCREEN), [
    "epilogue-bf16 on NVIDIA H200: how many times as fast as torch.mm+relu[1]",
    "kernel               wins/ties/losses    min  median    max  geomean",
    "the fastest of ours             0/0/1  0.375   0.375  0.375    0.375",
    "cublas                          0/0/1  0.250   0.250  0.250    0.250",
    "decompose-k                     0/0/1  0.375   0.375  0.375    0.375",
    "  a tie: the same time to the last recorded digit",
    "  the fastest of ours loses most at 16×16×8192 (0.375)",
    "  the fastest of ours: 1 of 2 shapes are not measured for it or torch.mm+relu, and not counted",
    "  cublas: 1 of 2 shapes are not measured for it or torch.mm+relu, and not counted",
    "  decompose-k: 1 of 2 shapes are not measured for it or torch.mm+relu, and not counted",
  ]);
});

Deno.test("winsSheets() names five lost shapes, or all", () => {
  const rows = [1, 2, 3, 4, 5, 6, 7].flatMap((k) => [
    row("cublas", `${k}`, { median_us: "1" }),
    row("mine", `${k}`, { median_us: `${1 + k}` }),
  ]);
  const [table] = pivots(rows, { baselines });
  const [some, all] = [{}, { all: true }].map((options) =>
    winsSheets(table!, ["cublas"], options)[0]!.notes[0]!
  );
  assertEquals(
    some,
    "mine loses most at 16×16×7 (0.125), 16×16×6 (0.143), 16×16×5 (0.167), 16×16×4 (0.200), 16×16×3 (0.250), and at 2 more: --all names them",
  );
  assert(all!.endsWith("16×16×2 (0.333), 16×16×1 (0.500)"), all);
});

Deno.test("winsSheets() marks factors that rest on noisy rows", () => {
  const noisy = row("mine", "8192", { median_us: "8", throttle: "0x20" });
  const [table] = pivots([...OWN.slice(0, 2), noisy], { baselines });
  const [sheet] = winsSheets(table!, ["cublas"]);
  const lines = formatText(sheet!, SCREEN);
  assertEquals(
    lines.filter((line) => line.includes("~")).map((line) => line.trim()),
    [
      "mine                            1/0/0  ~1.500  ~1.500  ~1.500   ~1.500",
      "~ noisy (1 of 3 rows): quartiles over 20 % apart, mean over 1.2 medians, runs over 5 % apart, or clocks lowered; try --runs 5",
    ],
  );
});

Deno.test("formatMarkdown() escapes what would end a cell or be HTML", () => {
  const sheet = { title: "t", head: ["a|b"], body: [[{ text: "c|<d>" }]] };
  assertEquals(
    formatMarkdown({ ...sheet, foot: [], notes: [] }).slice(2),
    ["| a\\|b |", "| --- |", "| c\\|\\<d> |"],
  );
});

Deno.test("pivotsCsv() has a line a row, with what is derived beside it", () => {
  const tables = pivots([...OWN.slice(0, 3), ...V2], { baselines });
  assertEquals(
    pivotsCsv(tables),
    `suite,on,shape,m,n,k,kernel,device,published,status,time_us,statistic,best,baseline,tflops,gbps,sol,speedup,suspect
epilogue-bf16,NVIDIA H200,16×16×8192,16,16,8192,cublas,NVIDIA H200,false,ok,12,median,false,cublas,0.3495253333333333,43.733333333333334,,1,false
epilogue-bf16,NVIDIA H200,16×16×8192,16,16,8192,decompose-k,NVIDIA H200,false,ok,8,median,true,cublas,0.524288,65.6,,1.5,false
epilogue-bf16,NVIDIA H200,16×16×8192,16,16,8192,mine,NVIDIA H200,false,wrong,,,false,cublas,,,,,false
epilogue-bf16,NVIDIA H200,16×16×8192,16,16,8192,torch.mm+relu,NVIDIA H100,true,ok,4,mean,false,cublas,1.048576,131.2,,3,false
`,
  );
});

Deno.test("winsCsv() and pivotsJson() have the wins against each that was named", () => {
  const tables = pivots(OWN, { baselines });
  const against = () => ["cublas", "decompose-k"];
  assertEquals(
    winsCsv(tables, against),
    `suite,on,kernel,against,wins,ties,losses,missing,min,median,max,geomean,suspect,noisy
epilogue-bf16,NVIDIA H200,decompose-k,cublas,1,1,0,0,1,1.25,1.5,1.224744871391589,0,0
epilogue-bf16,NVIDIA H200,cublas,decompose-k,0,1,1,0,0.6666666666666666,0.8333333333333333,1,0.816496580927726,0,0
`,
  );
  const [table] = JSON.parse(pivotsJson(tables, against));
  assertEquals(
    [table.baseline, table.cells.length, table.wins.length],
    ["cublas", 6, 2],
  );
});
