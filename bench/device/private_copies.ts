/**
 * Copies binaries before they are loaded, so that nothing changes them afterwards.
 *
 * @module
 */

import {
  type ClaimedFolder,
  claimFolder,
  makeTemporary,
} from "../files/lock.ts";
import { basename, dirname, extname, join } from "node:path";

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
