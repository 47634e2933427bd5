/**
 * The kernel file of `bench`, `check`, `build` and `export`, and what cannot be inferred from it.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { optional } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { UserError } from "../../bench/model/errors.ts";
import { isFile, isSource } from "../../session/cases.ts";
import type { Choice, Target } from "../../session/options.ts";
import { logLine } from "../terminal/output.ts";
import { about, maybe } from "./flags.ts";

const BESIDE =
  "A .c, .cu, .hip or .metal file with one kernel, or a Python function mine.py:fn, measured beside the baselines without a suite file; or a suite file.";

/** A source file and its settings. @param what The file's meaning, for the help. */
export function sourceFlags(what: string = BESIDE) {
  return object("Kernel file", {
    file: optional(
      argument(
        string({ metavar: "FILE" }),
        about(what),
      ),
    ),
    entry: maybe(
      "--entry",
      string({ metavar: "NAME" }),
      "Its function (default: the only one with such parameters).",
    ),
    block: maybe(
      "--block",
      string({ metavar: "X,Y,Z" }),
      "Threads of a block (default: inferred).",
    ),
    grid: maybe(
      "--grid",
      string({ metavar: "X,Y,Z" }),
      "Blocks, such as n/64,m/64; quotients are rounded up (default: inferred).",
    ),
    shared: maybe(
      "--shared",
      string({ metavar: "BYTES" }),
      "Dynamic shared memory of a block, such as 65536 or k*2 (default: none).",
    ),
  });
}

/** The options of {@linkcode sourceFlags}. */
export type SourceOptions = InferValue<ReturnType<typeof sourceFlags>>;

/** Which kernels of a source file are chosen, and what is done with them. */
interface SourceUse {
  /** Leave out the baselines. @default {false} */
  readonly alone?: boolean;
  /** Whether the kernel is run: where it is only compiled, Python is refused. @default {true} */
  readonly isRun?: boolean;
}

/**
 * Returns `options` with the suite of their file. Of sources, also of those that `--suite` names and
 * nothing else, their kernels and the baselines of their backends are chosen unless kernels are named,
 * and a line says what was inferred of each.
 *
 * @throws {UserError} Where there is no such file, or it says too little.
 */
export async function withFile<
  T extends Choice & Partial<Pick<Target, "backend">> & SourceOptions,
>(
  options: T,
  use: SourceUse = {},
): Promise<T & Partial<Pick<Target, "backend">>> {
  const { file, suites, entry, block, grid, shared } = options;
  const areSources = suites.length > 0 && suites.every(isSource);
  if (file === undefined && areSources && suites.length === 1) {
    return await withFile({ ...options, file: suites[0]!, suites: [] }, use);
  }
  const settings = Object.entries({ entry, block, grid, shared })
    .flatMap(([name, value]) =>
      value === undefined
        ? []
        : `${name}=${settingText(name, value.replaceAll(" ", ""))}`
    );
  if (file === undefined || !isSource(file)) {
    const [first] = settings;
    if (first !== undefined) {
      throw new UserError(
        `--${first.split("=")[0]} is of a kernel file: ${
          areSources
            ? `run each of ${suites.join()} by itself`
            : "name one, such as mine.cu"
        }`,
      );
    }
  }
  if (file === undefined) {
    return areSources ? await withSources(options, suites, use) : options;
  }
  if (suites.length > 0) {
    throw new UserError(
      `Cannot take both ${file} and --suite ${suites.join()}: leave out one`,
    );
  }
  if (/\.(?:ptx|cubin)$/.test(file)) {
    throw new UserError(
      `Cannot infer a launch from ${file}, which names no parameters: make it the source of a kernel in a suite file, as examples/ptx/suite.ts does`,
    );
  }
  if (!isFile(file)) {
    throw new UserError(
      file === ""
        ? "Cannot use an empty name: name a .c, .cu, .hip, .metal or .py file, or a suite file"
        : `Cannot use ${file}: it is no .c, .cu, .hip, .metal or .py file and no suite file; name a built-in suite with --suite ${file}`,
    );
  }
  if (!isSource(file)) return { ...options, suites: [file] };
  const joint = /\?\w+=[^?]*$/.test(file) ? "&" : "?";
  const name = [file, settings.join("&")].filter(Boolean).join(joint);
  return await withSources(options, [name], use);
}

async function withSources<
  T extends Choice & Partial<Pick<Target, "backend">>,
>(
  options: T,
  sources: readonly string[],
  { alone = false, isRun = true }: SourceUse,
): Promise<T & Partial<Pick<Target, "backend">>> {
  const python = sources.find((name) => /\.py(?:[:?]|$)/.test(name));
  if (!isRun && python !== undefined) {
    throw new UserError(
      `Cannot compile ${python} ahead: a kernel in Python is compiled when it runs; name a .c, .cu, .hip or .metal file`,
    );
  }
  const { inferSource } = await import(
    "../../session/source/source_suite.ts"
  );
  const { comparedKernels } = await import("../../session/source/inferred.ts");
  const found = sources.map(inferSource);
  for (const { note } of found) logLine(note);
  const kernels = found.flatMap((one) =>
    alone ? [one.kernel] : comparedKernels(one)
  );
  const [backend, ...others] = new Set(found.map((one) => one.backend));
  return {
    ...options,
    suites: sources,
    kernels: options.kernels.length > 0
      ? options.kernels
      : [...new Set(kernels)],
    backend: options.backend ?? (others.length === 0 ? backend : undefined),
  };
}

/** Returns `value` as it stands in the name of a suite, where a comma would part it in two. */
function settingText(name: string, value: string): string {
  const allowed = name === "entry"
    ? /^[a-z_]\w*$/i
    : name === "shared"
    ? /^[\dmnk*/]+$/i
    : /^[\dmnkx,*/]+$/i;
  if (allowed.test(value)) return value.replaceAll(",", "x");
  throw new UserError(
    `Cannot take --${name} ${JSON.stringify(value)}: ${
      name === "entry"
        ? "give the name of a function, of letters, digits and _"
        : name === "shared"
        ? "give bytes, or products and quotients of m, n, k and numbers, such as k*2"
        : "give one to three numbers, or products and quotients of m, n, k and numbers, such as n/64,m/64"
    }`,
  );
}
