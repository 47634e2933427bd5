/**
 * Writing to disks that may be full, read-only or about to lose power.
 *
 * @module
 */

import { UserError } from "./errors.ts";

/**
 * What `work` gives; a refusal by the operating system becomes a line that a person can
 * act on.
 *
 * @param path What was being written.
 * @throws {UserError} Where `work` throws anything.
 */
export function onDisk<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(
      `Cannot write ${path}: ${said}; what was measured before is kept: make room or make the folder writable, then give the same command again to go on`,
    );
  }
}

/**
 * Puts `content` at `path`, so that whoever looks finds the old content or the new.
 *
 * @throws {UserError} Where the disk refuses; the old content is still there.
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
): void {
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  // In the same folder: a rename across file systems is a copy.
  const draft = `${path}.${Deno.pid}.tmp`;
  onDisk(path, () => {
    try {
      using file = Deno.openSync(draft, {
        write: true,
        create: true,
        truncate: true,
      });
      for (let at = 0; at < bytes.length;) {
        at += file.writeSync(bytes.subarray(at));
      }
      file.syncSync();
      Deno.renameSync(draft, path);
    } catch (cause) {
      removeIfThere(draft);
      throw cause;
    }
  });
}

/**
 * Makes sure, before long work, that {@linkcode replaceFile} can put its outcome at `path`.
 *
 * @throws {UserError} Where it cannot.
 */
export function assertWritable(path: string): void {
  const draft = `${path}.${Deno.pid}.tmp`;
  onDisk(path, () => {
    if (unlessMissing(() => Deno.statSync(path))?.isDirectory) {
      throw new UserError(
        `Cannot write ${path}: it is a folder; name a file in it`,
      );
    }
    Deno.openSync(draft, { write: true, create: true }).close();
    removeIfThere(draft);
  });
}

/**
 * The bytes at `path`, or nothing where there is no file.
 *
 * @throws {UserError} Where there is one that cannot be read.
 */
export function readBytesIfThere(
  path: string,
): Uint8Array<ArrayBuffer> | undefined {
  try {
    return unlessMissing(() => Deno.readFileSync(path));
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(
      `Cannot read ${path}: ${said}; make it readable or move it away`,
    );
  }
}

/** Bytes of the longest text that V8 can hold. */
const MOST_TEXT = 2 ** 29 - 24;

/**
 * The text at `path`, or nothing where there is no file.
 *
 * @throws {UserError} Where there is one that cannot be read, or is too long for a text.
 */
export function readIfThere(path: string): string | undefined {
  const size = unlessMissing(() => Deno.statSync(path))?.size ?? 0;
  if (size > MOST_TEXT) {
    throw new UserError(
      `Cannot read ${path}: its ${size} bytes are more than a text may have; move it away`,
    );
  }
  const bytes = readBytesIfThere(path);
  return bytes && new TextDecoder().decode(bytes);
}

/** Removes a file or a whole folder. */
export function removeIfThere(path: string): void {
  unlessMissing(() => Deno.removeSync(path, { recursive: true }));
}

/** What `work` gives, or nothing where it finds no file. */
export function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw cause;
  }
}
