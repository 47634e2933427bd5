/**
 * Entries of the kernel cache: a folder with a binary and its manifest, private copies of binaries,
 * and the code of a source without its comments.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";
import {
  readIfThere,
  removeIfThere,
  saidBy,
  unlessMissing,
} from "../files/disk.ts";
import { hashOf } from "../files/hash.ts";
import {
  isSealedOrOld,
  jsonIn,
  parseJson,
  UNSEALED,
} from "../files/json_file.ts";
import { basename, dirname, extname, join } from "node:path";
import {
  array,
  check,
  exactOptional,
  type InferOutput,
  number,
  pipe,
  readonly,
  record,
  strictObject,
  string,
  union,
} from "valibot";
import {
  type ClaimedFolder,
  claimFolder,
  makeTemporary,
} from "../files/lock.ts";

const manifestSchema = pipe(
  strictObject({
    source: string(),
    defines: record(string(), union([string(), number()])),
    arch: string(),
    flags: pipe(array(string()), readonly()),
    compiler: string(),
    binaryHash: string(),
    /** Missing in entries of version 0.1. */
    sum: exactOptional(string()),
  }),
  check((manifest) => isSealedOrOld(manifest), UNSEALED),
);

/** The contents of `manifest.json` beside a binary. */
export type Manifest = Readonly<InferOutput<typeof manifestSchema>>;

/** Returns the manifest of the entry at `entry`; nothing where there is none that can be read. */
export function manifestIn(entry: string): Manifest | undefined {
  const text = readIfThere(join(entry, "manifest.json"));
  return text === undefined ? undefined : jsonIn(manifestSchema, text);
}

/** What an entry has. */
export interface Entry extends Pick<Manifest, "binaryHash" | "compiler"> {
  /** The path of the binary. */
  readonly path: string;
}

/** Why an entry is corrupt whose binary was changed. */
export const OTHER = "its binary is not the one its manifest describes";

/** An entry that is corrupt or cannot be read: a failure to compile where no other can be built. */
export class DamagedEntry extends CaseError {
  override name = "DamagedEntry";

  /**
   * @param entry Its folder.
   * @param why What is wrong with it.
   */
  constructor(readonly entry: string, readonly why: string) {
    super(
      "compile",
      `Cannot use the cached kernel in ${entry}: ${why}; remove it with \`rm -r ${entry}\``,
    );
  }
}

/**
 * The entry at `entry`, or nothing where there is none or a folder without a manifest.
 *
 * @throws {DamagedEntry} If it is corrupt or cannot be read.
 */
export async function readEntry(
  entry: string,
  binary: string,
): Promise<Entry | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(join(entry, "manifest.json"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    // The folder's matter, not this entry's.
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    throw new DamagedEntry(entry, errorText(error));
  }
  const { binaryHash, compiler } = parseJson(
    manifestSchema,
    text,
    (why) =>
      new DamagedEntry(
        entry,
        why.startsWith("it ")
          ? why.replace("it ", "its manifest ")
          : `its manifest's ${why}`,
      ),
  );
  const bytes = await Deno.readFile(binary).catch((error) => {
    throw new DamagedEntry(entry, errorText(error));
  });
  if (hashOf(bytes) !== binaryHash) {
    throw new DamagedEntry(entry, OTHER);
  }
  return { path: binary, binaryHash, compiler };
}

/**
 * Renames `from` to `to`; where another process was first, its entry stays, whose `binary` can
 * have other bytes: read what is there afterwards. What is no entry, or a damaged one, is
 * replaced.
 */
export async function moveInto(
  from: string,
  to: string,
  binary: string,
): Promise<void> {
  try {
    return await Deno.rename(from, to);
  } catch (error) {
    if (!unlessMissing(() => Deno.lstatSync(to))) throw error;
    if (await isWhole(to, binary)) return;
  }
  removeIfThere(to);
  await Deno.rename(from, to);
}

/** Returns whether the entry at `entry` is there and not damaged. */
async function isWhole(entry: string, binary: string): Promise<boolean> {
  try {
    return await readEntry(entry, binary) !== undefined;
  } catch (error) {
    if (!(error instanceof DamagedEntry)) throw error;
    return false;
  }
}

/** Returns the message of `error`, on one line. */
export function errorText(error: unknown): string {
  return saidBy(error).split("\n")[0]!;
}

/** Copies of this process alone, in a folder that is made with the first. */
export class PrivateCopies implements Disposable {
  readonly #paths = new Map<string, string>();
  #folder: ClaimedFolder | undefined;

  /** @param dir Where the folder is made, since what is there can be run. */
  constructor(private readonly dir: string) {}

  /**
   * The path of a copy of the file `path`, the same each time.
   *
   * @param check Takes the bytes that the copy has; it throws where they are wrong.
   */
  of(path: string, check: (bytes: Uint8Array) => void): string {
    const known = this.#paths.get(path);
    if (known !== undefined) return known;
    const bytes = Deno.readFileSync(path);
    check(bytes);
    this.#folder ??= folderIn(this.dir);
    const name = `${basename(dirname(path))}.${this.#paths.size}`;
    const copy = join(this.#folder.path, `${name}${extname(path)}`);
    Deno.writeFileSync(copy, bytes, { createNew: true, mode: 0o600 });
    this.#paths.set(path, copy);
    return copy;
  }

  /** Removes them: what was loaded must not be needed any more. */
  [Symbol.dispose](): void {
    try {
      this.#folder?.[Symbol.dispose]();
    } catch (error) {
      // A kernel changed what this process may do; the next process removes what is left.
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    }
    this.#folder = undefined;
    this.#paths.clear();
  }
}

/** Makes a folder for this user alone in `dir`, or elsewhere if it is read-only. */
function folderIn(dir: string): ClaimedFolder {
  try {
    return claimFolder(".loaded-", dir);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // What was built before can be run from a disk that takes nothing. The system's folder
    // of temporary files is the second choice because programs may be forbidden there.
    return makeTemporary("mnkbench-loaded-");
  }
}

/**
 * The tokens that a comment may begin in, or seem to. Identifiers and numbers are among them
 * because of `u8'a'` and `1'000`.
 */
const TOKENS = new RegExp(
  [
    /\/\/(?:\\\r?\n|[^\n])*/,
    /\/\*[^]*?(?:\*\/|$)/,
    /(?:u8|[uUL])?R"(?<mark>[^()\\\s]{0,16})\([^]*?\)\k<mark>"/,
    /[A-Za-z_]\w*/,
    /\.?\d(?:[eEpP][+-]|'?[\w.])*/,
    /"(?:\\[^]|[^"\\\n])*"?/,
    /'(?:\\[^]|[^'\\\n])*'?/,
  ].map(({ source }) => source).join("|"),
  "g",
);

/**
 * Returns the text of a source without comments, blank lines and repeated blanks.
 *
 * @param file Its name: `.py` is Python, of which only comments on lines of their own are left
 * out; everything else is of C's family.
 *
 * @example
 * ```ts
 * import { codeOf } from "./cache_entry.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(codeOf("int a;  // not b\n\n", "k.cu"), "int a;");
 * strictEqual(codeOf('const char *s = "//";', "k.c"), 'const char *s = "//";');
 * ```
 */
export function codeOf(text: string, file: string): string {
  const bare = file.endsWith(".py")
    ? text.replaceAll(/^[ \t]*#.*$/gm, "")
    : text.replaceAll(
      TOKENS,
      (token) => /^\/[/*]/.test(token) ? " " : token,
    );
  // Indentation is syntax in Python.
  const lines = bare.split(/\r?\n/).map((line) =>
    file.endsWith(".py")
      ? line.trimEnd()
      : line.replaceAll(/[^\S\n]+/g, " ").trim()
  );
  return lines.filter((line) => line !== "").join("\n");
}

/**
 * Code for devices from one compute capability on, and for others; without conditions of their own. Files
 * follow one another after a NUL.
 */
const BY_ARCH =
  /(?<=^|\0)#if __CUDA_ARCH__ >= (\d+)\n((?:[^#\n].*\n)*)#else\n((?:[^#\n].*\n)*)#endif\n/gm;

/**
 * Returns what a CUDA compiler for `arch` sees of `code`, a result of {@linkcode codeOf}, where it has
 * two branches for older and newer devices: the hash of a kernel is then of its own branch.
 *
 * @example
 * ```ts
 * import { codeFor } from "./cache_entry.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * const code = "#if __CUDA_ARCH__ >= 900\na();\n#else\nb();\n#endif\nc();";
 * strictEqual(codeFor(code, "sm_90a"), "a();\nc();");
 * strictEqual(codeFor(code, "sm_89"), "b();\nc();");
 * strictEqual(codeFor(code, "gfx942"), code);
 * ```
 */
export function codeFor(code: string, arch: string): string {
  const version = /^sm_(\d+)/.exec(arch)?.[1];
  if (version === undefined) return code;
  return code.replaceAll(
    BY_ARCH,
    (_, from: string, newer: string, older: string) =>
      Number(version) * 10 >= Number(from) ? newer : older,
  );
}
