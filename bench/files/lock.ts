/**
 * Locks files and folders among processes, also of other hosts that share the file system, and
 * removes what processes left that have ended. The operating system unlocks what a process has
 * when it ends, however it ends.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";
import {
  onDisk,
  removeIfThere,
  saidBy,
  unlessMissing,
  unwritable,
} from "./disk.ts";
import { dirname, join, resolve } from "node:path";

/** The file that a folder's owner or writer has locked, in the folder. */
const LOCK = ".lock";

/** A locked file, which is there as long as it is locked or waited for. */
class Lock implements Disposable {
  constructor(readonly path: string, readonly file: Deno.FsFile) {}

  /**
   * Whether the file is still the one at the path. Its last owner may have removed it between
   * opening and locking.
   */
  get isThere(): boolean {
    // Opened again rather than looked at, whose answer a network file system may remember.
    using there = unlessMissing(() => Deno.openSync(this.path));
    return there?.statSync().ino === this.file.statSync().ino;
  }

  [Symbol.dispose](): void {
    using file = this.file;
    unlessMissing(() => Deno.removeSync(this.path));
    file.unlockSync();
  }
}

/**
 * Opens the lock at `path` for those who write `target`.
 *
 * @throws {UserError} Where something else is there: opening a pipe would never end.
 */
function opened(path: string, target: string): Deno.FsFile {
  demandLock(path, target);
  return Deno.openSync(path, { write: true, create: true });
}

/**
 * Makes sure that the lock at `path` can be opened, for those who write `target`.
 *
 * @throws {UserError} Where something else than a regular file is there: what a link leads to is not
 * ours to write.
 */
export function demandLock(path: string, target: string): void {
  const what = strangeAt(path);
  if (what === undefined) return;
  throw new UserError(
    `Cannot write ${target}: its lock ${path} is ${what}; remove that, then give the same command again`,
  );
}

/** Returns what is at `path` where it is neither missing nor a regular file. */
function strangeAt(path: string): string | undefined {
  const info = unlessMissing(() => Deno.lstatSync(path));
  return info && nonFileKind(info);
}

/** Returns what has `info` where it is no regular file. */
export function nonFileKind(info: Deno.FileInfo): string | undefined {
  if (info.isFile) return undefined;
  if (info.isDirectory) return "a folder";
  return info.isSymlink ? "a link" : "not a regular file";
}

/**
 * Waits for the lock of the file at `path`, which is another file beside it: whoever waits
 * for the file itself would lock what was replaced. Its folder is made where it is missing.
 *
 * @throws {UserError} Where the disk refuses.
 */
export function lockFile(path: string, waiting: Waiting = {}): Disposable {
  return onDisk(path, () => {
    // It may be that of kernels, which nobody else may write to.
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    while (true) {
      const lock = new Lock(`${path}.lock`, opened(`${path}.lock`, path));
      if (!lockSoon(lock.file, waiting)) {
        (waiting.note ?? noteWait)(waitLine(lock.path));
        lock.file.lockSync(true);
      }
      if (lock.isThere) return lock;
      lock.file.close();
    }
  });
}

/** Locks `file` unless another process keeps it too long. */
function lockSoon(
  file: Deno.FsFile,
  { afterMs = SOON_MS }: Waiting,
): boolean {
  const until = performance.now() + afterMs;
  while (!file.tryLockSync(true)) {
    if (performance.now() > until) return false;
    Atomics.wait(NEVER, 0, 0, TRY_MS);
  }
  return true;
}

/** Milliseconds of a wait that needs no word. */
const SOON_MS = 2_000;
/** Milliseconds between two tries of a lock. */
const TRY_MS = 10;
/** Waited for in vain. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

let noteWait: (line: string) => void = () => {};

/** Has `note` take the lines about locks that are not free soon, where a call names no other. */
export function onWait(note: (line: string) => void): void {
  noteWait = note;
}

function waitLine(path: string): string {
  return `Waiting for another process, which has locked ${path}`;
}

/** What is called where a lock is not free soon. */
export interface Waiting {
  /** Takes a line that names the lock. */
  note?(line: string): void;
  /** Milliseconds before the line. @default {2000} */
  readonly afterMs?: number;
}

/**
 * Waits for the lock of a folder without blocking the process.
 *
 * @throws {UserError} Where the disk refuses.
 */
export function lockFolder(
  folder: string,
  waiting: Waiting = {},
): Promise<Disposable> {
  return lockIn(folder, waiting, (path) => opened(path, folder));
}

/** @param open Opens the lock at a path; nothing where it is to be tried again. */
async function lockIn(
  folder: string,
  waiting: Waiting,
  open: (path: string) => Deno.FsFile | undefined,
): Promise<Disposable> {
  const path = join(folder, LOCK);
  const timer = setTimeout(
    () => (waiting.note ?? noteWait)(waitLine(path)),
    waiting.afterMs ?? SOON_MS,
  );
  try {
    while (true) {
      const file = open(path);
      if (file === undefined) continue;
      const lock = new Lock(path, file);
      await lock.file.lock(true);
      if (lock.isThere) return lock;
      lock.file.close();
    }
  } catch (cause) {
    throw unwritable(folder, cause);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits for the locks of `paths`, folders that are made where they are missing. Disposing removes
 * those that were made and in which there is nothing.
 *
 * @throws {UserError} Where the disk refuses.
 */
export async function lockFolders(
  paths: Iterable<string>,
  waiting: Waiting = {},
): Promise<Disposable> {
  using scope = new DisposableStack();
  // In one order, or two programs might wait for one another.
  for (const path of [...new Set(paths)].toSorted()) {
    for (const missing of onDisk(path, () => missingTo(path))) {
      scope.defer(() => removeIfEmpty(missing));
    }
    scope.use(
      await lockIn(path, waiting, (lock) => {
        Deno.mkdirSync(path, { recursive: true });
        // Whoever made the folder may have removed it again.
        return unlessMissing(() => opened(lock, path));
      }),
    );
  }
  return scope.move();
}

/** Returns the folders that are missing at `path` and above it, the outermost first. */
function missingTo(path: string): readonly string[] {
  const missing: string[] = [];
  let at = resolve(path);
  while (unlessMissing(() => Deno.lstatSync(at)) === undefined) {
    missing.unshift(at);
    at = dirname(at);
  }
  return missing;
}

function removeIfEmpty(folder: string): void {
  try {
    Deno.removeSync(folder);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    // It has files, or somebody else removed it.
    if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
  }
}

/** A folder that one process has to itself. Dispose it to remove it with all that is in it. */
export interface ClaimedFolder extends Disposable {
  readonly path: string;
}

/**
 * Makes a folder that only this process uses, readable by nobody else, and removes those of
 * the same `prefix` whose processes have ended.
 *
 * @param root The folder for it; missing stands for that of the system's temporary files.
 * @throws The operating system's error, where it refuses.
 */
export function claimFolder(prefix: string, root?: string): ClaimedFolder {
  const options = { prefix, ...(root === undefined ? {} : { dir: root }) };
  while (true) {
    const path = Deno.makeTempDirSync(options);
    removeFolders(
      dirname(path),
      (name) => name.startsWith(prefix) && join(dirname(path), name) !== path,
    );
    const lock = unlessMissing(() => opened(join(path, LOCK), path));
    lock?.lockSync(true);
    // Another process may have taken it for a left one before it was locked.
    if (lock === undefined || !new Lock(join(path, LOCK), lock).isThere) {
      lock?.close();
      continue;
    }
    return {
      path,
      [Symbol.dispose]() {
        using _lock = lock;
        removeClaimed(path);
      },
    };
  }
}

/**
 * Makes a claimed folder among the system's temporary files.
 *
 * @throws {UserError} Where there is no place for them.
 */
export function makeTemporary(prefix: string): ClaimedFolder {
  try {
    return claimFolder(prefix);
  } catch (cause) {
    throw new UserError(
      `Cannot make a temporary folder: ${
        saidBy(cause)
      }; make the folder that TMPDIR names writable, or set TMPDIR to another`,
    );
  }
}

/** Removes the claimed folders in `folder` that `matches` and whose processes have ended. */
function removeFolders(
  folder: string,
  matches: (name: string) => boolean,
): void {
  for (const { name, isDirectory } of [...Deno.readDirSync(folder)]) {
    if (!isDirectory || !matches(name)) continue;
    const path = join(folder, name);
    ifEnded(join(path, LOCK), true, () => removeClaimed(path));
  }
}

/**
 * Codes of errors with which a folder stays: another process has made a new lock there, or this one
 * cannot open another file, as after a kernel that leaves them open.
 */
const LEFT = ["ENOTEMPTY", "EMFILE", "ENFILE"];

/** Removes a folder whose lock this process has, or leaves it to who claims another. */
function removeClaimed(path: string): void {
  try {
    removeIfThere(path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : "";
    if (!LEFT.includes(`${code}`)) throw cause;
  }
}

/** Removes the files in `folder` that `matches` and whose writers have ended. */
export function removeFiles(
  folder: string,
  matches: (name: string) => boolean,
): void {
  for (const { name, isFile } of [...Deno.readDirSync(folder)]) {
    if (!isFile || !matches(name)) continue;
    const path = join(folder, name);
    ifEnded(path, false, () => removeIfThere(path));
  }
}

/** Runs `work` while it has the lock of the file at `path`, unless another process has it. */
function ifEnded(path: string, create: boolean, work: () => void): void {
  try {
    // None of ours: opening a pipe would never end.
    if (strangeAt(path) !== undefined) return;
    using file = Deno.openSync(path, { write: true, create });
    if (file.tryLockSync(true)) work();
  } catch (cause) {
    // Another process may remove it too; what is another user's is left to them.
    if (cause instanceof Deno.errors.NotFound) return;
    if (cause instanceof Deno.errors.PermissionDenied) return;
    throw cause;
  }
}
