/**
 * Infers the suite of a function of a Python file.
 *
 * @module
 */

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { definePython } from "../../bench/model/kernel.ts";
import { PYTHON_BACKEND } from "../../bench/model/kernel_spec.ts";
import { matmul } from "../../kernels/matmul/mod.ts";
import { functionsOf } from "../../peers/functions.ts";
import {
  formatFixed,
  type Inferred,
  nameOf,
  readSource,
  refusing,
  suiteOf,
} from "./inferred.ts";
import { settingsOf } from "./settings.ts";

/** A file, its function and settings. */
const NAME = /^(.*\.py)(?::([^:?/]*))?(?:\?(\w+=[^?]*))?$/;

/** Returns whether `name` is that of a Python file or of a function in it. */
export function isPython(name: string): boolean {
  return NAME.test(name);
}

/**
 * Infers the suite of `mine.py:fn`, or of the only function of `mine.py` that takes A and B. Axes have
 * the values of comments `# mnkbench: epilogue=relu`.
 *
 * @throws {UserError} Where there is no such file, function or setting.
 */
export function inferPython(name: string): Inferred {
  const [, path = "", own, suffix = ""] = NAME.exec(name)!;
  const refuse = refusing(path);
  const text = readSource(path, refuse);
  const comments = [...text.matchAll(/^[ \t]*#(.*)/gm)]
    .map(({ 1: line, index }) => ({ text: line!, at: index }));
  // The function of the name takes the place of one in a comment, as all settings of a suffix do.
  const named = own === undefined ? suffix : `entry=${own}&${suffix}`;
  const { entry, block, grid, axes } = settingsOf(
    text,
    comments,
    named,
    refuse,
  );
  if (block !== undefined || grid !== undefined) {
    refuse("a Python function launches by itself: leave out block and grid");
  }
  const [chosen, ...more] = functionsOf(
    entry === undefined ? path : `${path}:${entry}`,
  );
  if (more.length > 0) {
    const names = [chosen!, ...more].map((one) => one.entry).join(", ");
    refuse(
      `it has several functions, ${names}; choose one with ${path}:${
        chosen!.entry
      }`,
    );
  }
  const { parameters } = chosen!;
  const epilogue = /\bbias\b/i.test(parameters) ? "bias" : "none";
  const fixed = { type: "bf16", epilogue, ...axes };
  const file = basename(fileURLToPath(chosen!.file));
  const kernel = definePython(matmul, {
    name: nameOf(chosen!.entry, PYTHON_BACKEND, ".py"),
    idea: file,
    python: `${chosen!.file}:${chosen!.entry}`,
  });
  return {
    suite: suiteOf(kernel, { path, fixed }),
    kernel: kernel.name,
    backend: PYTHON_BACKEND,
    note: `${file}: ${
      chosen!.entry
    }(${parameters}) is a matmul in ${fixed.type}${
      formatFixed(fixed)
    }, recorded in a graph; --timer graph times all kernels so`,
  };
}
