/**
 * Reads sources with what they include, for the hashes of kernels.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";
import { unlessMissing } from "../files/disk.ts";
import { codeOf, errorText } from "./cache_entry.ts";
import type { Build } from "./device.ts";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A source and its includes. */
export interface SourceText {
  readonly text: string;
  /** The same without comments and blanks. */
  readonly code: string;
}

const INCLUDE = /^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)/gm;

/** Reads each source once. */
export class SourceTexts {
  readonly #known = new Map<string, SourceText>();

  /**
   * Reads the source of `build` with every file that it includes by a quoted name, and every one of
   * the folders that `build` names.
   *
   * @throws {CaseError} `compile`, where the source is missing, or a file cannot be read.
   */
  of({ source, includes = [] }: Build): SourceText {
    const key = [source.href, ...includes].join(" ");
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    try {
      const folders = includes.map(folderUrl);
      const read = readAll(fileURLToPath(source), folders);
      this.#known.set(key, read);
      return read;
    } catch (error) {
      throw new CaseError(
        "compile",
        `Cannot read the kernel source ${source}: ${
          errorText(error)
        }; name a file, as in new URL("./k.c", import.meta.url)`,
        { cause: error },
      );
    }
  }
}

/** Returns the URL of a folder with its last slash, which relative URLs need. */
function folderUrl(folder: URL): URL {
  return folder.href.endsWith("/") ? folder : new URL(`${folder.href}/`);
}

function readAll(source: string, folders: readonly URL[]): SourceText {
  const parts: string[] = [];
  const code: string[] = [];
  const seen = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    demandEnd(file);
    if (file.endsWith(".cubin")) {
      // Each byte is a character.
      const text = new TextDecoder("latin1").decode(Deno.readFileSync(file));
      for (const list of [parts, code]) list.push(text);
      return;
    }
    const text = Deno.readTextFileSync(file);
    parts.push(text);
    const own = codeOf(text, file);
    code.push(own);
    // Includes in comments are not followed.
    for (const [, quoted, angled] of own.matchAll(INCLUDE)) {
      const beside = quoted === undefined ? [] : [pathToFileURL(file)];
      const places = [...beside, ...folders]
        .map((from) => fileURLToPath(new URL((quoted ?? angled)!, from)));
      // A missing file may be found by the compiler, or be excluded by a condition.
      const found = places.find(isThere);
      if (found !== undefined) visit(found);
    }
  };
  visit(source);
  return { text: parts.join("\0"), code: code.join("\0") };
}

/** @throws {Error} Where `file` is a device or a pipe, which may never end. */
function demandEnd(file: string): void {
  const { isFile, isDirectory } = Deno.statSync(file);
  if (isFile || isDirectory) return;
  throw new Error(`${file} is not a regular file`);
}

function isThere(path: string): boolean {
  try {
    return unlessMissing(() => Deno.statSync(path))?.isDirectory === false;
  } catch (error) {
    // A part of the path is a file.
    if (error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}
