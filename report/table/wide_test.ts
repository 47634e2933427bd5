import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { readCsv } from "../../bench/row/read_csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { importCsv } from "../import/mod.ts";
import { publishedRow } from "../import/foreign.ts";
import { formatWide } from "./wide.ts";

const RUNS = ["decompose-k-v1", "decompose-k-v2", "decompose-k-v3"];
const SUITES = ["epilogue-bf16", "matmul-bf16", "matmul-fp16", "matmul-fp32"];

function recorded(run: string, suite: string): CsvRow[] {
  const path = `../../results/published/${run}.csv`;
  return readCsv(Deno.readTextFileSync(new URL(path, import.meta.url)), path)
    .filter((row) => row.suite === suite);
}

for (const run of RUNS) {
  Deno.test(`formatWide() of ${run}, imported again, is the same rows`, () => {
    for (const suite of SUITES) {
      const rows = recorded(run, suite);
      const { csv, left } = formatWide(rows);
      assertEquals(left, []);
      const file = `${suite}.csv`;
      // Of the first version the choices of the autotuner are not recorded.
      const known = ({ config, config_by, ...row }: CsvRow) =>
        run === "decompose-k-v1" ? row : { config, config_by, ...row };
      assertEquals(
        importCsv(csv, { file, run }).map(known),
        rows.map(known),
      );
    }
  });
}

const OWN = {
  suite: "epilogue-bf16",
  backend: "cuda",
  a_type: "bf16",
  b_type: "bf16",
  c_type: "bf16",
  layout: "nn",
  m: "16",
  n: "16",
  k: "8192",
  params: "epilogue=relu",
  device: "NVIDIA H200",
  harness: "0.1.0",
};
const own = (kernel: string, median_us: string, config = "") =>
  publishedRow({ ...OWN, kernel, median_us, config });

Deno.test("formatWide() puts our kernels into the measurements' columns", () => {
  const { csv, left } = formatWide([
    own("cublas", "11.456"),
    own("cublaslt", "9.6"),
    own("decompose-k-unfused", "10.080000000000002"),
    own(
      "decompose-k",
      "8",
      "BM=16 BN=32 BK=128 GROUP_M=8 WARPS=4 STAGES=4 SPLIT=64",
    ),
  ]);
  const [head, line, ...rest] = csv.split("\r\n").map((l) => l.split(","));
  assertEquals(
    Object.fromEntries(head!.map((name, i) => [name, line![i]])),
    {
      suite: "epilogue-bf16",
      m: "16",
      n: "16",
      k: "8192",
      dtype: "bfloat16",
      eager_ms: "0.011456",
      compiled_ms: "",
      custom_op_mm_relu_ms: "",
      decompose_k_unfused_ms: "0.010080000000000002",
      decompose_k_fused_ms: "0.008",
      custom_op_speedup_vs_eager: "",
      custom_op_speedup_vs_compiled: "",
      decompose_k_fused_speedup_vs_eager: "1.432",
      decompose_k_fused_speedup_vs_compiled: "",
      decompose_k_fused_vs_unfused_speedup: "1.2600000000000002",
      custom_op_autotune_name: "",
      custom_op_best_impl: "",
      custom_op_k_splits: "",
      custom_op_choice_name: "",
      standalone_split_k: "64",
      standalone_block_m: "16",
      standalone_block_n: "32",
      standalone_block_k: "128",
    },
  );
  assertEquals(rest, [[""]]);
  assertEquals(left.map(({ kernel }) => kernel), ["cublaslt"]);
  // The same medians come back.
  assertEquals(
    importCsv(csv, { file: "w.csv", run: "r" })
      .map(({ kernel, median_us }) => [kernel, median_us]),
    [
      ["torch.mm+relu", "11.456"],
      ["decomposeK+relu", "10.080000000000002"],
      ["decomposeK-fused-relu", "8"],
    ],
  );
});

Deno.test("formatWide() leaves a failed kernel's field empty and says so", () => {
  const failed = { ...own("cublas", ""), status: "wrong" };
  const { csv, left } = formatWide([failed, own("decompose-k", "8")]);
  assertEquals(csv.split("\r\n")[1]!.split(",")[5], "");
  assertEquals(left, [failed]);
});

Deno.test("formatWide() refuses what has no such file", () => {
  const row = own("cublas", "1");
  assertThrows(
    () => formatWide([row, { ...row, suite: "b" }]),
    UserError,
    "suite is epilogue-bf16 and b",
  );
  assertThrows(
    () => formatWide([row, { ...row, device: "b" }]),
    UserError,
    "device is NVIDIA H200 and b",
  );
  assertThrows(
    () => formatWide([{ ...row, params: "epilogue=bias" }]),
    UserError,
    "params is epilogue=bias",
  );
  assertThrows(
    () => formatWide([{ ...row, params: "epilogue=none lda=64" }]),
    UserError,
    "lda=64",
  );
  assertThrows(
    () => formatWide([{ ...row, a_type: "e4m3" }]),
    UserError,
    "a_type is e4m3",
  );
  assertThrows(
    () => formatWide([row, { ...row, run: "b" }]),
    UserError,
    "2 rows are cublas at 16×16×8192",
  );
});
