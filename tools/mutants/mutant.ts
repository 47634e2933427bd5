/**
 * Runs tests against deliberate mistakes in the harness: tests that pass with a mistake would
 * not notice it.
 *
 * A mistake is applied to a copy of the sources, one at a time. It is killed if one of its tests
 * fails there. A mistake whose text is not in its file, or whose file cannot be parsed, is an
 * error: it tells nothing about the tests.
 *
 * @module
 */

/** A mistake: a text of a file, and what replaces it. */
export interface HarnessMutant {
  /** The mistake in a few words; no two are the same. */
  readonly name: string;
  /** Relative to the repository, as are `tests`. */
  readonly file: string;
  /** Occurs once in `file`. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** Tests of which one must fail. */
  readonly tests: readonly string[];
  /** What would be wrong with the rows or verdicts. */
  readonly why: string;
}

/** The outcome of a mistake: the test that failed, or none. */
export interface MutantResult {
  /** The mistake. */
  readonly mutant: HarnessMutant;
  /** The name of a test that failed, or why the tests did not end; missing for a survivor. */
  readonly killer?: string;
  /** Wall time of its tests, milliseconds. */
  readonly ms: number;
}

/** Folders and files that tests need. */
const COPIED = [
  ...["backends", "bench", "cli", "emulator", "examples", "kernels", "peers"],
  ...["report", "session", "suites", "tools", "mod.ts", "deno.json"],
  "deno.lock",
];
/** Folders that tests only read: links to them are enough. */
const LINKED = ["docs", "plots", "results"];
/** A mistake may make a loop endless. */
const TIMEOUT_MS = 120_000;

/** Returns `text` with the mistake. @throws {Error} If its text is not there exactly once. */
export function mutate(
  text: string,
  { name, file, find, replace }: Omit<HarnessMutant, "tests" | "why">,
): string {
  const [before, after, ...more] = text.split(find);
  if (after === undefined || more.length > 0) {
    throw new Error(
      `${file} has the text of "${name}" ${
        after === undefined ? "nowhere" : `${1 + more.length} times`
      }, not once: update its entry in tools/mutants/testdata/`,
    );
  }
  return before + replace + after;
}

/** A copy of the sources in which mistakes are made. */
export class Copy {
  private constructor(readonly folder: string) {}

  /** Copies the sources of the repository at `root` to a new temporary folder. */
  static async of(root: string): Promise<Copy> {
    const folder = await Deno.makeTempDir({ prefix: "mutants-" });
    const { success, stderr } = await new Deno.Command("cp", {
      args: ["-r", ...COPIED, folder],
      cwd: root,
    }).output();
    if (!success) {
      throw new Error(
        `Cannot copy the sources: ${new TextDecoder().decode(stderr)}`,
      );
    }
    for (const name of LINKED) {
      await Deno.symlink(`${root}/${name}`, `${folder}/${name}`);
    }
    return new Copy(folder);
  }

  /** Runs the tests of `mutant` with its mistake. @throws {Error} If it cannot be made. */
  async fate(mutant: HarnessMutant): Promise<MutantResult> {
    const path = `${this.folder}/${mutant.file}`;
    const text = await Deno.readTextFile(path);
    const start = performance.now();
    await Deno.writeTextFile(path, mutate(text, mutant));
    try {
      const killer = await this.failure(mutant.tests, mutant.name);
      const ms = performance.now() - start;
      return { mutant, ms, ...(killer === undefined ? {} : { killer }) };
    } finally {
      await Deno.writeTextFile(path, text);
    }
  }

  /**
   * Returns the first of `tests` that fails, in files of the copy; nothing where all pass.
   *
   * @param why What is tried, in errors.
   * @throws {Error} If a module cannot be parsed, or no test ran.
   */
  async failure(
    tests: readonly string[],
    why: string,
  ): Promise<string | undefined> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
    try {
      const { success, stdout, stderr } = await new Deno.Command(
        Deno.execPath(),
        {
          args: ["test", "-A", "--no-check", "--fail-fast", ...tests],
          cwd: this.folder,
          env: { NO_COLOR: "1" },
          stdin: "null",
          signal: abort.signal,
        },
      ).output();
      if (abort.signal.aborted) return "no test ended in time";
      const said = [stdout, stderr].map((b) => new TextDecoder().decode(b))
        .join("\n");
      if (/could not be parsed|SyntaxError|Module not found/.test(said)) {
        throw new Error(`${why}: a module cannot be loaded:\n${said}`);
      }
      if (success) {
        if (/^ok \| [1-9]/m.test(said)) return undefined;
        throw new Error(`${why}: no test ran in ${tests.join(", ")}`);
      }
      return /^(.*?) \.\.\. FAILED/m.exec(said)?.[1]?.trim() ??
        "a test module fails to load";
    } finally {
      clearTimeout(timer);
    }
  }

  /** Removes the copy. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** Returns `count` of `items`, which ones by `seed`. */
export function sample<T>(
  items: readonly T[],
  count: number,
  seed: number,
): T[] {
  const left = [...items];
  const chosen: T[] = [];
  let state = seed >>> 0;
  while (chosen.length < count && left.length > 0) {
    // An LCG of Numerical Recipes: the seed alone says which.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const at = Math.floor(state / 2 ** 32 * left.length);
    chosen.push(...left.splice(at, 1));
  }
  return chosen;
}

/** The mistakes of one file, which the same tests must notice: name, text, replacement, reason. */
export function inFile(
  file: string,
  tests: readonly string[],
  mistakes: readonly (readonly [string, string, string, string])[],
): HarnessMutant[] {
  return mistakes.map(([name, find, replace, why]) => ({
    name,
    file,
    find,
    replace,
    tests,
    why,
  }));
}
