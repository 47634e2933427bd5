/**
 * Locks the folder of an unfinished run for one process.
 *
 * @module
 */

import {
  onDisk,
  readIfThere,
  removeIfThere,
  unlessMissing,
} from "../files/disk.ts";
import { UserError } from "../model/errors.ts";
import { type Clock, realClock } from "./clock.ts";

/** A locked folder. */
export class RunFolder implements Disposable {
  /** The path of the folder. */
  readonly path: string;
  readonly #lock: Disposable;

  /**
   * Makes and locks the folder `name` under `root`.
   *
   * @param clock Measures how long it waits for the lock.
   * @throws {UserError} Where a living process has it, or the disk refuses.
   */
  constructor(root: string, name: string, clock: Clock = realClock) {
    this.path = `${root}/${name}`;
    this.#lock = lockFolder(this.path, clock);
    onDisk(root, () => {
      // What a process left that was stopped while it removed its finished run.
      for (const entry of Deno.readDirSync(root)) {
        if (entry.name.startsWith(`${name}.finished-`)) {
          removeIfThere(`${root}/${entry.name}`);
        }
      }
    });
  }

  /** The path of a file in it. */
  file(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Removes all that is in it. */
  empty(): void {
    onDisk(this.path, () => {
      for (const { name } of Deno.readDirSync(this.path)) {
        if (name !== "lock") removeIfThere(this.file(name));
      }
    });
  }

  /** Removes and unlocks it. */
  finish(): void {
    // Renamed first: a folder that is half removed must not be taken for a run.
    const moved = `${this.path}.finished-${Deno.pid}`;
    onDisk(this.path, () => {
      Deno.renameSync(this.path, moved);
      removeIfThere(moved);
    });
  }

  /** Unlocks it. */
  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }
}

/**
 * Milliseconds for a process that was just forked to become another program: until then it
 * has the locks of the one that forked it, also those that this one has given back.
 */
const FORK_MS = 1_000;

function lockSoon(file: Deno.FsFile, clock: Clock): boolean {
  const until = clock.now() + FORK_MS;
  while (!file.tryLockSync(true)) {
    if (clock.now() > until) return false;
    clock.block(10);
  }
  return true;
}

/**
 * The lock of a folder. The operating system gives it back when its owner ends, however
 * that ends, so there is no stale lock to recognise.
 */
function lockFolder(folder: string, clock: Clock): Disposable {
  const path = `${folder}/lock`;
  return onDisk(folder, () => {
    while (true) {
      Deno.mkdirSync(folder, { recursive: true });
      const file = Deno.openSync(path, {
        create: true,
        read: true,
        write: true,
      });
      if (!lockSoon(file, clock)) {
        file.close();
        const pid = readIfThere(path)?.trim() || "unknown";
        throw new UserError(
          `Cannot write ${folder}: process ${pid} is at the same run; wait until it has ended, or end it, then give the same command again`,
        );
      }
      // Its last owner may have moved the folder away between opening and locking.
      const there = unlessMissing(() => Deno.statSync(path));
      if (there?.ino === file.statSync().ino) {
        file.truncateSync();
        file.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
        return file;
      }
      file.close();
    }
  });
}
