import { assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { dirname, join } from "node:path";
import { hashOf } from "../bench/files/hash.ts";
import { UserError } from "../bench/model/errors.ts";
import { COLUMNS } from "../bench/row/columns.ts";
import type { CsvRow } from "../bench/row/csv_row.ts";
import { csvRow } from "../report/testdata/csv_rows.ts";
import { History } from "./history.ts";

function inFolder(work: (path: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    work(join(folder, "h.sqlite"));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** A row of run `run`, of day `day`. */
function rowOf(run: string, day: number, more: Partial<CsvRow> = {}): CsvRow {
  const time = `2026-01-0${day}T00:00:00Z`;
  return csvRow({ run, time, commit: `c${day}`, ...more });
}

Deno.test("History gives back what was added, by the time of the runs", () =>
  inFolder((path) => {
    const [late, early] = [rowOf("b", 2), rowOf("a", 1, { median_us: "7.5" })];
    const other = rowOf("a", 1, {
      kernel: "other",
      status: "wrong",
      median_us: "",
    });
    using history = History.open(path, { make: true });
    assertEquals(history.add([late]), { fresh: 1, replaced: 0 });
    assertEquals(history.add([early, other]), { fresh: 2, replaced: 0 });
    assertEquals(history.runs().map(({ time, commit }) => [time, commit]), [
      ["2026-01-01T00:00:00.000Z", "c1"],
      ["2026-01-02T00:00:00.000Z", "c2"],
    ]);
    assertEquals(history.last(late, 5), [late, early]);
    assertEquals(history.last(late, 1), [late]);
    assertEquals(history.last(other, 5), [other]);
    assertEquals(history.suites(), [late.suite]);
    assertEquals(
      history.series(late.suite).map(({ row, points }) => [
        row.kernel,
        points.map(({ status, median_us }) => [status, median_us]),
      ]),
      [
        [late.kernel, [["ok", 7.5], ["ok", Number(late.median_us)]]],
        ["other", [["wrong", undefined]]],
      ],
    );
  }));

Deno.test("History.add() replaces the row of a case and run, and leaves out published ones", () =>
  inFolder((path) => {
    using history = History.open(path, { make: true });
    const row = rowOf("a", 1);
    history.add([row]);
    const again = { ...row, median_us: "3.25", note: "again" };
    const published = { ...row, harness: "published" };
    assertEquals(history.add([again, published]), { fresh: 0, replaced: 1 });
    assertEquals(history.last(row, 5), [again]);
    assertEquals(history.runs().length, 1);
  }));

Deno.test("History keeps the user's commit of each row, and has none of a row from before", () =>
  inFolder((path) => {
    const [row, built_in, other] = [
      rowOf("a", 1, { source_commit: "0123456789ab+" }),
      rowOf("a", 1, { kernel: "b" }),
      rowOf("a", 1, { kernel: "c", source_commit: "ba9876543210" }),
    ];
    {
      using history = History.open(path, { make: true });
      history.add([built_in, row, other]);
      const all = [built_in, row, other];
      assertEquals(all.map((one) => history.last(one, 1)), all.map((o) => [o]));
      assertEquals(
        history.series(row.suite).map(({ points }) => points[0]!.source),
        all.map(({ source_commit }) => source_commit),
      );
    }
    const db = new DatabaseSync(path);
    // A file from before has no last cell in each row.
    db.exec("update rows set figures = json_remove(figures, '$[#-1]')");
    db.close();
    using history = History.open(path);
    assertEquals(
      history.series(row.suite).map(({ points }) => points[0]!.source),
      ["", "", ""],
    );
    assertEquals(history.last(other, 1), [{ ...other, source_commit: "" }]);
  }));

Deno.test("History.add() refuses a time that is none, and adds nothing", () =>
  inFolder((path) => {
    using history = History.open(path, { make: true });
    const bad = rowOf("bad", 1, { time: "2026-13-41T00:00:00Z" });
    assertThrows(() => history.add([rowOf("a", 1), bad]), UserError, "none");
    assertEquals(history.runs(), []);
  }));

Deno.test("History.runs() orders times of several zones, and takes the first of a run", () =>
  inFolder((path) => {
    using history = History.open(path, { make: true });
    history.add([
      rowOf("late", 1, { time: "2026-01-01T09:00:00+02:00" }),
      rowOf("early", 1, { time: "2026-01-01T06:30:00Z" }),
      rowOf("early", 1, { time: "2026-01-01T08:00:00+02:00", kernel: "b" }),
    ]);
    assertEquals(
      history.runs().map(({ time }) => time),
      ["2026-01-01T06:00:00.000Z", "2026-01-01T07:00:00.000Z"],
    );
  }));

Deno.test("History.open() refuses what is no history, in one line", () =>
  inFolder((path) => {
    const refused = (pattern: RegExp, make = false) => {
      const error = assertThrows(() => History.open(path, { make }), UserError);
      assertEquals(pattern.test(error.message), true, error.message);
    };
    refused(/there is no such file; add runs with/);
    assertThrows(
      () => History.open(`${path}.folder/h.sqlite`, { make: true }),
      UserError,
      "make its folder and room for it, or name another",
    );
    Deno.writeTextFileSync(path, "");
    refused(/it is empty; add runs with/);
    Deno.writeTextFileSync(
      path,
      "no database, but longer than a header".repeat(9),
    );
    refused(/file is not a database; restore it/, true);
    Deno.removeSync(path);
    using other = new DatabaseSync(path);
    other.exec("create table t (a)");
    refused(/an SQLite file of something else; name another/, true);
    other.exec("pragma application_id = 0x6d6e6b62; pragma user_version = 9;");
    refused(/of version 9, and this program reads 1/);
  }));

Deno.test("History waits for another program that writes, and then says so and changes nothing", () =>
  inFolder((path) => {
    const [first, second] = [rowOf("a", 1), rowOf("b", 2)];
    using history = History.open(path, { make: true, patienceMs: 20 });
    history.add([first]);
    using other = new DatabaseSync(path);
    other.exec("begin exclusive");
    const locked = "another program is writing to it";
    assertThrows(() => history.add([second]), UserError, locked);
    assertThrows(() => history.last(first, 1), UserError, locked);
    assertThrows(
      () => History.open(path, { patienceMs: 20 }),
      UserError,
      `Cannot open ${path}: ${locked}; wait for that, or name another with --history`,
    );
    other.exec("rollback");
    assertEquals(history.last(first, 5), [first]);
    assertEquals(history.add([second]), { fresh: 1, replaced: 0 });
  }));

Deno.test("History.open() makes no tables where another program just did", () =>
  inFolder((path) => {
    const [first, second] = [rowOf("a", 1), rowOf("b", 2)];
    const stat = Deno.statSync;
    try {
      // Where nothing is yet, another program makes the file and adds to it.
      Deno.statSync = (looked) => {
        Deno.statSync = stat;
        try {
          return stat(looked);
        } finally {
          using other = History.open(path, { make: true });
          other.add([first]);
        }
      };
      using history = History.open(path, { make: true });
      assertEquals(history.add([second]), { fresh: 1, replaced: 0 });
      assertEquals(history.runs().length, 2);
    } finally {
      Deno.statSync = stat;
    }
  }));

Deno.test("History removes the file that it made and added nothing to", () =>
  inFolder((path) => {
    const isThere = () => [...Deno.readDirSync(dirname(path))].length > 0;
    const add = (...rows: readonly CsvRow[]) => {
      using history = History.open(path, { make: true });
      history.add(rows);
    };
    add();
    assertEquals(isThere(), false);
    const bad = rowOf("bad", 1, { time: "2026-13-41T00:00:00Z" });
    assertThrows(() => add(rowOf("a", 1), bad), UserError, "none");
    assertEquals(isThere(), false);
    {
      using one = History.open(path, { make: true });
      // Another program adds to what this one made.
      add(rowOf("a", 1));
      assertEquals(one.runs().length, 1);
    }
    assertEquals(isThere(), true);
    assertThrows(() => add(bad), UserError, "none");
    assertEquals(isThere(), true);
    Deno.removeSync(path);
    // Another's file stays.
    Deno.writeTextFileSync(path, "");
    add();
    assertEquals(isThere(), true);
  }));

Deno.test("the columns of a history change only with its version", () =>
  inFolder((path) => {
    using history = History.open(path, { make: true });
    const row = csvRow(Object.fromEntries(COLUMNS.map((name) => [name, name])));
    const time = "2026-01-01T00:00:00Z";
    history.add([{ ...row, status: "ok", median_us: "1", time }]);
    using db = new DatabaseSync(path, { readOnly: true });
    const texts = ["key from cases", "cells from shared", "figures from rows"]
      .map((what) => Object.values(db.prepare(`select ${what}`).get()!)[0]);
    // Where this differs by more than a new last figure, which older rows and programs do without, give
    // VERSION in history.ts another number, and read the old one.
    assertEquals(hashOf(...texts.map(String)), "032f0e69b5a2e49e");
  }));
