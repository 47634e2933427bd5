/**
 * The C compiler of the CPU backend.
 *
 * @module
 */

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Build, Compiler, Target } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { askTool, defines, runCompiler } from "../shared/compiler.ts";

/** After the sources, where linkers want them. */
const LIBRARIES = ["-lm"];

/**
 * The first of `names` that runs here, as a compiler for `target`.
 *
 * @throws {CaseError} `compile`, with the names that were tried, or where one hangs.
 */
export function findCompiler(
  target: Target,
  names: readonly string[],
  patienceMs?: number,
): Compiler {
  for (const name of names) {
    const version = versionOf(name, patienceMs);
    if (version === undefined) continue;
    return {
      signature: `${basename(name)} ${version}`,
      compile: (build, binary) => compile(name, target, { build, binary }),
    };
  }
  throw new CaseError(
    "compile",
    `No C compiler for ${target.arch}: tried ${
      names.join(", ")
    }; install one, as in apt-get install gcc`,
  );
}

/**
 * The version that the program `name` tells, or nothing if there is no such program.
 *
 * @throws {CaseError} `compile`, where it hangs.
 */
function versionOf(name: string, patienceMs?: number): string | undefined {
  const answer = askTool(name, ["--version"], patienceMs);
  if (!answer?.success) return undefined;
  return /\d+\.\d+(\.\d+)?/.exec(answer.stdout)?.[0] ??
    "of unknown version";
}

async function compile(
  name: string,
  target: Target,
  { build, binary }: { build: Build; binary: string },
): Promise<string> {
  const source = fileURLToPath(build.source);
  return await runCompiler(name, {
    args: [
      ...target.flags,
      ...defines(build),
      source,
      "-o",
      binary,
      ...LIBRARIES,
    ],
    // The first error is looked for by its English name.
    env: { LC_ALL: "C" },
    binary,
    folder: source.slice(0, source.length - basename(source).length),
  });
}
