/**
 * Finds recorded rows whose kernels have changed since they were measured.
 *
 * @module
 */

import { backends } from "../../backends/mod.ts";
import { BinaryCache } from "../../bench/device/binary_cache.ts";
import type { Backend, Build } from "../../bench/device/device.ts";
import { joinHashes } from "../../bench/measure/case_run.ts";
import { blame, CaseError, UserError } from "../../bench/model/errors.ts";
import { parseValues } from "../../bench/model/grid.ts";
import type { Case, Suite } from "../../bench/model/suite.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import { caseText, isPublished, keyOf } from "../../bench/row/row.ts";
import { casesWithin, pointOf } from "../cases.ts";
import { callEach, callSuite } from "../suite_calls.ts";
import { readSameCode, SameCode } from "./same_code.ts";

/**
 * States of a recorded row, compared with the present sources of its kernel:
 * - `current`: the row is of the same code, constants, flags and architecture, or of code that
 *   compiles to the same machine code (`results/same_code.json`);
 * - `changed`: it is not;
 * - `changed-text`: the row is of before `code_hash`, and its sources or their comments changed;
 * - `gone`: there is no such suite, kernel, point or source any more;
 * - `unknown`: the row has no sources, as those of libraries and of functions on the host.
 */
export type Staleness =
  | "current"
  | "changed"
  | "changed-text"
  | "gone"
  | "unknown";

/** A recorded row and its standing. */
export interface RowState extends SourcedRow {
  readonly standing: Staleness;
  /** The hash of the present code, and what it is of; of rows that have `code_hash`. */
  readonly present?: {
    readonly codeHash: string;
    readonly builds: readonly Build[];
  };
}

/**
 * Compares each of `rows` with the kernels of `suites`. Published rows are left out.
 *
 * @param suites With their peers, whose rows are looked at too.
 * @param same Versions of code with the same machine code.
 */
export async function stalenessOf(
  rows: readonly SourcedRow[],
  suites: readonly Suite[],
  same: SameCode = new SameCode(readSameCode()),
): Promise<readonly RowState[]> {
  const known = new KnownCases(suites);
  // Only sources are hashed: nothing is kept in its folder.
  const cache = new BinaryCache("");
  const own = rows.filter(({ row }) => !isPublished(row));
  const names = new Set(own.map(({ row }) => row.backend));
  const loaded = new Map<string, Backend>();
  for (const name of names) {
    const backend = await backends[name]?.();
    if (backend) loaded.set(name, backend);
  }
  return own.map((one) => {
    const backend = loaded.get(one.row.backend);
    return { ...one, ...standingOf(one.row, { known, cache, backend, same }) };
  });
}

function standingOf(
  row: CsvRow,
  { known, cache, backend, same }: {
    readonly known: KnownCases;
    readonly cache: BinaryCache;
    readonly backend: Backend | undefined;
    readonly same: SameCode;
  },
): Pick<RowState, "standing" | "present"> {
  const { code_hash, source_hash, config, arch } = row;
  if (source_hash === "") return { standing: "unknown" };
  const found = known.find(row);
  if (found === undefined || backend === undefined) return { standing: "gone" };
  try {
    const values = parseValues(config);
    const builds = blame(
      "name its sources",
      () => callSuite(() => [...found.builds(values)]),
    );
    if (code_hash === "") {
      const text = joinHashes(
        builds.map((build) => cache.sourceHash(build, backend, arch)),
      );
      return { standing: text === source_hash ? "current" : "changed-text" };
    }
    const codeHash = joinHashes(
      builds.map((build) => cache.codeHash(build, backend, arch)),
    );
    const isSame = codeHash === code_hash || same.has(code_hash, codeHash);
    return {
      standing: isSame ? "current" : "changed",
      present: { codeHash, builds },
    };
  } catch (error) {
    // A source that is not there, or a config that its kernel no longer takes.
    if (error instanceof CaseError || error instanceof UserError) {
      return { standing: "gone" };
    }
    throw error;
  }
}

/** The cases of suites by the keys of their rows. */
class KnownCases {
  readonly #suites: ReadonlyMap<string, Suite>;
  readonly #cases = new Map<string, ReadonlyMap<string, Case>>();

  constructor(suites: readonly Suite[]) {
    this.#suites = new Map(suites.map((suite) => [suite.name, suite]));
  }

  /** Returns the case of a row; nothing where the suite has none. */
  find(row: CsvRow): Case | undefined {
    const suite = this.#suites.get(row.suite);
    if (suite === undefined) return undefined;
    const text = caseText(row);
    const { overrides, where } = pointOf(suite, row);
    return this.#all(suite).get(text) ??
      casesAt(row, suite, { overrides, where }).get(text) ??
      // As `--axis` does: the suite may sweep other values.
      casesAt(row, suite, {
        overrides: { ...overrides, ...where },
        where: {},
      }).get(text);
  }

  /** The cases at the suite's own points. */
  #all(suite: Suite): ReadonlyMap<string, Case> {
    const known = this.#cases.get(suite.name) ??
      byText(callEach(suite.cases("all")));
    this.#cases.set(suite.name, known);
    return known;
  }
}

/** The cases of a row's kernel at a point that was measured with other values of axes. */
function casesAt(
  row: CsvRow,
  suite: Suite,
  point: ReturnType<typeof pointOf>,
): ReadonlyMap<string, Case> {
  try {
    const filter = { kernels: [row.kernel], points: "all" } as const;
    return byText(casesWithin([suite], { ...filter, ...point }));
  } catch (error) {
    if (error instanceof UserError) return new Map();
    throw error;
  }
}

function byText(cases: Iterable<Case>): ReadonlyMap<string, Case> {
  return new Map(Array.from(cases, (c) => [caseText(keyOf(c)), c]));
}
