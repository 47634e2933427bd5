/**
 * Reads suite files of users as text: to load one takes a process, which commands that only read
 * rows may not start.
 *
 * @module
 */

import { readIfThere } from "../../bench/files/disk.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { isFile, isSource, pathOfFile } from "../cases.ts";
import { suiteName } from "../source/suite_name.ts";
import type { OwnBaselines } from "./baselines.ts";

/** The suites that an option names, and the baselines of those whose file it names. */
export interface NamedSuites {
  readonly suites: readonly string[];
  readonly own: OwnBaselines;
}

/**
 * Returns the suites of `names`. A kernel file stands for its suite, and a suite file for those
 * that its text names and that are known.
 *
 * @param known The suites that rows are of.
 * @param note Takes a line on a file whose baselines cannot be read.
 * @throws {UserError} For a file that is not there, and one of whose suite no row is.
 */
export function namedSuites(
  names: readonly string[],
  known: ReadonlySet<string>,
  note: (line: string) => void,
): NamedSuites {
  const own = new Map<string, readonly string[]>();
  const suites = names.flatMap((name) => {
    if (isSource(name)) return [suiteName(pathOfFile(name))];
    if (!isFile(name)) return [name];
    const text = textOf(name);
    const found = suitesIn(text, { file: name, known });
    const baselines = baselinesIn(text);
    if (baselines !== undefined) {
      for (const suite of found) own.set(suite, baselines);
    } else if (/\bbaselines\b/.test(text)) {
      note(
        `${name} has no list of names as baselines: the usual ones are taken, or name one with --baseline`,
      );
    }
    return found;
  });
  return { suites, own };
}

/** Returns the text of a suite file without its comments, which may have an older list. */
function textOf(file: string): string {
  const text = readIfThere(file);
  if (text === undefined) {
    throw new UserError(`Cannot read ${file}: there is no such file`);
  }
  return text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "");
}

function suitesIn(
  text: string,
  { file, known }: {
    readonly file: string;
    readonly known: ReadonlySet<string>;
  },
): readonly string[] {
  const names = [...text.matchAll(/\bname:\s*(["'`])(.*?)\1/g)]
    .map(([, , name]) => name!);
  const own = names.filter((name) => known.has(name));
  if (own.length > 0) return own;
  throw new UserError(
    `No row is of a suite that ${file} names: give the suite's name, one of ${
      [...known].join(", ")
    }, or measure it with \`bench --suite ${file}\``,
    EXIT.nothing,
  );
}

/** What stands between `[` and `]`, lists in it included. */
const LIST = String.raw`\[((?:[^[\]]|\[[^[\]]*\])*)\]`;

/**
 * Returns the names in the list `baselines` of the text of a suite file, or in the constant that
 * stands for it; undefined where there is no such list.
 *
 * @example
 * ```ts
 * import { baselinesIn } from "./suite_text.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(baselinesIn(`baselines: ["a", 'b'],`), ["a", "b"]);
 * deepStrictEqual(
 *   baselinesIn(`const OTHERS: readonly string[] = ["a"]; f({ baselines: OTHERS })`),
 *   ["a"],
 * );
 * deepStrictEqual(baselinesIn(`const baselines = ["a"]; f({ baselines })`), ["a"]);
 * deepStrictEqual(baselinesIn(`import { baselines } from "./b.ts"; f({ baselines })`), undefined);
 * ```
 */
export function baselinesIn(text: string): readonly string[] | undefined {
  const found = (pattern: string) => new RegExp(pattern).exec(text)?.[1];
  const list = found(String.raw`\bbaselines\s*:\s*${LIST}`);
  const name = found(String.raw`\bbaselines\s*:\s*(\w+)\s*[,}]`) ?? "baselines";
  const all = list ?? found(String.raw`\b${name}\b[^=;,(){}"'\n]*=\s*${LIST}`);
  return all === undefined
    ? undefined
    : [...all.matchAll(/(["'`])(.*?)\1/g)].map(([, , one]) => one!);
}
