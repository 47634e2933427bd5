/**
 * Writes rows in the format of the decompose-k measurements: their columns, order and digits.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { UserError } from "../../bench/model/errors.ts";
import { parseValues, type Values } from "../../bench/model/grid.ts";
import { writeTable } from "../../bench/row/csv.ts";
import { pythonFloat, shiftDecimal } from "../import/foreign.ts";
import {
  CUSTOM_COLUMNS,
  CUSTOM_TUNABLES,
  EPILOGUE_FORM,
  PLAIN_FORM,
  type Role,
  type SeedForm,
  type SeedKernel,
  TILE_COLUMNS,
  TILE_TUNABLES,
  TLX_TILE_COLUMNS,
  TORCH_TYPES,
} from "../import/decompose_k_columns.ts";

/** A file, and the rows that it has no column for. */
export interface Wide {
  readonly csv: string;
  /** The rows that are not in it. */
  readonly left: readonly CsvRow[];
}

/**
 * Returns `rows` as one file with a line for each shape.
 *
 * Times are the medians in milliseconds, digit for digit; ratios are computed from them. A
 * file of the measurements that was imported comes out byte for byte.
 * A column with several rows at a shape shows the preferred kernel's.
 *
 * @throws {UserError} For rows of several suites, devices or runs, of an operation that has
 * no such file, or of a type that has no name there.
 */
export function formatWide(rows: readonly CsvRow[]): Wide {
  const one = (column: "suite" | "device" | "params" | "layout") => {
    const values = [...new Set(rows.map((row) => row[column]))];
    if (values.length === 1) return values[0]!;
    throw new UserError(
      `Cannot make one wide table: ${column} is ${
        values.join(" and ")
      }; choose one with --suite or by naming its file`,
    );
  };
  one("suite");
  one("device");
  one("layout");
  const form = formOf(one("params"));
  const used = new Set<CsvRow>();
  const shapes = Map.groupBy(
    rows,
    ({ m, n, k, a_type }) => [m, n, k, a_type].join("\0"),
  );
  const found = [...shapes.values()].map((at) => {
    const pairs = form.kernels.flatMap((kernel) => {
      const row = rowFor(kernel, at);
      if (row) used.add(row);
      return row ? [[kernel.role, row] as const] : [];
    });
    return { first: at[0]!, byRole: new Map(pairs) };
  });
  const tlx = found.some(({ byRole }) =>
    byRole.has("tlx") || byRole.has("tlxUnfused")
  );
  const columns = [...form.columns, ...(tlx ? form.tlxColumns : [])];
  const records = found.map(({ first, byRole }) => {
    const fields = fieldsOf(form, { first, byRole });
    return columns.map((column) => fields.get(column) ?? "");
  });
  return {
    // Python's writer ends lines with CRLF. No field has a line end.
    csv: writeTable([columns, ...records]).replaceAll("\n", "\r\n"),
    left: rows.filter((row) => !used.has(row)),
  };
}

function formOf(params: string): SeedForm {
  const { epilogue, ...rest } = parseValues(params);
  const form = [EPILOGUE_FORM, PLAIN_FORM].find((f) => f.epilogue === epilogue);
  if (form && Object.keys(rest).length === 0) return form;
  throw new UserError(
    `Cannot make a wide table: params is ${
      params || "empty"
    }, and such files have epilogue=relu or epilogue=none; choose a suite with --suite`,
  );
}

function rowFor(
  { published, ours }: SeedKernel,
  rows: readonly CsvRow[],
): CsvRow | undefined {
  for (const name of [published, ...ours]) {
    const timed = rows.filter((row) =>
      row.kernel === name && row.status === "ok" && row.median_us !== ""
    );
    if (timed.length > 1) {
      const { m, n, k } = timed[0]!;
      throw new UserError(
        `Cannot make one wide table: ${timed.length} rows are ${name} at ${m}×${n}×${k}; name the file of one run`,
      );
    }
    if (timed.length === 1) return timed[0];
  }
  return undefined;
}

function fieldsOf(
  form: SeedForm,
  { first, byRole }: {
    first: CsvRow;
    byRole: ReadonlyMap<Role, CsvRow>;
  },
): Map<string, string> {
  const type = Object.entries(TORCH_TYPES).find(([, t]) => t === first.a_type);
  if (!type) {
    throw new UserError(
      `Cannot make a wide table: a_type is ${first.a_type}, and such files have ${
        Object.values(TORCH_TYPES).join(", ")
      }; choose a suite with --suite`,
    );
  }
  const milliseconds = (role: Role) => {
    const row = byRole.get(role);
    return row && pythonFloat(shiftDecimal(row.median_us, -3)!);
  };
  const config = (role: Role): Values =>
    parseValues(byRole.get(role)?.config ?? "");
  const tunables = (
    columns: readonly string[],
    names: readonly string[],
    values: Values,
  ) => columns.map((c, i) => [c, `${values[names[i]!] ?? ""}`] as const);
  const { suite, m, n, k } = first;
  return new Map([
    ...Object.entries({ suite, m, n, k, dtype: type[0] }),
    ...form.kernels.map(({ role, column }) =>
      [column, milliseconds(role) ?? ""] as const
    ),
    ...form.ratios.map(([column, over, under]) => {
      const ratio = Number(milliseconds(over)) / Number(milliseconds(under));
      return [column, isNaN(ratio) ? "" : pythonFloat(`${ratio}`)] as const;
    }),
    ...tunables(CUSTOM_COLUMNS, CUSTOM_TUNABLES, config("custom")),
    ...tunables(TILE_COLUMNS, TILE_TUNABLES, config("standalone")),
    ...tunables(TLX_TILE_COLUMNS, TILE_TUNABLES, config("tlx")),
  ]);
}
