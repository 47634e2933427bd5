/**
 * Keeps two runs of a host from measuring on one device: a lock for each, in a folder that all
 * users share. The operating system gives it back when its owner ends, however that ends.
 *
 * @module
 */

import { userInfo } from "node:os";
import { saidBy, unlessMissing } from "../files/disk.ts";
import { nonFileKind } from "../files/lock.ts";
import { escapeControls } from "../files/terminal_text.ts";

/** Of all users of a host, whatever `TMPDIR` says. */
const FOLDER = "/tmp";
/** Milliseconds between two tries. */
const TRY_MS = 200;
/** Characters of a line about who has the device. */
const LINE = 300;

/** Options of {@linkcode lockDevice}. */
export interface DeviceLocking {
  /** Takes a line: who has the device, each time that it is another, or why it cannot be locked. */
  note(line: string): void;
  /** Aborting it ends the wait. */
  readonly signal: AbortSignal;
  /** What this process measures, for others that wait. */
  readonly what: string;
  /** Folder of the locks. @default {"/tmp"} */
  readonly folder?: string;
}

/**
 * Waits for the device `id`, which no other on this host is called.
 *
 * @returns The lock; nothing where the wait was ended. Where there can be no lock it is said, and
 * disposing what is returned does nothing.
 */
export async function lockDevice(
  id: string,
  { note, signal, what, folder = FOLDER }: DeviceLocking,
): Promise<Disposable | undefined> {
  const path = `${folder}/mnkbench-${id.replaceAll(/[^\w.-]/g, "_")}.lock`;
  const wait = (who: string) =>
    note(`Waiting for ${id}, which another run has: ${who}`);
  let lock: Lock | undefined;
  try {
    lock = await hold(path, signal, wait);
  } catch (cause) {
    note(
      `Cannot lock ${id}: ${
        saidBy(cause)
      }; see that no other run measures on it`,
    );
    return { [Symbol.dispose]() {} };
  }
  if (lock === undefined) return undefined;
  const since = new Date().toISOString();
  // What others are told is not worth a run: a disk may be full.
  try {
    lock.write(
      `process ${Deno.pid} of ${userName()}, which measures ${what} since ${since}\n`,
    );
  } catch (cause) {
    note(`Cannot name this run to others that want ${id}: ${saidBy(cause)}`);
  }
  return {
    [Symbol.dispose]() {
      using _ = lock.file;
      lock.write("");
    },
  };
}

/**
 * Waits for the lock at `path`; `wait` is told who has it.
 *
 * @returns Nothing where `signal` ended the wait.
 * @throws Where there can be no lock.
 */
async function hold(
  path: string,
  signal: AbortSignal,
  wait: (who: string) => void,
): Promise<Lock | undefined> {
  let said: string | undefined;
  let before: string | undefined;
  while (true) {
    using undo = new DisposableStack();
    const lock = open(path);
    undo.use(lock.file);
    while (!lock.file.tryLockSync(true)) {
      const holder = holderOf(lock.file);
      // It changes where several wait. Who has just got the lock may still have to write.
      if (holder !== said && (holder !== "" || before === "")) {
        wait(holder || "it does not say which");
        said = holder;
      }
      before = holder;
      await new Promise((resolve) => setTimeout(resolve, TRY_MS));
      if (signal.aborted) return undefined;
    }
    // It may have been removed, as old files are: then others lock a new one.
    const there = unlessMissing(() => Deno.lstatSync(path));
    if (there?.ino === lock.file.statSync().ino) {
      undo.move();
      return lock;
    }
  }
}

/** The user's name; of one that has none, as in a container, the number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    return `user ${Deno.uid()}`;
  }
}

/** The open file of a lock. It stays when the lock is given back: others may wait for it. */
interface Lock {
  readonly file: Deno.FsFile;
  /** Replaces its text, unless that is another user's to write. */
  write(text: string): void;
}

/** @throws Where the file is not there and cannot be made, or is no file. */
function open(path: string): Lock {
  const info = unlessMissing(() => Deno.lstatSync(path));
  if (info === undefined) {
    const made = { write: true, createNew: true, read: true };
    try {
      const file = Deno.openSync(path, made);
      // For all users, whatever the mask of this one.
      Deno.chmodSync(path, 0o666);
      return { file, write: (text) => rewrite(file, text) };
    } catch (cause) {
      // Another process was faster.
      if (!(cause instanceof Deno.errors.AlreadyExists)) throw cause;
      return open(path);
    }
  }
  // Opening a pipe would never end, and a link may lead to any file.
  const what = nonFileKind(info);
  if (what !== undefined) throw new Error(`${path} is ${what}`);
  try {
    const file = Deno.openSync(path, { read: true, write: true });
    const isSame = file.statSync().ino === info.ino && info.nlink === 1;
    return { file, write: (text) => isSame && rewrite(file, text) };
  } catch (cause) {
    if (!(cause instanceof Deno.errors.PermissionDenied)) throw cause;
    return { file: Deno.openSync(path), write() {} };
  }
}

function rewrite(file: Deno.FsFile, text: string): void {
  file.truncateSync();
  file.seekSync(0, Deno.SeekMode.Start);
  file.writeSync(new TextEncoder().encode(text));
}

/** What the holder of a lock says about itself in `file`; empty where it has said nothing. */
function holderOf(file: Deno.FsFile): string {
  const bytes = new Uint8Array(LINE);
  file.seekSync(0, Deno.SeekMode.Start);
  const length = file.readSync(bytes) ?? 0;
  return escapeControls(
    new TextDecoder().decode(bytes.subarray(0, length)).split("\n")[0]!,
  );
}
