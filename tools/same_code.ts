/**
 * Finds the recorded rows whose kernels' code has changed and still compiles to the same machine
 * code, and adds them to `results/same_code.json`, by which `list --stale` calls them current. Of each
 * such row the code of its commit and the present code are compiled, with the row's constants.
 *
 * `deno task same-code [FOLDER...]`: run it in a clone that has the commits of the rows, on a host with
 * their compiler. With folders of `results`, only their rows are compared.
 *
 * @module
 */

import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { backends } from "../backends/mod.ts";
import { BinaryCache } from "../bench/device/binary_cache.ts";
import type { Backend, Build } from "../bench/device/device.ts";
import { unlessMissing } from "../bench/files/disk.ts";
import { replaceFile } from "../bench/files/replace.ts";
import { counted } from "../bench/files/terminal_text.ts";
import { runProgram } from "../bench/files/run_program.ts";
import { joinHashes } from "../bench/measure/case_run.ts";
import { CaseError } from "../bench/model/errors.ts";
import { besideAuto, loadSuites } from "../session/cases.ts";
import { HOME, RESULTS } from "../session/home.ts";
import { readRows } from "../session/read_rows.ts";
import {
  keyOfPair,
  readSameCode,
  SAME_CODE,
  SameCode,
  type SamePair,
} from "../session/stale/same_code.ts";
import { type RowState, stalenessOf } from "../session/stale/stale.ts";

/** The folders with the sources of kernels. */
const SOURCES = ["bench", "kernels"];
const LIMIT_MS = 60_000;
/**
 * Times that two versions are compiled until their bytes agree, each time from other folders: the bytes
 * of nvcc 13.0 depended on the folder for 4 of 696 sources.
 */
const ATTEMPTS = 4;
/** The name of the present sources, in the place of a commit. */
const PRESENT = "present";

/** The tools of a comparison. */
export interface Compared {
  /**
   * Returns a folder with the sources of a commit, or the {@linkcode PRESENT} ones: another folder for
   * each `attempt`.
   *
   * @throws {CaseError} `compile`, where there is no such commit.
   */
  treeOf(commit: string, attempt: number): Promise<string>;
  codeHash(build: Build): string;
  /** Compiles `build`, once for each `attempt`. */
  compile(
    build: Build,
    attempt: number,
  ): Promise<{ readonly binaryHash: string; readonly compiler: string }>;
}

/** How a comparison ended: with a pair, or why without one. */
export type Outcome = { readonly pair: SamePair } | { readonly why: string };

/** Compares the code that the row of `stood` was measured with, and the present code. */
export async function compareCode(
  { row, present }: RowState,
  { treeOf, codeHash, compile }: Compared,
): Promise<Outcome> {
  if (present === undefined || row.commit === "" || row.dirty === "true") {
    return { why: "no commit has the code that was measured" };
  }
  const { commit } = row;
  const compiled = async (build: Build, of: string, attempt: number) =>
    await compile(moved(build, HOME, await treeOf(of, attempt)), attempt);
  try {
    const tree = await treeOf(commit, 0);
    const before = formerBuilds(present.builds, tree).find((builds) =>
      joinHashes(builds.map((build) => codeHash(moved(build, HOME, tree)))) ===
        row.code_hash
    );
    if (before === undefined) {
      return { why: "its constants or configs changed too" };
    }
    const binaries: string[] = [];
    let compiler = "";
    for (const [i, build] of before.entries()) {
      const [was, is] = [new Set<string>(), new Set<string>()];
      for (
        let attempt = 0;
        attempt < ATTEMPTS && was.isDisjointFrom(is);
        attempt++
      ) {
        const then = await compiled(build, commit, attempt);
        const now = await compiled(present.builds[i]!, PRESENT, attempt);
        was.add(then.binaryHash);
        is.add(now.binaryHash);
        compiler = now.compiler;
      }
      const [both] = was.intersection(is);
      if (both === undefined) return { why: "the machine code is another" };
      binaries.push(both);
    }
    return {
      pair: {
        was: row.code_hash,
        is: present.codeHash,
        binary: joinHashes(binaries),
        compiler,
      },
    };
  } catch (error) {
    if (error instanceof CaseError) return { why: error.message };
    throw error;
  }
}

/** Returns `build` with its source at the same place in the folder `to` as in `from`. */
function moved(build: Build, from: string, to: string): Build {
  const path = relative(from, fileURLToPath(build.source));
  return { ...build, source: pathToFileURL(join(to, path)) };
}

/**
 * Returns what the builds may have been in `tree`: `builds`, and a single one also with each source of
 * its folder there, as its file may have had another name, and without one or two of its constants, as
 * the kernel may not have had them.
 */
function formerBuilds(
  builds: readonly Build[],
  tree: string,
): readonly (readonly Build[])[] {
  const [only, ...more] = builds;
  if (only === undefined || more.length > 0) return [builds];
  const name = basename(fileURLToPath(only.source));
  const folder = dirname(fileURLToPath(moved(only, HOME, tree).source));
  const others = (unlessMissing(() => [...Deno.readDirSync(folder)]) ?? [])
    .map((entry) => entry.name)
    .filter((other) => other !== name && extname(other) === extname(name));
  const own = unlessMissing(() => Deno.statSync(join(folder, name)));
  const renamed = [...(own ? [name] : []), ...others]
    .map((file) => [{ ...only, source: new URL(file, only.source) }]);
  return [...renamed, ...(own ? fewerConstants(only) : [])];
}

/** Returns `build` without each of its constants, and without each two of them. */
function fewerConstants(build: Build): readonly (readonly Build[])[] {
  const defines = Object.entries(build.defines);
  const without = (...left: readonly number[]) => [{
    ...build,
    defines: Object.fromEntries(defines.filter((_, i) => !left.includes(i))),
  }];
  return defines.flatMap((_, i) => [
    without(i),
    ...defines.slice(0, i).map((_, j) => without(i, j)),
  ]);
}

/** Writes `pairs` with one on a line. */
export function formatPairs(pairs: readonly SamePair[]): string {
  const lines = pairs.map((pair) => `    ${JSON.stringify(pair)}`);
  return `{\n  "same": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

/** Copies of the sources of commits, and of the present ones; each is made once. */
class Trees {
  readonly #known = new Map<string, Promise<string>>();

  constructor(readonly folder: string) {}

  of(commit: string, attempt: number): Promise<string> {
    const name = `${commit}-${attempt}`;
    const known = this.#known.get(name) ?? this.#unpack(commit, name);
    this.#known.set(name, known);
    return known;
  }

  async #unpack(commit: string, name: string): Promise<string> {
    const folder = join(this.folder, name);
    const archive = `${folder}.tar`;
    await Deno.mkdir(folder);
    const pack = commit === PRESENT
      ? ["tar", "-C", HOME, "-cf", archive, ...SOURCES]
      : ["git", "-C", HOME, "archive", "-o", archive, commit, ...SOURCES];
    for (const words of [pack, ["tar", "-C", folder, "-xf", archive]]) {
      const [program, ...args] = words;
      const run = await runProgram(program!, { args, limitMs: LIMIT_MS });
      if (!run.success) {
        throw new CaseError(
          "compile",
          `Cannot unpack the sources of ${commit} by ${program}: ${run.stderr.trim()}`,
        );
      }
    }
    return folder;
  }
}

/** Runs `work` on each of `all`, as many at a time as there are cores. */
async function eachOf<T>(
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values();
  const worker = async () => {
    for (const one of left) await work(one);
  };
  await Promise.all(
    Array.from({ length: navigator.hardwareConcurrency }, worker),
  );
}

/** Returns the rows of `paths` whose code has changed: one row of each measured and present version. */
async function versions(
  paths: readonly string[],
): Promise<readonly RowState[]> {
  const rows = await readRows(paths);
  const suites = await besideAuto(await loadSuites([]), ["auto"]);
  const stood = await stalenessOf(rows, suites, new SameCode([]));
  const changed = stood.filter(({ standing, row }) =>
    standing === "changed" && row.binary_hash !== ""
  );
  return [...new Map(changed.map((one) => [keyOf(one), one])).values()];
}

function keyOf({ row, present }: RowState): string {
  return keyOfPair({ was: row.code_hash, is: present!.codeHash });
}

/**
 * Compares the versions of the rows of `paths`, all recorded ones without a path, that have no pair
 * yet, and writes the pairs that recorded rows need.
 */
async function main(paths: readonly string[]): Promise<void> {
  const all = await versions([RESULTS]);
  const keys = new Set(all.map(keyOf));
  const pairs = readSameCode().filter((pair) => keys.has(keyOfPair(pair)));
  const known = new SameCode(pairs);
  const changed = paths.length > 0 ? await versions(paths) : all;
  const left = changed.filter(({ row, present }) =>
    !known.has(row.code_hash, present!.codeHash)
  );
  const same = changed.length - left.length;
  const before = pairs.length;
  const reasons = new Map<string, number>();
  const folder = await Deno.makeTempDir({ prefix: "mnkbench-same-code-" });
  try {
    const trees = new Trees(folder);
    using scope = new DisposableStack();
    const caches = Array.from(
      { length: ATTEMPTS },
      (_, i) => scope.use(new BinaryCache(join(folder, `binaries-${i}`))),
    );
    const loaded = new Map<string, Backend>();
    for (const name of new Set(left.map(({ row }) => row.backend))) {
      loaded.set(name, await backends[name]!());
    }
    await eachOf(left, async (one) => {
      const { arch, backend: name, kernel } = one.row;
      const backend = loaded.get(name)!;
      const outcome = await compareCode(one, {
        treeOf: (commit, attempt) => trees.of(commit, attempt),
        codeHash: (build) => caches[0]!.codeHash(build, backend, arch),
        compile: (build, attempt) => caches[attempt]!.get(build, backend, arch),
      });
      if ("pair" in outcome) {
        if (keys.has(keyOfPair(outcome.pair))) pairs.push(outcome.pair);
        return;
      }
      const reason = `${kernel}: ${outcome.why}`;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  pairs.sort((a, b) => keyOfPair(a) < keyOfPair(b) ? -1 : 1);
  replaceFile(SAME_CODE, formatPairs(pairs));
  console.log(
    `${same + pairs.length - before} of ${
      counted(changed.length, "changed version")
    } of code compile to the machine code that was measured`,
  );
  for (const [reason, count] of reasons) console.log(`  ${count}  ${reason}`);
}

if (import.meta.main) await main(Deno.args);
