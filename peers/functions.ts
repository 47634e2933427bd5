/**
 * Finds the functions of a user's Python file that make calls.
 *
 * @module
 */

import { pathToFileURL } from "node:url";
import { basename, resolve } from "node:path";
import { readIfThere } from "../bench/files/disk.ts";
import { UserError } from "../bench/model/errors.ts";
import type { PythonSource } from "../bench/model/kernel_spec.ts";

/** A function of a file; without parameters where it is not defined there. */
interface PythonFunction extends PythonSource {
  /** As they are written. */
  readonly parameters: string;
}

/** A function at the top level of a file, with its parameters, and what stands in the line before it. */
const FUNCTION = /(?:^|\n)(@[^\n]*\n)?(?:async )?def (\w+)\(([^)]*)\)/g;

/**
 * Returns the functions that `name` names: that of `mine.py:fn`, or of `mine.py` all that have
 * parameters A and B, no decorator, and a name without `_` at its start.
 *
 * @throws {UserError} Where there is no such file, or no such function in it.
 */
export function functionsOf(name: string): readonly PythonFunction[] {
  const [, path, entry] = /^(.*\.py)(?::(.*))?$/.exec(name)!;
  const text = readIfThere(path!);
  const refuse = (why: string): never => {
    throw new UserError(`Cannot use the Python file ${path}: ${why}`);
  };
  if (text === undefined) return refuse("there is no such file");
  const file = pathToFileURL(resolve(path!));
  if (entry !== undefined) {
    if (!/^[^\W\d]\w*$/.test(entry)) {
      refuse(`${JSON.stringify(entry)} names no function of it`);
    }
    if (!new RegExp(`\\b${entry}\\b`).test(text)) {
      refuse(`it has no function ${entry}${there(text)}`);
    }
    const { parameters = "" } = all(text).find((one) => one.entry === entry) ??
      {};
    return [{ file, entry, parameters }];
  }
  const found = all(text).filter(({ isPlain, parameters }) =>
    isPlain && /\ba\b/i.test(parameters) && /\bb\b/i.test(parameters)
  );
  if (found.length > 0) return found.map((one) => ({ file, ...one }));
  return refuse(
    `it has no function with parameters A and B; name one, such as ${
      basename(path!)
    }:fn${there(text)}`,
  );
}

function all(text: string) {
  return [...text.matchAll(FUNCTION)].map((
    [, decorator, entry, parameters],
  ) => ({
    entry: entry!,
    parameters: parameters!.replaceAll(/\s+/g, " ").trim(),
    isPlain: decorator === undefined && !entry!.startsWith("_"),
  }));
}

function there(text: string): string {
  const names = all(text).map(({ entry }) => entry);
  return names.length === 0
    ? ""
    : `; there are ${names.join(", ").slice(0, 200)}`;
}
