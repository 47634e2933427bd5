/**
 * Caches kernel binaries by the hash of their inputs.
 *
 * An entry is a folder a person can open: `<source>.<hash>/` holds the source as
 * compiled, the binary, the compiler's log and a manifest. The compiler's own name is in
 * the manifest and not in the hash, so that entries made on one machine serve another
 * that has no compiler.
 *
 * @module
 */

import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeIfThere, unlessMissing } from "../files/disk.ts";
import { hashOf } from "../files/hash.ts";
import { seal } from "../files/json_file.ts";
import { claimFolder, makeTemporary } from "../files/lock.ts";
import { demandPrivate, privateFolder } from "../files/private_folder.ts";
import { CaseError, UserError } from "../model/errors.ts";
import type { Settings } from "../model/settings.ts";
import {
  codeFor,
  DamagedEntry,
  type Entry,
  errorText,
  type Manifest,
  moveInto,
  OTHER,
  PrivateCopies,
  readEntry,
} from "./cache_entry.ts";
import { type Backend, type Build, optionsText } from "./device.ts";
import { type SourceText, SourceTexts } from "./source_texts.ts";

/** A binary ready to be loaded. */
export interface Built {
  /** The path of the binary. */
  readonly path: string;
  /** Hash of source, includes, flags, constants and architecture. */
  readonly sourceHash: string;
  /** The same of the source and its includes without comments and blanks. */
  readonly codeHash: string;
  readonly binaryHash: string;
  /** The compiler that made it, e.g. `nvrtc 13.0`. */
  readonly compiler: string;
}

/**
 * A folder of binaries, for this user alone. Safe for several processes at once. Disposing
 * it removes the copies that were loaded.
 */
export class BinaryCache implements Disposable {
  readonly #copies: PrivateCopies;
  readonly #known = new Map<string, Promise<Built>>();
  readonly #sources = new SourceTexts();
  readonly #contents = new Map<SourceText, string>();

  /**
   * @param dir The folder; made when something is built.
   * @param options `prebuilt`: build nothing, and say what is missing; `binaries`: the
   * folders of entries to use in the place of a source's own, by its hash; `note`: takes a
   * line about a damaged entry that is built again.
   */
  constructor(
    readonly dir: string,
    readonly options:
      & Partial<Pick<Settings, "prebuilt" | "binaries">>
      & { readonly note?: (line: string) => void } = {},
  ) {
    this.#copies = new PrivateCopies(dir);
  }

  /**
   * The binary of `build` for `arch`, compiled if it is not there.
   *
   * @throws {CaseError} `compile`: the compiler's first error and where its log is.
   * @throws {UserError} If the folder cannot be used, or other users may write to it, and if a
   * disk and not the source made the compiler fail: that is no result of a kernel.
   */
  get(build: Build, backend: Backend, arch: string): Promise<Built> {
    const sourceHash = this.sourceHash(build, backend, arch);
    const known = this.#known.get(sourceHash);
    if (known) return known;
    const codeHash = this.codeHash(build, backend, arch);
    const made = this.#find(build, backend, { arch, sourceHash })
      .then((found) => ({ ...found, sourceHash, codeHash }));
    this.#known.set(sourceHash, made);
    return made;
  }

  /**
   * The path of a copy of `built` that only this process has, to be loaded: what was hashed is
   * what runs, whatever becomes of the entry. The first takes about 5 ms, others of 50 kB under 1 ms.
   *
   * @throws {CaseError} `compile`, if it is not the binary that {@linkcode get} found.
   */
  copyOf({ path, binaryHash }: Built): string {
    return this.#keepingSync(() =>
      this.#copies.of(path, (bytes) => {
        if (hashOf(bytes) !== binaryHash) {
          throw new DamagedEntry(dirname(path), OTHER);
        }
      })
    );
  }

  /** Removes the copies: what was loaded must be closed before. */
  [Symbol.dispose](): void {
    this.#copies[Symbol.dispose]();
  }

  /**
   * Hash of source, includes, flags, constants and architecture.
   *
   * @throws {CaseError} `compile`, where a source cannot be read.
   */
  sourceHash(build: Build, backend: Backend, arch: string): string {
    return hashFor(build, backend, arch, this.#sources.of(build).text);
  }

  /**
   * The same without the comments and blanks of source and includes, and without branches for other
   * architectures: it changes only with what is compiled.
   *
   * @throws {CaseError} `compile`, where a source cannot be read.
   */
  codeHash(build: Build, backend: Backend, arch: string): string {
    const code = codeFor(this.#sources.of(build).code, arch);
    return hashFor(build, backend, arch, code);
  }

  /**
   * Hash of a source and its includes alone, and of its own flags and compiler.
   *
   * @throws {CaseError} `compile`, where it cannot be read.
   */
  contentHash(build: Build): string {
    const source = this.#sources.of(build);
    const options = optionsText(build);
    if (options.length > 0) return hashOf(source.text, ...options);
    const hash = this.#contents.get(source) ?? hashOf(source.text);
    this.#contents.set(source, hash);
    return hash;
  }

  async #find(
    build: Build,
    backend: Backend,
    { arch, sourceHash }: { arch: string; sourceHash: string },
  ): Promise<Entry> {
    const source = basename(fileURLToPath(build.source));
    const stem = source.replace(/\.[^.]*$/, "").slice(0, LONGEST_STEM);
    const name = `${stem}.${sourceHash}`;
    const other = this.options.binaries?.[sourceHash];
    const mayBuild = other === undefined && !this.options.prebuilt;
    const entry = other ?? join(this.dir, name);
    const binary = join(entry, `binary.${backend.target(arch).extension}`);
    const found = await this.#keeping(() => {
      if (unlessMissing(() => Deno.statSync(this.dir))?.isDirectory === false) {
        throw new Error("it is not a folder");
      }
      demandPrivate(this.dir);
      demandPrivate(entry);
      return readEntry(entry, binary);
    }).catch((error) => {
      if (!(error instanceof DamagedEntry) || !mayBuild) throw error;
      this.options.note?.(
        `The cached kernel in ${entry} is built again: ${error.why}`,
      );
      return undefined;
    });
    if (found) return found;
    if (!mayBuild) {
      throw new CaseError(
        "compile",
        `No prebuilt binary of ${source} for ${arch} in ${
          other ?? this.dir
        }: build it on a machine with a compiler, or leave out --prebuilt`,
      );
    }
    return await this.#make(build, backend, { arch, entry, binary });
  }

  /** Compiles `build` into the folder `entry`. */
  async #make(
    build: Build,
    backend: Backend,
    { arch, entry, binary }: { arch: string; entry: string; binary: string },
  ): Promise<Entry> {
    const source = basename(fileURLToPath(build.source));
    const compiler = backend.compiler(arch, build);
    const draft = this.#keepingSync(() => {
      privateFolder(this.dir);
      return claimFolder(".making-", this.dir);
    });
    try {
      const temporary = join(draft.path, basename(entry));
      this.#keepingSync(() => Deno.mkdirSync(temporary, { mode: 0o700 }));
      const made = join(temporary, basename(binary));
      const log = await this.#compile(
        compiler.compile(build, made),
        { draft: draft.path, logTo: `${entry}.log` },
      );
      const bytes = await Deno.readFile(made).catch(() => undefined);
      if (!bytes?.length) {
        throw new CaseError(
          "compile",
          `Cannot compile ${source}: ${compiler.signature} reported success and wrote no binary; use another compiler`,
        );
      }
      const manifest: Manifest = {
        source,
        defines: build.defines,
        arch,
        flags: [...backend.target(arch).flags, ...build.flags ?? []],
        compiler: compiler.signature,
        binaryHash: hashOf(bytes),
      };
      await this.#keeping(async () => {
        await Deno.copyFile(
          build.source,
          join(temporary, `source${extname(source)}`),
        );
        await Deno.writeTextFile(join(temporary, "log.txt"), log);
        await Deno.writeTextFile(
          join(temporary, "manifest.json"),
          JSON.stringify(seal(manifest), null, 2) + "\n",
        );
        await moveInto(temporary, entry, binary);
      });
      // Where another process was first, its binary is there: no compiler writes the same bytes
      // each time.
      const kept = await this.#keeping(() => readEntry(entry, binary));
      if (kept === undefined) {
        throw new DamagedEntry(entry, "its manifest is gone");
      }
      return kept;
    } finally {
      this.#keepingSync(() => draft[Symbol.dispose]());
    }
  }

  /** Waits for the compiler's log; that of a failure is kept at `logTo`. */
  async #compile(
    log: Promise<string>,
    { draft, logTo }: { readonly draft: string; readonly logTo: string },
  ): Promise<string> {
    try {
      return await log;
    } catch (error) {
      if (!(error instanceof CaseError)) {
        throw isRefusal(error) ? this.#unkept(error) : error;
      }
      const { message } = error;
      this.#keepingSync(() => assertRoom(draft, `${message}\n${error.cause}`));
      if (typeof error.cause !== "string") throw error;
      const { cause } = error;
      await this.#keeping(() => Deno.writeTextFile(logTo, cause));
      throw new CaseError(error.failure, `${error.message} (log: ${logTo})`, {
        cause,
      });
    }
  }

  /** Does `work` in the folder. @throws {UserError} If the system refuses something. */
  async #keeping<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#unkept(error);
    }
  }

  #keepingSync<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#unkept(error);
    }
  }

  #unkept(error: unknown): unknown {
    if (error instanceof CaseError || error instanceof UserError) return error;
    return new UserError(
      `Cannot keep kernels in ${this.dir}: ${
        errorText(error)
      }; make room or make the folder writable, or name another with --kernel-cache DIR`,
    );
  }
}

/** Hash of `text` as it is compiled. */
function hashFor(
  build: Build,
  backend: Backend,
  arch: string,
  text: string,
): string {
  const { flags } = backend.target(arch);
  const how = JSON.stringify([
    ...[flags, Object.entries(build.defines).toSorted()],
    ...optionsText(build),
  ]);
  return hashOf(backend.name, arch, how, text);
}

/** Characters of a source's name in that of its entry: a name has at most 255 bytes. */
const LONGEST_STEM = 60;

/** What systems say of such disks, in the logs of tools. */
const REFUSED =
  /No space left on device|Read-only file system|Disk quota exceeded|File too large|Cannot create temporary file/;

/** Bytes that a nearly full disk does not take. */
const ROOM = 1 << 20;

/**
 * Makes sure that `folder` and the system's temporary files had room for a tool that failed.
 *
 * @param log What the tool said.
 * @throws {Error} With the system's reason, where a file of 1 MiB cannot be written, or with the
 * line of the log that says so.
 * @throws {UserError} Where there is no place for temporary files.
 */
function assertRoom(folder: string, log: string): void {
  using temporary = makeTemporary("mnkbench-room-");
  for (const where of [folder, temporary.path]) {
    const path = join(where, "room");
    try {
      Deno.writeFileSync(path, new Uint8Array(ROOM));
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      // Nobody asked for that file.
      throw new Error(cause.message.replace(/: writefile .*/, ""), { cause });
    }
    removeIfThere(path);
  }
  const line = log.split("\n").find((text) => REFUSED.test(text));
  if (line !== undefined) throw new Error(line.trim());
}

/** Returns whether `error` says that the operating system refused something. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}
