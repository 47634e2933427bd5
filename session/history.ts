/**
 * Keeps rows of many runs in one SQLite file, by case and run.
 *
 * @module
 */

import { isNativeError } from "node:util/types";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  readable,
  removeIfThere,
  saidBy,
  unlessMissing,
} from "../bench/files/disk.ts";
import { EXIT, UserError } from "../bench/model/errors.ts";
import type { Column, CsvRow } from "../bench/row/csv_row.ts";
import {
  ACCURACY_COLUMNS,
  COLUMNS,
  FIGURE_COLUMNS,
} from "../bench/row/columns.ts";
import { IDENTITY_COLUMNS, isPublished } from "../bench/row/row.ts";
import type {
  HistoryRun,
  HistorySeries,
} from "../report/history/case_history.ts";

/** The file where none is named, in the folder where the program was started. */
export const HISTORY = "history.sqlite";

/** `mnkb`, in the header of the file. */
const APPLICATION = 0x6d6e6b62;
const VERSION = 1;
/** Milliseconds to wait for another program that writes. */
const PATIENCE_MS = 10_000;

/** Columns of a run, the same in all its rows on a device. */
const RUN_COLUMNS = ["commit", "dirty", "harness", "driver"] as const;
/** Columns whose values differ from run to run. New ones come last: rows from before lack them. */
const FIGURES: readonly Column[] = [
  ...FIGURE_COLUMNS.filter((column) => column !== "median_us"),
  ...ACCURACY_COLUMNS,
  ...["sm_mhz", "mem_mhz", "power_w", "temp_c", "note", "time"] as const,
  ...["search_configs", "search_ms"] as const,
  "source_commit",
];
const SOURCE = FIGURES.indexOf("source_commit");
const OWN: readonly Column[] = [
  ...IDENTITY_COLUMNS,
  ...RUN_COLUMNS,
  ...FIGURES,
  ...["status", "median_us", "run"] as const,
];
/** Columns whose values many rows share. */
const SHARED = COLUMNS.filter((column) => !OWN.includes(column));

const TABLES = `
create table runs (
  id integer primary key, name text not null, device text not null, time text not null,
  "commit" text not null, dirty text not null, harness text not null, driver text not null,
  unique (name, device)
);
create table cases (
  id integer primary key, key text not null unique, suite text not null
);
create index suites on cases (suite);
create table shared (id integer primary key, cells text not null unique);
create table rows (
  id integer primary key, shared_id integer not null references shared, figures text not null
);
create table points (
  case_id integer not null references cases, run_id integer not null references runs,
  status text not null, median_us real, row_id integer not null references rows,
  primary key (case_id, run_id)
) without rowid;
pragma application_id = ${APPLICATION};
pragma user_version = ${VERSION};
`;

/** The rows that were added to a history. */
export interface Added {
  readonly fresh: number;
  /** Of a case and run that were there. */
  readonly replaced: number;
}

/** An open file of runs. */
export class History implements Disposable {
  readonly #db: DatabaseSync;
  readonly #close: Disposable;

  private constructor(
    readonly path: string,
    { db, close }: { db: DatabaseSync; close: Disposable },
  ) {
    this.#db = db;
    this.#close = close;
  }

  /**
   * Opens the file at `path`.
   *
   * @param make Whether to make it where it is missing; it goes again where nothing is added.
   * @param patienceMs Milliseconds to wait for another program that writes. @default {10000}
   * @throws {UserError} Where it is missing, damaged, locked, or of something else.
   */
  static open(
    path: string,
    { make = false, patienceMs = PATIENCE_MS } = {},
  ): History {
    const refuse = (why: string, wayOut = OTHER, code?: 3) =>
      new UserError(`Cannot open ${path}: ${why}; ${wayOut}`, code);
    // SQLite takes it for a database that ends with the program.
    if (path === ":memory:") throw refuse("it is no file");
    const info = readable(path, () => unlessMissing(() => Deno.statSync(path)));
    // Opening a pipe would never end.
    if (info && !info.isFile) throw refuse("it is not a regular file");
    const isThere = info !== undefined && info.size > 0;
    if (!isThere && !make) {
      throw refuse(
        info ? "it is empty" : "there is no such file",
        "add runs with `history add`, or name it with --history",
        EXIT.nothing,
      );
    }
    using undo = new DisposableStack();
    let db: DatabaseSync;
    try {
      db = new DatabaseSync(path, { readOnly: !make, timeout: patienceMs });
      undo.defer(() => db.close());
      if (info === undefined) undo.defer(() => removeEmpty(path, db));
      const found = (name: string) =>
        db.prepare(`pragma ${name}`).get()?.[name];
      if (!isThere) makeTables(db);
      const [kind, version] = [found("application_id"), found("user_version")];
      if (kind !== APPLICATION || version !== VERSION) {
        throw refuse(
          kind === APPLICATION
            ? `it is of version ${version}, and this program reads ${VERSION}`
            : "it is an SQLite file of something else",
        );
      }
    } catch (cause) {
      if (!isOfSqlite(cause)) throw cause;
      throw isLocked(cause)
        ? refuse(LOCKED, `wait for that, or ${OTHER}`)
        : refuse(
          saidBy(cause),
          isThere
            ? `restore it, or ${OTHER}`
            : `make its folder and room for it, or ${OTHER}`,
        );
    }
    return new History(path, { db, close: undo.move() });
  }

  /**
   * Adds rows, all or none. A row replaces an earlier one of the same case and run.
   *
   * @returns The numbers of new rows and of replaced ones, without those of others, which have no run.
   * @throws {UserError} Where the file cannot be written.
   */
  add(rows: readonly CsvRow[]): Added {
    return this.#guarded("write", () => {
      const db = this.#db;
      const own = rows.filter((row) => !isPublished(row) && row.run !== "");
      const starts = startsOf(own);
      const write = this.#writer();
      db.exec("begin immediate");
      const added = { fresh: 0, replaced: 0 };
      try {
        for (const row of own) added[write(row, starts.get(runOf(row))!)]++;
        db.exec("commit");
        return added;
      } catch (error) {
        rollBack(db);
        throw error;
      }
    });
  }

  /**
   * Returns the function that writes a row of a run that began at `start`, and returns whether the row is
   * a new one.
   */
  #writer(): (row: CsvRow, start: string) => "fresh" | "replaced" {
    const db = this.#db;
    const idOfRun = this.#known(
      `insert into runs (name, device, time, "commit", dirty, harness, driver)
       values (?, ?, ?, ?, ?, ?, ?)
       on conflict (name, device) do update set time = min(time, excluded.time),
         "commit" = excluded."commit", dirty = excluded.dirty returning id`,
      2,
    );
    const idOfCase = this.#known(
      `insert into cases (key, suite) values (?, ?)
       on conflict (key) do update set key = key returning id`,
      1,
    );
    const idOfShared = this.#known(
      `insert into shared (cells) values (?)
       on conflict (cells) do update set cells = cells returning id`,
      1,
    );
    const find = db.prepare(
      "select row_id from points where case_id = ? and run_id = ?",
    );
    const insert = db.prepare(
      "insert into rows (shared_id, figures) values (?, ?) returning id",
    );
    const update = db.prepare(
      "update rows set shared_id = ?, figures = ? where id = ? returning id",
    );
    const point = db.prepare(
      "insert or replace into points values (?, ?, ?, ?, ?)",
    );
    return (row, start) => {
      const { run, device, suite, status, median_us } = row;
      const caseId = idOfCase([cells(row, IDENTITY_COLUMNS), suite]);
      const ofRun = RUN_COLUMNS.map((column) => row[column]);
      const runId = idOfRun([run, device, start, ...ofRun]);
      const shared = idOfShared([cells(row, SHARED)]);
      const figures = cells(row, FIGURES);
      const before = find.get(caseId, runId);
      const kept = before
        ? update.get(shared, figures, before.row_id!)
        : insert.get(shared, figures);
      const us = status === "ok" ? Number(median_us) : null;
      point.run(caseId, runId, status, us, Number(kept!.id));
      return before ? "replaced" : "fresh";
    };
  }

  /**
   * Returns the function that inserts values unless they are there, and returns their id.
   *
   * @param key The number of leading values that identify them.
   */
  #known(sql: string, key: number): (values: string[]) => number {
    const statement: StatementSync = this.#db.prepare(sql);
    const ids = new Map<string, number>();
    return (values) => {
      const name = values.slice(0, key).join("\0");
      let id = ids.get(name);
      if (id === undefined) {
        id = Number(statement.get(...values)!.id);
        ids.set(name, id);
      }
      return id;
    };
  }

  /** The runs, by time. */
  runs(): readonly HistoryRun[] {
    return this.#guarded("read", () =>
      this.#db.prepare(
        'select id, time, "commit", dirty from runs order by time, id',
      ).all().map(({ id, time, commit, dirty }) => ({
        id: Number(id),
        time: String(time),
        commit: String(commit),
        dirty: String(dirty),
      })));
  }

  /** The suites that have rows, in the order of their names. */
  suites(): readonly string[] {
    return this.#guarded(
      "read",
      () =>
        this.#db.prepare("select distinct suite from cases order by suite")
          .all()
          .map(({ suite }) => String(suite)),
    );
  }

  /** The series of the cases of `suite`, in the order in which they were first added. */
  series(suite: string): readonly HistorySeries[] {
    return this.#guarded("read", () => {
      const found = this.#db.prepare(
        `select case_id, key, run_id, status, median_us,
           coalesce(json_extract(figures, '$[${SOURCE}]'), '') as source
         from cases join points on case_id = cases.id join runs on run_id = runs.id
         join rows on row_id = rows.id where suite = ? order by case_id, time, run_id`,
      );
      const all = new Map<
        unknown,
        HistorySeries & { points: HistorySeries["points"][number][] }
      >();
      for (const one of found.iterate(suite)) {
        let series = all.get(one.case_id);
        if (series === undefined) {
          series = {
            row: withCells(String(one.key), IDENTITY_COLUMNS),
            points: [],
          };
          all.set(one.case_id, series);
        }
        const { run_id, status, median_us, source } = one;
        series.points.push({
          run: Number(run_id),
          status: String(status),
          source: String(source),
          ...(median_us === null ? {} : { median_us: Number(median_us) }),
        });
      }
      return [...all.values()];
    });
  }

  /** The last `count` rows of the case of `row` on its device, the newest first. */
  last(row: CsvRow, count: number): readonly CsvRow[] {
    return this.#guarded("read", () =>
      this.#db.prepare(
        `select key, status, median_us, cells, figures, name, "commit", dirty, harness, driver
         from cases join points on case_id = cases.id join runs on run_id = runs.id
         join rows on row_id = rows.id join shared on shared_id = shared.id
         where key = ? order by time desc, run_id desc limit ?`,
      ).all(cells(row, IDENTITY_COLUMNS), count).map((one) => ({
        ...withCells(String(one.key), IDENTITY_COLUMNS),
        ...someCells(String(one.cells), SHARED),
        ...someCells(String(one.figures), FIGURES),
        ...Object.fromEntries(
          RUN_COLUMNS.map((column) => [column, String(one[column])]),
        ),
        status: String(one.status),
        median_us: one.median_us === null ? "" : String(one.median_us),
        run: String(one.name),
      })));
  }

  #guarded<T>(what: "read" | "write", work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!isOfSqlite(cause)) throw cause;
      throw new UserError(
        `Cannot ${what} ${this.path}: ${
          isLocked(cause)
            ? `${LOCKED}; wait for that`
            : `${saidBy(cause)}; ${WAYS_OUT[what]}`
        }`,
      );
    }
  }

  [Symbol.dispose](): void {
    this.#close[Symbol.dispose]();
  }
}

/** Removes the file of `db`, unless it has rows or another program is at it. */
function removeEmpty(path: string, db: DatabaseSync): void {
  try {
    // Whoever opened it and adds later gets an error of SQLite, which finds that it was moved.
    db.exec("pragma busy_timeout = 0; begin exclusive");
    const { sum } = db.prepare(
      "select count(*) as sum from sqlite_schema where name = 'points'",
    ).get()!;
    if (sum === 0 || !db.prepare("select 1 from points").get()) {
      removeIfThere(path);
    }
    db.exec("rollback");
  } catch (cause) {
    if (!isOfSqlite(cause)) throw cause;
    // SQLite needs room even for a lock, and the disk may have none.
    const info = unlessMissing(() => Deno.statSync(path));
    if (!isLocked(cause) && info?.size === 0) removeIfThere(path);
  }
}

/** Makes the tables, unless another program made them while this one waited to be alone. */
function makeTables(db: DatabaseSync): void {
  db.exec("begin exclusive");
  try {
    if (!db.prepare("select 1 from sqlite_schema").get()) db.exec(TABLES);
    db.exec("commit");
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** Undoes what was begun. SQLite has done so itself where the disk is full. */
function rollBack(db: DatabaseSync): void {
  if (db.isTransaction) db.exec("rollback");
}

/** Tells what SQLite says of a file from a mistake of this program. */
function isOfSqlite(cause: unknown): boolean {
  return isNativeError(cause) && "code" in cause &&
    cause.code === "ERR_SQLITE_ERROR";
}

const LOCKED = "another program is writing to it";

/** By SQLite's text for SQLITE_BUSY: only some of Deno's errors have its code. */
function isLocked(cause: unknown): boolean {
  return isOfSqlite(cause) && saidBy(cause).includes("database is locked");
}

const OTHER = "name another with --history";

const WAYS_OUT = {
  write: "nothing in it was changed",
  read: `restore it, or ${OTHER}`,
};

/** The time of a row in UTC. @throws {UserError} For a day or an hour that there is none of. */
function utcOf({ run, time }: CsvRow): string {
  const ms = Date.parse(time);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new UserError(
    `Cannot add the run ${run}: its time ${time} is none; fix its CSV`,
  );
}

/** Returns the earliest time of each run by {@linkcode runOf}, in UTC. @throws {UserError} As `utcOf()`. */
function startsOf(rows: readonly CsvRow[]): ReadonlyMap<string, string> {
  const starts = new Map<string, string>();
  for (const row of rows) {
    const [name, time] = [runOf(row), utcOf(row)];
    const before = starts.get(name);
    if (before === undefined || time < before) starts.set(name, time);
  }
  return starts;
}

/** Names the run of a row on its device. */
function runOf({ run, device }: CsvRow): string {
  return `${run}\0${device}`;
}

function cells(row: CsvRow, columns: readonly Column[]): string {
  return JSON.stringify(columns.map((column) => row[column]));
}

function someCells(
  text: string,
  columns: readonly Column[],
): Partial<CsvRow> {
  const values = JSON.parse(text) as string[];
  return Object.fromEntries(
    columns.map((column, i) => [column, values[i] ?? ""]),
  );
}

/** A row of which only `columns` have values. */
function withCells(text: string, columns: readonly Column[]): CsvRow {
  const empty = Object.fromEntries(
    COLUMNS.map((column) => [column, ""]),
  ) as CsvRow;
  return { ...empty, ...someCells(text, columns) };
}
