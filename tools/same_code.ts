/**
 * Finds the recorded rows whose kernels' code has changed and still compiles to the same machine
 * code, and adds them to `results/same_code.json`, by which `list --stale` calls them current. Of each
 * such row the code of its commit and the present code are compiled, with the row's constants.
 *
 * `deno task same-code`, in a clone with the commits of the rows, where a compiler for them is.
 *
 * @module
 */

import { dirname, extname, join, relative } from "node:path";
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
  readSameCode,
  SAME_CODE,
  SameCode,
  type SamePair,
} from "../session/stale/same_code.ts";
import { standings, type Stood } from "../session/stale/stale.ts";

/** The folders with the sources of kernels. */
const SOURCES = ["bench", "kernels"];
const LIMIT_MS = 60_000;
/**
 * Compilations of what differs, each in another folder: of 696 sources nvcc 13.0 gave four other bytes
 * in another folder.
 */
const ATTEMPTS = 4;

/** What is done for one comparison. */
export interface Compared {
  /**
   * Returns a folder that has the sources of a commit, or without one the present sources; or why
   * there is none. Each `attempt` has a folder of its own.
   */
  treeOf(commit: string | undefined, attempt: number): Promise<string | Error>;
  codeHash(build: Build): string;
  /** Compiles, anew for each `attempt`. */
  compile(
    build: Build,
    attempt: number,
  ): Promise<{ readonly binaryHash: string; readonly compiler: string }>;
}

/** How a comparison ended: with a pair, or why without one. */
export type Outcome = { readonly pair: SamePair } | { readonly why: string };

/** Compares the code that the row of `stood` was measured with, and the present code. */
export async function compareCode(
  { row, present }: Stood,
  { treeOf, codeHash, compile }: Compared,
): Promise<Outcome> {
  if (present === undefined || row.commit === "" || row.dirty === "true") {
    return { why: "no commit has the code that was measured" };
  }
  const tree = await treeOf(row.commit, 0);
  if (tree instanceof Error) return { why: tree.message };
  const binaryOf = async (
    { source, ...build }: Build,
    from: string,
    { commit, attempt }: { commit: string | undefined; attempt: number },
  ) => {
    const folder = await treeOf(commit, attempt);
    if (folder instanceof Error) throw folder;
    const moved = join(folder, relative(from, fileURLToPath(source)));
    return await compile({ ...build, source: pathToFileURL(moved) }, attempt);
  };
  try {
    const before = formerBuilds(present.builds, tree).find((builds) =>
      joinHashes(builds.map(codeHash)) === row.code_hash
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
        const { commit } = row;
        const then = await binaryOf(build, tree, { commit, attempt });
        const now = await binaryOf(present.builds[i]!, HOME, {
          ...{ commit: undefined, attempt },
        });
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

/**
 * Returns `builds` with the sources of `tree`; a single one also with each source beside its own, as its
 * file may have had another name.
 */
function formerBuilds(
  builds: readonly Build[],
  tree: string,
): readonly (readonly Build[])[] {
  const own = builds.map((build): Build => ({
    ...build,
    source: pathToFileURL(
      join(tree, relative(HOME, fileURLToPath(build.source))),
    ),
  }));
  const [only, ...more] = own;
  if (only === undefined || more.length > 0) return [own];
  const path = fileURLToPath(only.source);
  const folder = unlessMissing(() => [...Deno.readDirSync(dirname(path))]);
  return (folder ?? []).map(({ name }) => join(dirname(path), name))
    .filter((file) => extname(file) === extname(path))
    .toSorted((a, b) => Number(b === path) - Number(a === path))
    .map((file) => [{ ...only, source: pathToFileURL(file) }]);
}

/** Writes `pairs` with one on a line. */
export function formatPairs(pairs: readonly SamePair[]): string {
  const lines = pairs.map((pair) => `    ${JSON.stringify(pair)}`);
  return `{\n  "same": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

/** Copies of the sources of commits, and of the present ones; each is made once. */
class Trees {
  readonly #known = new Map<string, Promise<string | Error>>();

  constructor(readonly folder: string) {}

  of(commit: string | undefined, attempt: number): Promise<string | Error> {
    const name = `${commit ?? "present"}-${attempt}`;
    const known = this.#known.get(name) ?? this.#unpack(commit, name);
    this.#known.set(name, known);
    return known;
  }

  async #unpack(
    commit: string | undefined,
    name: string,
  ): Promise<string | Error> {
    const folder = join(this.folder, name);
    const archive = `${folder}.tar`;
    await Deno.mkdir(folder);
    const pack = commit === undefined
      ? ["tar", "-C", HOME, "-cf", archive, ...SOURCES]
      : ["git", "-C", HOME, "archive", "-o", archive, commit, ...SOURCES];
    for (const words of [pack, ["tar", "-C", folder, "-xf", archive]]) {
      const [program, ...args] = words;
      const run = await runProgram(program!, { args, limitMs: LIMIT_MS });
      if (!run.success) {
        return new Error(
          `${program} has no sources of ${commit}: ${run.stderr.trim()}`,
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

/** Recorded rows whose code is no longer that which was measured, and one of each two versions. */
async function versions(): Promise<readonly Stood[]> {
  const rows = await readRows([RESULTS]);
  const suites = await besideAuto(await loadSuites([]), ["auto"]);
  const stood = await standings(rows, suites, new SameCode([]));
  const changed = stood.filter(({ standing, row }) =>
    standing === "changed" && row.binary_hash !== ""
  );
  return [...new Map(changed.map((one) => [keyOf(one), one])).values()];
}

function keyOf({ row, present }: Stood): string {
  return `${row.code_hash} ${present!.codeHash}`;
}

/** Compares all versions again that have no pair yet, and writes the pairs of all. */
async function main(): Promise<void> {
  const changed = await versions();
  const keys = new Set(changed.map(keyOf));
  const key = ({ was, is }: SamePair) => `${was} ${is}`;
  const pairs = readSameCode().filter((pair) => keys.has(key(pair)));
  const known = new SameCode(pairs);
  const left = changed.filter(({ row, present }) =>
    !known.has(row.code_hash, present!.codeHash)
  );
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
        pairs.push(outcome.pair);
        return;
      }
      const reason = `${kernel}: ${outcome.why}`;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  pairs.sort((a, b) => key(a) < key(b) ? -1 : 1);
  replaceFile(SAME_CODE, formatPairs(pairs));
  console.log(
    `${pairs.length} of ${
      counted(changed.length, "changed version")
    } of code compile to the machine code that was measured`,
  );
  for (const [reason, count] of reasons) console.log(`  ${count}  ${reason}`);
}

if (import.meta.main) await main();
