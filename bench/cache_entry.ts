/**
 * One entry of the kernel cache: a folder with a source, its binary, the compiler's log and
 * a manifest.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
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

/** What `manifest.json` says of the binary beside it. */
export interface Manifest {
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

/** The entry at `entry`, if it is whole. @throws {CaseError} If it is corrupt. */
export async function readEntry(
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
export async function moveInto(from: string, to: string): Promise<void> {
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
