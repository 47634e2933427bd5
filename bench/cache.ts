/**
 * Binaries of kernels, found by the hash of all that decides them.
 *
 * An entry is a folder a person can open: `<source>.<hash>/` holds the source as
 * compiled, the binary, the compiler's log and a manifest. The compiler's own name is in
 * the manifest and not in the hash, so that entries made on one machine serve another
 * that has no compiler.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Backend, Build } from "./device.ts";
import { CaseError } from "./errors.ts";

/** A binary ready to be loaded. */
export interface Built {
  /** Where the binary is. */
  readonly path: string;
  /** Hash of source, includes, flags, constants and architecture. */
  readonly sourceHash: string;
  readonly binaryHash: string;
  /** The compiler that made it, e.g. `nvrtc 13.0`. */
  readonly compiler: string;
}

interface Manifest {
  readonly source: string;
  readonly defines: Readonly<Record<string, string | number>>;
  readonly arch: string;
  readonly flags: readonly string[];
  readonly compiler: string;
  readonly binaryHash: string;
}

const HASH_DIGITS = 16;

/** Hash of `parts`, in hexadecimal. */
export function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, HASH_DIGITS);
}

/** A folder of binaries. Safe for several processes at once. */
export class BinaryCache {
  readonly #known = new Map<string, Promise<Built>>();
  readonly #sources = new Map<string, string>();

  /**
   * @param dir The folder; made when something is built.
   * @param options `prebuilt`: build nothing, and say what is missing.
   */
  constructor(
    readonly dir: string,
    readonly options: { readonly prebuilt?: boolean } = {},
  ) {}

  /**
   * The binary of `build` for `arch`, compiled if it is not there.
   *
   * @throws {CaseError} `compile`: the compiler's first error and where its log is.
   */
  get(build: Build, backend: Backend, arch: string): Promise<Built> {
    const sourceHash = this.sourceHash(build, backend, arch);
    const known = this.#known.get(sourceHash);
    if (known) return known;
    const made = this.#find(build, backend, { arch, sourceHash });
    this.#known.set(sourceHash, made);
    return made;
  }

  /**
   * Hash of source, includes, flags, constants and architecture.
   *
   * @throws {CaseError} `compile`, where a source cannot be read.
   */
  sourceHash(build: Build, backend: Backend, arch: string): string {
    const target = backend.target(arch);
    const defines = Object.entries(build.defines).toSorted();
    return hashOf(
      backend.name,
      arch,
      JSON.stringify([target.flags, defines]),
      this.#text(fileURLToPath(build.source)),
    );
  }

  async #find(
    build: Build,
    backend: Backend,
    { arch, sourceHash }: { arch: string; sourceHash: string },
  ): Promise<Built> {
    const source = basename(fileURLToPath(build.source));
    const name = `${source.replace(/\.[^.]*$/, "")}.${sourceHash}`;
    const entry = join(this.dir, name);
    const binary = join(entry, `binary.${backend.target(arch).extension}`);
    const found = await readEntry(entry, binary);
    if (found) return { ...found, sourceHash };
    if (this.options.prebuilt) {
      throw new CaseError(
        "compile",
        `No prebuilt binary of ${source} for ${arch} in ${this.dir}: build it with \`mnkbench build --arch ${arch}\` on a machine with a compiler, or leave out --prebuilt`,
      );
    }
    const compiler = backend.compiler(arch);
    await Deno.mkdir(this.dir, { recursive: true });
    const temporary = await Deno.makeTempDir({
      dir: this.dir,
      prefix: ".making-",
    });
    try {
      const made = join(temporary, basename(binary));
      const log = await compile(build, made, {
        compile: (b, to) => compiler.compile(b, to),
        logTo: `${entry}.log`,
      });
      const manifest: Manifest = {
        source,
        defines: build.defines,
        arch,
        flags: backend.target(arch).flags,
        compiler: compiler.signature,
        binaryHash: hashOf(await Deno.readFile(made)),
      };
      await Deno.copyFile(
        fileURLToPath(build.source),
        join(temporary, `source${extname(source)}`),
      );
      await Deno.writeTextFile(join(temporary, "log.txt"), log);
      await Deno.writeTextFile(
        join(temporary, "manifest.json"),
        JSON.stringify(manifest, null, 2) + "\n",
      );
      await moveInto(temporary, entry);
      return {
        path: binary,
        sourceHash,
        binaryHash: manifest.binaryHash,
        compiler: manifest.compiler,
      };
    } finally {
      await Deno.remove(temporary, { recursive: true }).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
  }

  /** The text of a source with every file that it includes by a quoted name. */
  #text(path: string): string {
    const known = this.#sources.get(path);
    if (known !== undefined) return known;
    const parts: string[] = [];
    const seen = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = Deno.readTextFileSync(file);
      parts.push(text);
      for (const [, name] of text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
        visit(fileURLToPath(new URL(name!, pathToFileURL(file))));
      }
    };
    try {
      visit(path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new CaseError(
        "compile",
        `Cannot read the source of a kernel: ${error.message}`,
        { cause: error },
      );
    }
    const text = parts.join("\0");
    this.#sources.set(path, text);
    return text;
  }
}

async function compile(
  build: Build,
  binary: string,
  { compile, logTo }: {
    compile: (build: Build, binary: string) => Promise<string>;
    logTo: string;
  },
): Promise<string> {
  try {
    return await compile(build, binary);
  } catch (error) {
    if (!(error instanceof CaseError) || typeof error.cause !== "string") {
      throw error;
    }
    await Deno.writeTextFile(logTo, error.cause);
    throw new CaseError(error.failure, `${error.message} (log: ${logTo})`, {
      cause: error.cause,
    });
  }
}

/** The entry at `entry`, if it is whole. @throws {CaseError} If it is corrupt. */
async function readEntry(
  entry: string,
  binary: string,
): Promise<Omit<Built, "sourceHash"> | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(join(entry, "manifest.json"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const corrupt = (why: string) =>
    new CaseError(
      "compile",
      `Cannot use the cached kernel in ${entry}: ${why}; remove it with \`rm -r ${entry}\``,
    );
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw corrupt(`its manifest is not JSON (${(error as Error).message})`);
  }
  const bytes = await Deno.readFile(binary).catch((error: Error) => {
    throw corrupt(error.message);
  });
  if (hashOf(bytes) !== manifest.binaryHash) {
    throw corrupt("its binary is not the one its manifest describes");
  }
  return {
    path: binary,
    binaryHash: manifest.binaryHash,
    compiler: manifest.compiler,
  };
}

/** Renames `from` to `to`; where another process was first, its entry stays. */
async function moveInto(from: string, to: string): Promise<void> {
  try {
    await Deno.rename(from, to);
  } catch (error) {
    const taken = await Deno.stat(join(to, "manifest.json")).then(
      () => true,
      () => false,
    );
    if (!taken) throw error;
    await Deno.mkdir(dirname(to), { recursive: true });
  }
}
