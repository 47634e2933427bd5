/**
 * Locks files and folders that several processes change. The operating system gives a lock back when its owner
 * ends, however that ends, so that no lock is stale.
 *
 * @module
 */

import { dirname } from "node:path";
import { onDisk } from "./disk.ts";

/**
 * Waits for the lock of the file at `path`, which is another file beside it: whoever waits
 * for the file itself would lock what was replaced. Its folder is made where it is missing.
 *
 * @throws {UserError} Where the disk refuses.
 */
export function lockFile(path: string): Disposable {
  return onDisk(path, () => {
    Deno.mkdirSync(dirname(path), { recursive: true });
    const file = Deno.openSync(`${path}.lock`, { write: true, create: true });
    file.lockSync(true);
    return file;
  });
}

/** Waits for the lock of a folder without blocking the process. @throws {UserError} */
export async function lockFolder(path: string): Promise<Disposable> {
  const folder = onDisk(path, () => Deno.openSync(path));
  await folder.lock(true);
  return folder;
}
