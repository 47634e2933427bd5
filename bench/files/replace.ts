/**
 * Replaces files as a whole, and keeps what is written within the folder that was named.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import { onDisk, readBytesIfThere, unlessMissing } from "./disk.ts";
import { removeFiles } from "./lock.ts";
import { writeAll } from "./write_all.ts";
import {
  basename,
  dirname,
  isAbsolute,
  join,
  relative,
  resolve,
} from "node:path";

/**
 * Puts `content` at `path`, so that whoever looks finds the old content or the new. Where
 * `path` is a link it stays one, and what it points at is replaced.
 *
 * @throws {UserError} Where the disk refuses, and where something else than a regular file
 * is there; what is there stays.
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
): void {
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  onDisk(path, () => {
    using draft = new Draft(targetOf(path));
    writeAll(draft.file, bytes);
    draft.keep();
  });
}

/**
 * Puts at `path` what `write` writes to the file that it is given, as {@linkcode replaceFile}
 * does.
 *
 * @throws {UserError} As {@linkcode replaceFile}. What `write` throws is passed on.
 */
export async function replaceBy(
  path: string,
  write: (draft: string) => Promise<void>,
): Promise<void> {
  using draft = onDisk(path, () => new Draft(targetOf(path)));
  await write(draft.path);
  onDisk(path, () => draft.keep());
}

/**
 * Makes sure, before long work, that {@linkcode replaceFile} can put its outcome at `path`.
 *
 * @throws {UserError} Where it cannot.
 */
export function assertWritable(path: string): void {
  onDisk(path, () => {
    using _draft = new Draft(targetOf(path));
  });
}

/** A kind of output file. */
export interface FileKind {
  /** Matches the first {@linkcode HEAD} bytes of each such file. */
  readonly head: RegExp;
  /** Its name in errors, such as "page of results". */
  readonly name: string;
}

/** Bytes that tell the kind of a file. */
const HEAD = 2048;

/**
 * Refuses to replace a file of another kind: a mistyped path must not cost results.
 *
 * @throws {UserError} Where a file with content is there that is no earlier one of `kind`.
 */
export function refuseOther(path: string, { head, name }: FileKind): void {
  const info = onDisk(path, () => unlessMissing(() => Deno.statSync(path)));
  if (!info?.isFile || info.size === 0) return;
  const bytes = readBytesIfThere(path) ?? new Uint8Array();
  if (head.test(new TextDecoder().decode(bytes.subarray(0, HEAD)))) return;
  throw new UserError(
    `Cannot write ${path}: the file there is not a ${name}; name another, or move it away`,
  );
}

/** What follows a file's name in those of its drafts: also, up to version 0.1, a process. */
const DRAFT = /^\.[0-9a-f]+\.tmp$/;

/**
 * A locked file that is to replace another. Disposing removes it, unless it was kept.
 *
 * It is in the same folder, as a rename across file systems is a copy.
 */
class Draft implements Disposable {
  readonly path: string;
  readonly file: Deno.FsFile;
  #isKept = false;

  /** Removes what was left of drafts of `target`, and makes one. */
  constructor(readonly target: string) {
    const [folder, name] = [dirname(target), basename(target)];
    removeFiles(
      folder,
      (other) => other.startsWith(name) && DRAFT.test(other.slice(name.length)),
    );
    while (true) {
      const random = crypto.getRandomValues(new Uint8Array(8)).toHex();
      this.path = `${target}.${random}.tmp`;
      this.file = Deno.openSync(this.path, { write: true, createNew: true });
      this.file.lockSync(true);
      // Another process may have taken it for a left one before it was locked.
      if (unlessMissing(() => Deno.lstatSync(this.path))) return;
      this.file.close();
    }
  }

  /** Puts it where its target is. */
  keep(): void {
    this.file.syncSync();
    Deno.renameSync(this.path, this.target);
    this.#isKept = true;
  }

  [Symbol.dispose](): void {
    using _file = this.file;
    if (!this.#isKept) unlessMissing(() => Deno.removeSync(this.path));
  }
}

/** Links that lead to a file at most: those of a circle lead to none. */
const MOST_LINKS = 40;

/**
 * The path, behind all links, that a file at `path` has or would have: a rename would
 * replace the link, and as root even a device.
 *
 * @throws {UserError} Where something else than a regular file is there.
 */
function targetOf(path: string): string {
  const { target, info } = behindLinks(path);
  const refuse = (why: string): never => {
    throw new UserError(`Cannot write ${path}: ${why}`);
  };
  if (info === undefined || info.isFile) return target;
  return refuse(
    info.isDirectory
      ? "it is a folder; name a file in it"
      : "it is not a regular file; name another",
  );
}

/**
 * Follows `path` as long as it is a link.
 *
 * @returns The path that is none, and what is there, if anything.
 */
function behindLinks(
  path: string,
): { readonly target: string; readonly info: Deno.FileInfo | undefined } {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const info = unlessMissing(() => Deno.lstatSync(target));
    if (!info?.isSymlink) return { target, info };
    // From where the link really lies, since its folder may be reached by a link too.
    target = resolve(
      Deno.realPathSync(dirname(target)),
      Deno.readLinkSync(target),
    );
  }
  throw new UserError(
    `Cannot write ${path}: its links lead in a circle; name another`,
  );
}

/**
 * Returns the path of `parts` below `folder`, for a file or folder that is to be written.
 *
 * @example
 * ```ts
 * import { contained } from "./replace.ts";
 * import { strictEqual, throws } from "node:assert/strict";
 *
 * strictEqual(contained("results", "cpu", "s.csv"), "results/cpu/s.csv");
 * throws(() => contained("results", "../s.csv"), /it is outside of results/);
 * ```
 *
 * @throws {UserError} Where it is not below it, by its name or by a link.
 */
export function contained(folder: string, ...parts: readonly string[]): string {
  const path = join(folder, ...parts);
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot write ${path}: ${why} ${folder}, the folder for what is written; remove the link, or name the folder that it leads to`,
    );
  };
  if (!isWithin(resolve(path), resolve(folder))) {
    throw new UserError(
      `Cannot write ${path}: it is outside of ${folder}, the folder for what is written; give it another name`,
    );
  }
  const real = onDisk(path, () => [realOf(path), realOf(folder)] as const);
  return isWithin(...real) ? path : refuse("a link leads out of");
}

function isWithin(path: string, folder: string): boolean {
  const inner = relative(folder, path);
  return inner !== "" && inner !== ".." && !inner.startsWith("../") &&
    !isAbsolute(inner);
}

/** The path without links that a file at `path` has or would have. */
function realOf(path: string): string {
  const { target, info } = behindLinks(resolve(path));
  if (info !== undefined || dirname(target) === target) {
    return Deno.realPathSync(target);
  }
  return join(realOf(dirname(target)), basename(target));
}
