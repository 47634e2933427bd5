import { assertEquals } from "@std/assert";
import { csvRow } from "../testdata/csv_rows.ts";
import { pivots } from "../model/pivot.ts";
import { formatText } from "./sheet.ts";
import { tuningSheets } from "./tuning_sheet.ts";

/** The rows of one shape: the heuristic, the search, a peer and ours, each with its time. */
function rowsAt(size: string, times: readonly number[], params = "scale=row") {
  const [m, n, k] = size.split("x") as [string, string, string];
  const kernels = ["cublaslt", "cublaslt-tuned", "torch-eager", "slow", "fast"];
  const libraries = ["cublas 13.1.0", "cublas 13.1.0", "torch 2.9", "", ""];
  return times.map((us, i) => {
    const median_us = us > 0 ? `${us}` : "";
    return csvRow({
      m,
      n,
      k,
      params,
      kernel: kernels[i]!,
      library: libraries[i]!,
      median_us,
      q1_us: median_us,
      q3_us: median_us,
      mean_us: median_us,
      sol_us: "1",
      status: us > 0 ? "ok" : "unsupported",
    });
  });
}

/** The lines of the tables of `rows`, without their titles. */
function linesOf(rows: ReturnType<typeof rowsAt>): string[] {
  const tables = pivots(rows, { baselines: () => ["cublaslt"] });
  return tables.flatMap(tuningSheets).flatMap((sheet) =>
    formatText(sheet, { width: 200, color: false }).slice(1)
  );
}

Deno.test("tuningSheets() gives the study's shapes a class each, by axis", () => {
  const lines = linesOf([
    ...rowsAt("17x11008x4096", [30, 24, 1, 25, 20]),
    ...rowsAt("1x1024x8192", [12, 9, 1, 6, 7]),
    ...rowsAt("1x11008x4096", [24, 19, 1, 20]),
    ...rowsAt("512x11008x4096", [8.6, 8.2, 1, 9]),
    ...rowsAt("1x4096x4096", [15, 14, 1, 10]),
    ...rowsAt("4x4096x4096", [15, 15, 1, 10]),
    ...rowsAt("512x4096x4096", [8.7, 8.5, 1, 10]),
    ...rowsAt("1x1024x8192", [12, 10, 1, 5], "scale=tensor"),
  ]);
  assertEquals(lines.slice(0, 9), [
    "class                      shapes  heuristic us  tuned us    gain    most  ours us  tuned / ours",
    "row N power of 2, large M       1         8.700     8.500   2.4 %   2.4 %    10.00         0.850",
    "row N power of 2, small M       2         15.00     14.49   3.5 %   7.1 %    10.00         1.449",
    "row other N, large M            1         8.600     8.200   4.9 %   4.9 %    9.000         0.911",
    "row other N, small M            1         24.00     19.00  26.3 %  26.3 %    20.00         0.950",
    "row K >= 4 N (GQA)              1         12.00     9.000  33.3 %  33.3 %    6.000         1.500",
    "row M no power of 2 (MoE)       1         30.00     24.00  25.0 %  25.0 %    20.00         1.200",
    "tensor K >= 4 N (GQA)           1         12.00     10.00  20.0 %  20.0 %    5.000         2.000",
    "all                             8         14.30     12.51  14.3 %  33.3 %    10.10         1.239",
  ]);
});

Deno.test("tuningSheets() counts what lacks a time, and needs both ways of a library", () => {
  const lines = linesOf([
    ...rowsAt("1x64x512", [12, 10]),
    ...rowsAt("2x64x512", [12, 0, 1, 5]),
    ...rowsAt("4x64x512", [12, 8, 1, 5]),
  ]);
  assertEquals(lines.slice(1, 2), [
    "K >= 4 N (GQA)       2         12.00     8.944  34.2 %  50.0 %    5.000         1.600",
  ]);
  assertEquals(lines.slice(4), [
    "  1 of 3 shapes are not measured both ways, and not counted",
    "  ours: 1 of 3 shapes are not measured, and not counted",
  ]);
  assertEquals(linesOf(rowsAt("1x64x512", [12])), []);
});
