/**
 * Makes the jobs that measure recorded rows again, each side with its own binaries.
 *
 * @module
 */

import { BinaryCache } from "../../bench/device/binary_cache.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { parseValues } from "../../bench/model/grid.ts";
import { FILLS } from "../../bench/model/inputs.ts";
import {
  DEFAULTS,
  isTimer,
  type Settings,
} from "../../bench/model/settings.ts";
import type { Case, Suite } from "../../bench/model/suite.ts";
import { numberOf } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { caseText, keyOf } from "../../bench/row/row.ts";
import type { Job } from "../../bench/worker/protocol.ts";
import { titleOf } from "../../report/diff/diff.ts";
import { OldBinaries } from "./old_binaries.ts";
import { takeDevice, type TakenDevice } from "../take_device.ts";
import { kernelCacheOf } from "../home.ts";
import { jobOf } from "../run_job.ts";
import type { ComparedRuns } from "../options.ts";
import type { SourcedRow } from "../read_rows.ts";
import { callSuite } from "../suite_calls.ts";
import { casesOf, type Filter, loadSuites, pointOf } from "../cases.ts";

/** Pairs that can be measured by the same two jobs. */
export interface JobPair {
  readonly base: Job;
  readonly next: Job;
  readonly cases: number;
}

/**
 * The jobs that measure `doubts` again: two for each backend and way of timing.
 *
 * @throws {UserError} Where this machine, these sources or the kernel cache cannot give
 * what the rows were made with; nothing is measured then.
 */
export async function pairsOf(
  doubts: readonly Doubt[],
  options: ComparedRuns,
): Promise<readonly JobPair[]> {
  const names = [...new Set(doubts.map(({ next }) => next.row.suite))];
  const suites = await loadSuites(
    options.suites.length > 0 ? options.suites : names,
  );
  const cacheDir = kernelCacheOf(options.kernelCache);
  const old = new OldBinaries(new BinaryCache(cacheDir));
  for (const doubt of doubts) refuseElsewhere(doubt);
  const groups = Map.groupBy(
    doubts,
    ({ next: { row } }) => JSON.stringify([row.backend, rowSettings(row)]),
  );
  return await Promise.all([...groups.values()].map(async (own) => {
    const { row } = own[0]!.next;
    const taken = await deviceOf(row, options);
    const { name: backend } = taken.backend;
    const cases = casesOfRows(own, { suites, backend });
    const selection = {
      suites: options.suites.length > 0 ? options.suites : names,
      backend,
      device: taken.info.index,
    };
    const settings = {
      ...DEFAULTS,
      ...rowSettings(row),
      prebuilt: options.prebuilt,
      cacheDir,
    };
    const side = (rows: readonly CsvRow[]): Job =>
      jobOf({
        selection,
        cases: [...cases.values()],
        run: "confirm",
        ...made(rows, { cases, taken, old, settings }),
      });
    return {
      base: side(own.map(({ base }) => base.row)),
      next: side(own.map(({ next }) => next.row)),
      cases: own.length,
    };
  }));
}

/** @throws {UserError} Where something but the build differs, which cannot be put back. */
function refuseElsewhere({ base, next }: Doubt): void {
  const columns = base.row.binary_hash === "" || next.row.binary_hash === ""
    ? ["driver", "library"] as const
    : ["driver"] as const;
  const other = columns.find((column) => base.row[column] !== next.row[column]);
  if (other === undefined) return;
  throw cannot(
    `${titleOf(next.row)} was measured with ${other} ${
      base.row[other] || "none"
    } before and ${
      next.row[other] || "none"
    } after, and one machine has one; measure the base again with \`bench\``,
  );
}

async function deviceOf(
  row: CsvRow,
  { device }: ComparedRuns,
): Promise<TakenDevice> {
  const useful = new Set([row.backend]);
  const taken = await takeDevice({ backend: row.backend, device, useful });
  const { name, arch } = taken.info;
  if (name === row.device && arch === row.arch) return taken;
  throw cannot(
    `the rows are of ${row.device} (${row.arch}), and device ${device} here is ${name} (${arch}); choose it with --device, or confirm there`,
  );
}

/** The settings and winners with which the cases are what `rows` were. */
function made(
  rows: readonly CsvRow[],
  { cases, taken, old, settings }: {
    readonly cases: ReadonlyMap<string, Case>;
    readonly taken: TakenDevice;
    readonly old: OldBinaries;
    readonly settings: Settings;
  },
): Pick<Job, "settings" | "configs"> {
  const binaries: Record<string, string> = {};
  const winners: Record<string, string> = {};
  const agree = (
    known: Record<string, string>,
    [name, value]: readonly [string, string],
    what: string,
  ) => {
    if ((known[name] ??= value) !== value) {
      throw cannot(`its rows were made with two ${what}; confirm them apart`);
    }
  };
  const { backend, info } = taken;
  for (const row of rows) {
    const one = cases.get(caseText(row))!;
    const leader = one.follows ?? one;
    agree(
      winners,
      [caseText(keyOf(leader)), row.config],
      "configs of a kernel",
    );
    const builds = callSuite(() => one.builds(parseValues(row.config)));
    if (builds.length === 0 && row.binary_hash === "") continue;
    const hash = row.binary_hash;
    const found = old.find(builds, { hash, backend, arch: info.arch });
    if (found === undefined) {
      throw cannot(
        `no kernel in ${settings.cacheDir} has the binary ${hash} of ${
          titleOf(row)
        }; give the cache that it was measured with by --kernel-cache, or build that version again`,
      );
    }
    for (const entry of Object.entries(found)) {
      agree(binaries, entry, "builds of a source");
    }
  }
  return {
    configs: { chosen: winners },
    settings: { ...settings, binaries },
  };
}

/** A pair that is measured again. */
export interface Doubt {
  readonly base: SourcedRow;
  readonly next: SourcedRow;
}

/** Makes the error for rows that cannot be measured again. */
export function cannot(why: string): UserError {
  return new UserError(`Cannot confirm: ${why}`, EXIT.nothing);
}

/** The case of each row of `doubts`, by key text. @throws {UserError} Where one has none. */
function casesOfRows(
  doubts: readonly Doubt[],
  { suites, backend }: {
    readonly suites: readonly Suite[];
    readonly backend: string;
  },
): ReadonlyMap<string, Case> {
  const rows = new Map(
    doubts.map(({ next }) => [caseText(next.row), next.row]),
  );
  const found = new Map<string, Case>();
  const take = (suite: Suite, filter: Partial<Filter> = {}) => {
    const usual = {
      kernels: [],
      overrides: {},
      points: "all",
      backend,
    } as const;
    for (const one of casesOf([suite], { ...usual, ...filter })) {
      const key = caseText(keyOf(one));
      if (rows.has(key)) found.set(key, one);
    }
  };
  for (const suite of suites) {
    take(suite);
    for (const [key, row] of rows) {
      if (found.has(key) || row.suite !== suite.name) continue;
      take(suite, { kernels: [row.kernel], ...pointOf(suite, row) });
    }
    if (found.size < rows.size) take(suite, { points: "quick" });
  }
  for (const [key, row] of rows) {
    if (found.has(key)) continue;
    throw cannot(
      `these sources no longer have the case ${
        titleOf(row)
      }; name a suite of your own with --suite`,
    );
  }
  return found;
}

/** The settings that a row tells. */
type RowSettings = Pick<
  Settings,
  "seed" | "fill" | "warmup" | "rep" | "timer" | "cache" | "flush"
>;

/** Rotating operands need no flush; their rows do not name its kind. */
const FLUSHES = {
  zero: "zero",
  read: "read",
  rotate: DEFAULTS.flush,
  "": DEFAULTS.flush,
} as const;

/**
 * The settings behind `row`.
 *
 * @throws {UserError} Where it was timed as this program times nothing, as published rows
 * may be.
 */
export function rowSettings(row: CsvRow): RowSettings {
  const refuse = (column: "timer" | "cache" | "flush" | "fill") =>
    cannot(
      `${titleOf(row)} was measured with ${column} ${
        row[column] || "none"
      }, which \`bench\` does not offer; leave its rows out of both sides`,
    );
  const { timer, cache, flush } = row;
  const fill = FILLS.find((name) => name === (row.fill || DEFAULTS.fill));
  if (!isTimer(timer)) throw refuse("timer");
  if (cache !== "cold" && cache !== "warm") throw refuse("cache");
  if (!isFlush(flush)) throw refuse("flush");
  if (fill === undefined) throw refuse("fill");
  return {
    seed: numberOf(row, "seed") ?? DEFAULTS.seed,
    fill,
    warmup: numberOf(row, "warmup_ms") ?? DEFAULTS.warmup,
    rep: numberOf(row, "rep_ms") ?? DEFAULTS.rep,
    timer,
    cache,
    flush: FLUSHES[flush],
  };
}

function isFlush(text: string): text is keyof typeof FLUSHES {
  return Object.hasOwn(FLUSHES, text);
}
