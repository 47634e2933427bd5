/**
 * Reads sources with what they include, for the hashes of kernels.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";
import { unlessMissing } from "../files/disk.ts";
import { hashOf } from "../files/hash.ts";
import { codeOf, errorText } from "./cache_entry.ts";
import type { Build } from "./device.ts";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A source and its includes. */
export interface SourceText {
  readonly text: string;
  /** The same without comments and blanks. */
  readonly code: string;
}

/** A directive with the name of a file. */
const INCLUDE =
  /^\s*(?:#|%:)\s*(?:include(?:_next)?|import|embed)\s*(?:"([^"\n]+)"|<([^>\n]+)>)/gm;
/** A macro that may be the name of a file. */
const NAMED = /^\s*(?:#|%:)\s*define\s+\w+\s+(?:"([^"\n]+)"|<([^>\n]+)>)\s*$/gm;
/** A file that the assembler reads. */
const ASSEMBLED = /\.incbin\s+\\?"([^"\\]+)/g;

/** Reads each source once. */
export class SourceTexts {
  readonly #known = new Map<string, SourceText>();

  /**
   * Reads the source of `build` with every file that it includes by a quoted name, every one of
   * the folders that `build` names, by itself or by `-I`, and the files that its flags name. Left out
   * are headers of the system: of `-isystem`, and of what the environment names, such as `CPATH`.
   *
   * @throws {CaseError} `compile`, where the source is missing, or a file cannot be read.
   */
  of({ source, includes = [], flags = [], defines }: Build): SourceText {
    const values = [
      ...Object.values(defines).map(String),
      ...flags.flatMap((flag) => /^-D\w+=(.*)$/.exec(flag)?.[1] ?? []),
    ];
    const macros = values.filter((value) => /^["<]/.test(value))
      .map((value) => `#define _ ${value}`).join("\n");
    const key = JSON.stringify([source, includes, flags, macros]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    try {
      const named = namedIn(flags);
      const read = readAll(fileURLToPath(source), {
        folders: [
          ...includes.map((one) => fileURLToPath(one)),
          ...named.folders,
        ],
        files: named.files,
        inputs: named.inputs,
        macros,
      });
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

/** Flags of compilers with a folder of headers, and with a file, which may be the next flag. */
const FOLDER = /^(?:-I|-iquote|--include-path)=?(.*)$/;
const FILE = /^(?:-include|-imacros|--pre-include)=?(.*)$/;
/** A flag that is a file of its own, such as an object or a list of more flags. */
const INPUT = /^@?[\w./~].*(?:\.\w+|\/[^/]+)$/;

/** Returns the folders and files that `flags` name, relative to where compilers start. */
function namedIn(flags: readonly string[]): {
  readonly folders: readonly string[];
  /** Headers. */
  readonly files: readonly string[];
  /** Other files: objects, libraries. */
  readonly inputs: readonly string[];
} {
  const folders: string[] = [];
  const files: string[] = [];
  const inputs: string[] = [];
  for (const [i, flag] of flags.entries()) {
    const folder = FOLDER.exec(flag)?.[1];
    const file = FILE.exec(flag)?.[1];
    if (folder !== undefined) {
      folders.push(folder || (flags[i + 1] ?? "."));
    } else if (file !== undefined) files.push(file || (flags[i + 1] ?? ""));
    else if (INPUT.test(flag)) inputs.push(flag.replace(/^@/, ""));
  }
  return { folders, files, inputs };
}

function readAll(
  source: string,
  { folders, files, inputs, macros }: {
    readonly folders: readonly string[];
    readonly files: readonly string[];
    readonly inputs: readonly string[];
    /** Macros of the command line, as lines of C. */
    readonly macros: string;
  },
): SourceText {
  const parts: string[] = [];
  const code: string[] = [];
  const seen = new Set<string>();
  /** Visits the file that is called `name`, where one of `from` has it. */
  const find = (
    name: string,
    from: readonly string[],
    { isText = true, isWanted = isNoFolder } = {},
  ) => {
    const found = from.map((folder) => resolve(folder, name)).find(isWanted);
    // A missing file may be found by the compiler, or be excluded by a condition.
    if (found !== undefined) visit(found, isText);
  };
  const follow = (text: string, beside: string) => {
    const spliced = text.replaceAll("\\\n", "");
    const local = [beside, ...folders];
    for (const [start, quoted, angled] of spliced.matchAll(INCLUDE)) {
      const isText = !/^\W*embed/.test(start);
      find(quoted ?? angled!, quoted ? local : folders, { isText });
    }
    // Any text may look like these.
    for (const [, quoted, angled] of spliced.matchAll(NAMED)) {
      find(quoted ?? angled!, quoted ? local : folders, { isWanted: isFile });
    }
    for (const [, name] of spliced.matchAll(ASSEMBLED)) {
      find(name!, [".", ...folders], { isText: false, isWanted: isFile });
    }
  };
  const visit = (file: string, isText = true) => {
    if (seen.has(file)) return;
    seen.add(file);
    demandEnd(file);
    if (!isText) {
      const digest = hashOf(Deno.readFileSync(file));
      for (const list of [parts, code]) list.push(digest);
      return;
    }
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
    follow(own, dirname(file));
  };
  visit(source);
  follow(macros, dirname(source));
  for (const name of files) {
    find(name, [".", ...folders], { isWanted: isFile });
  }
  for (const name of inputs) {
    find(name, ["."], { isText: false, isWanted: isFile });
  }
  return { text: parts.join("\0"), code: code.join("\0") };
}

/** @throws {Error} Where `file` is a device or a pipe, which may never end. */
function demandEnd(file: string): void {
  const { isFile, isDirectory } = Deno.statSync(file);
  if (isFile || isDirectory) return;
  throw new Error(`${file} is not a regular file`);
}

function isNoFolder(path: string): boolean {
  return infoOf(path)?.isDirectory === false;
}

/** Returns whether `text` is the path of a file. An error means no: a macro may have any text. */
function isFile(text: string): boolean {
  try {
    return infoOf(text)?.isFile === true;
  } catch {
    return false;
  }
}

function infoOf(path: string): Deno.FileInfo | undefined {
  try {
    return unlessMissing(() => Deno.statSync(path));
  } catch (error) {
    // A part of the path is a file.
    if (error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
