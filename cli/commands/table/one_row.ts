/**
 * Shows the row that `table --row` names.
 *
 * @module
 */

import { join } from "node:path";
import { needsOf } from "../../../backends/cuda/cubin.ts";
import { unlessMissing } from "../../../bench/files/disk.ts";
import { hashOf } from "../../../bench/files/hash.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { isPythonLibrary } from "../../../bench/model/peer.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import type { Pivot } from "../../../report/model/pivot.ts";
import {
  findRows,
  formatRow,
  titleOfRow,
} from "../../../report/table/row_sheet.ts";
import { pointOf } from "../../../session/cases.ts";
import { kernelCacheOf, typed } from "../../../session/home.ts";
import { builtInSuites } from "../../../suites/mod.ts";
import { pointArgs } from "../../terminal/next_command.ts";

const builtIn = await builtInSuites();
/** Rows that an error lists. */
const MOST = 5;

/**
 * Returns all that is known of the one row of `tables` that `text` names.
 *
 * @throws {UserError} For words that name no row or several.
 */
export function rowLines(tables: readonly Pivot[], text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const found = findRows(tables, words);
  const [one, ...others] = found;
  if (one === undefined) {
    throw new UserError(
      `No row is named by ${
        text || "nothing"
      }: give a kernel, a shape and a timer, as in --row "cluster-k 16x16x8192 graph"`,
      EXIT.nothing,
    );
  }
  if (others.length > 0) {
    const names = found.slice(0, MOST).map(titleOfRow);
    const more = found.length > MOST ? "; ..." : "";
    throw new UserError(
      `${found.length} rows are named by ${text}: add words of one of ${
        names.join("; ")
      }${more}`,
    );
  }
  const { row } = one;
  return formatRow(one, {
    needs: needsIn(kernelCacheOf(undefined), row),
    profile: profileOf(row),
  });
}

/** Returns the registers and the local memory of a row's kernels, if the kernel cache has them. */
export function needsIn(
  cache: string,
  row: Pick<CsvRow, "source_hash" | "binary_hash">,
): string | undefined {
  const entry = row.source_hash === ""
    ? undefined
    : unlessMissing(() =>
      [...Deno.readDirSync(cache)].find(({ name }) =>
        name.endsWith(`.${row.source_hash}`)
      )
    );
  const bytes = entry &&
    unlessMissing(() =>
      Deno.readFileSync(join(cache, entry.name, "binary.cubin"))
    );
  if (bytes === undefined || hashOf(bytes) !== row.binary_hash) {
    return undefined;
  }
  return needsOf(bytes).map(({ name, registers, stackBytes }) =>
    `${name}: ${registers} registers, ${stackBytes} B of local memory a thread`
  ).join("; ") || undefined;
}

/** Returns the command that profiles a CUDA kernel of a built-in suite. */
function profileOf(row: CsvRow): string | undefined {
  const suite = builtIn.find(({ name }) => name === row.suite);
  const isOwn = row.backend === "cuda" && !isPythonLibrary(row.library);
  if (suite === undefined || !isOwn || row.status !== "ok") return undefined;
  const bench = [
    ...["bench", "--suite", row.suite, "--kernel", row.kernel],
    ...["--backend", row.backend],
    ...pointArgs(pointOf(suite, row)),
    "--once",
  ];
  return `ncu --set full --target-processes all ${typed(bench.join(" "))}`;
}
