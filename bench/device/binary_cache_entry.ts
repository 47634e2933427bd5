/**
 * One entry of the kernel cache: a folder with a source, its binary, the compiler's log and
 * a manifest.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { CaseError } from "../model/errors.ts";

/** A binary ready to be loaded. */
export interface Built {
  /** The path of the binary. */
  readonly path: string;
  /** Hash of source, includes, flags, constants and architecture. */
  readonly sourceHash: string;
  readonly binaryHash: string;
  /** The compiler that made it, e.g. `nvrtc 13.0`. */
  readonly compiler: string;
}

/** The contents of `manifest.json` beside a binary. */
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

/**
 * The entry at `entry`, or nothing where there is none or a folder without a manifest.
 *
 * @throws {CaseError} `compile`, if it is corrupt or cannot be read.
 */
export async function readEntry(
  entry: string,
  binary: string,
): Promise<Omit<Built, "sourceHash"> | undefined> {
  const corrupt = (why: string) =>
    new CaseError(
      "compile",
      `Cannot use the cached kernel in ${entry}: ${why}; remove it with \`rm -r ${entry}\``,
    );
  let text: string;
  try {
    text = await Deno.readTextFile(join(entry, "manifest.json"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    // The folder's matter, not this entry's.
    if (error instanceof Deno.errors.PermissionDenied) throw error;
    throw corrupt(errorText(error));
  }
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw corrupt(`its manifest is not JSON (${errorText(error)})`);
  }
  if (!describesBinary(manifest)) {
    throw corrupt("its manifest does not describe a binary");
  }
  const bytes = await Deno.readFile(binary).catch((error) => {
    throw corrupt(errorText(error));
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

function describesBinary(
  value: unknown,
): value is Pick<Manifest, "binaryHash" | "compiler"> {
  return typeof value === "object" && value !== null &&
    "binaryHash" in value && typeof value.binaryHash === "string" &&
    "compiler" in value && typeof value.compiler === "string";
}

/**
 * Renames `from` to `to`; where another process was first, its entry stays. A folder
 * without a manifest is no entry, and is replaced.
 */
export async function moveInto(from: string, to: string): Promise<void> {
  try {
    return await Deno.rename(from, to);
  } catch (error) {
    const there = await Deno.lstat(to).catch(() => undefined);
    if (!there?.isDirectory) throw error;
    const taken = await Deno.lstat(join(to, "manifest.json")).then(
      () => true,
      () => false,
    );
    if (taken) return;
  }
  await Deno.remove(to, { recursive: true });
  await Deno.rename(from, to);
}

/** Returns the message of `error`, on one line. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : `${error}`;
  return text.split("\n")[0]!;
}
