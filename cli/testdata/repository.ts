/**
 * A git repository for tests of `compare BASE..HEAD`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { command, program, type Ran } from "./program.ts";

/** What `git bisect` found. */
export interface Found {
  /** The message of the first bad commit. */
  readonly first: string;
  /** The commits that were measured. */
  readonly measured: number;
}

/** A program that gives the rows beside it for rows that it measured, and writes down its calls. */
export const PROGRAM = `
const out = Deno.args[Deno.args.indexOf("--out") + 1];
const home = new URL("../", import.meta.url);
const log = Deno.args[Deno.args.indexOf("--suite") + 1];
Deno.writeTextFileSync(log, JSON.stringify([Deno.cwd(), ...Deno.args]) + "\\n", { append: true });
Deno.mkdirSync(out + "/fake-1", { recursive: true });
Deno.copyFileSync(new URL("rows.csv", home), out + "/fake-1/s.csv");
`;

/** A repository of such a program, in a folder that also has the temporary files of the command. */
export class Repository implements Disposable {
  readonly folder: string = Deno.makeTempDirSync();
  readonly path: string = join(this.folder, "repository");
  readonly temporary: string = join(this.folder, "temporary");

  constructor() {
    for (const path of [this.path, this.temporary]) Deno.mkdirSync(path);
    Deno.mkdirSync(join(this.path, "cli"));
    this.git("init", "--quiet");
  }

  git(...args: string[]): string {
    const { success, stdout, stderr } = new Deno.Command("git", {
      args: [
        ...["-C", this.path, "-c", "user.name=n", "-c", "user.email=n@n"],
        ...["-c", "core.hooksPath=/dev/null", ...args],
      ],
    }).outputSync();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    assert(success, text(stderr));
    return text(stdout);
  }

  /** Commits the files, and tags the commit with `name`. */
  commit(name: string, files: Readonly<Record<string, string>>): void {
    for (const [file, text] of Object.entries(files)) {
      Deno.writeTextFileSync(join(this.path, file), text);
    }
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", name);
    this.git("tag", name);
  }

  /**
   * Runs `git bisect` over `good..bad`, with `compare --bisect` and `args`.
   *
   * @throws {AssertionError} Where it finds no commit.
   */
  async bisect(
    good: string,
    bad: string,
    args: readonly string[],
  ): Promise<Found> {
    this.git("bisect", "start", bad, good, "--");
    const compare = command(["compare", "--bisect", `${good}..HEAD`, ...args]);
    const { INIT_CWD: _, ...env } = Deno.env.toObject();
    const { stdout, stderr } = await new Deno.Command("git", {
      args: ["-C", this.path, "bisect", "run", ...compare],
      clearEnv: true,
      env: { ...env, TMPDIR: this.temporary },
    }).output();
    const text = [stdout, stderr].map((b) => new TextDecoder().decode(b)).join(
      "",
    );
    const first = /^(\w{40}) is the first bad commit$/m.exec(text)?.[1];
    assert(first !== undefined, text);
    const log = this.git("bisect", "log").split("\n");
    this.git("bisect", "reset");
    return {
      first: this.git("log", "-1", "--format=%s", first).trim(),
      measured: log.filter((line) => /^git bisect (good|bad|skip) /.test(line))
        .length,
    };
  }

  /** Commits a build that measures `rows`. */
  build(name: string, rows: readonly Partial<CsvRow>[]): void {
    this.commit(name, {
      "deno.json": '{ "name": "@mnkbench/mnkbench" }',
      "cli/main.ts": PROGRAM,
      "rows.csv": writeCsv(rows.map((fields) => csvRow(fields))),
    });
  }

  /** Runs `compare`; the calls of both builds are in {@linkcode Repository.calls}. */
  async compare(...args: string[]): Promise<Ran> {
    const before = this.git("status", "--porcelain");
    const ran = await program(
      ["compare", ...args, "--suite", join(this.folder, "calls")],
      { cwd: this.path, env: { TMPDIR: this.temporary } },
    );
    // Whatever happened: nothing is left, and the working tree is as it was.
    assertEquals([...Deno.readDirSync(this.temporary)], []);
    assertEquals(this.git("worktree", "list").split("\n").length, 2);
    assertEquals(this.git("status", "--porcelain"), before);
    return ran;
  }

  /** Returns the calls so far, each with the folder where it started, and forgets them. */
  calls(): readonly (readonly string[])[] {
    const path = join(this.folder, "calls");
    const lines = Deno.readTextFileSync(path).trim().split("\n");
    Deno.removeSync(path);
    return lines.map((line) => JSON.parse(line));
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}
