/**
 * MSL, compiled by the system at run time: no Xcode is needed.
 *
 * @module
 */

import { CaseError } from "../../bench/model/errors.ts";
import { compileError } from "../shared/compiler.ts";
import type { Objc, Owned } from "./objc.ts";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Build } from "../../bench/device/device.ts";

/** MTLLanguageVersion3_1: the first with bfloat, of macOS 14. */
const LANGUAGE = 3n << 16n | 1n;
/** MTLLanguageVersion4_0: the first with tensor operations, of macOS 26. */
const TENSOR_LANGUAGE = 4n << 16n;
/** The macro of sources that use them. */
const MATRIX_UNITS = /^#define MATRIX_UNITS 1$/m;
/** MTLMathModeSafe: NaN is told from numbers, and nothing is reordered. */
const SAFE = 0n;

/** The source and macros of a library, for the names of binaries. */
export const METAL_FLAGS = ["-std=metal3.1", "-fno-fast-math"] as const;

const SELECTOR = "newLibraryWithSource:options:error:";

/** Compiles `source` on another thread, and releases the result. Returns the log. */
export async function checkLibrary(
  objc: Objc,
  device: bigint,
  source: string,
): Promise<string> {
  using options = optionsOf(objc, source);
  using text = objc.string(source);
  const error = new BigUint64Array(1);
  const library = await objc.calls.make2(
    ...[device, objc.sel(SELECTOR), text.object, options.object] as const,
    new Uint8Array(error.buffer),
  );
  const log = errorText(objc, error);
  if (library === 0n) throw compileError(log, "");
  objc.release(library);
  return log;
}

/**
 * Compiles `source`, which was compiled before, so that it fails only where the system does.
 *
 * @throws {CaseError} `launch`, with what the system says.
 */
export function makeLibrary(
  objc: Objc,
  device: bigint,
  { source, path }: { readonly source: string; readonly path: string },
): bigint {
  using options = optionsOf(objc, source);
  using text = objc.string(source);
  using _pool = objc.pool();
  const error = new BigUint64Array(1);
  const made = objc.calls.make2Now(
    ...[device, objc.sel(SELECTOR), text.object, options.object] as const,
    new Uint8Array(error.buffer),
  );
  if (made !== 0n) return made;
  const reason = errorText(objc, error) || "newLibraryWithSource: nil";
  throw new CaseError(
    "launch",
    `Cannot load ${path}: ${reason.split("\n")[0]}`,
    { cause: reason },
  );
}

function optionsOf(objc: Objc, source: string): Owned {
  const options = objc.send(objc.class("MTLCompileOptions"), "new");
  const version = MATRIX_UNITS.test(source) ? TENSOR_LANGUAGE : LANGUAGE;
  objc.send(options, "setLanguageVersion:", version);
  // macOS 15 has a mode, earlier ones a flag, which is off.
  const [safe, value] = objc.has(options, "setMathMode:")
    ? ["setMathMode:", SAFE] as const
    : ["setFastMathEnabled:", 0n] as const;
  objc.send(options, safe, value);
  return objc.own(options);
}

/** Returns the text of an `NSError`, or an empty text where there is none. */
export function errorText(
  objc: Objc,
  error: BigUint64Array<ArrayBuffer>,
): string {
  return error[0] === 0n ? "" : objc.textOf(error[0]!, "localizedDescription");
}

const INCLUDE = /^\s*#\s*include\s+"([^"]+)"\s*$/;

/**
 * The text of `build`: its constants as macros, then its source with every file that it
 * includes by a quoted name in the place of the line that does, each once. Line markers make
 * messages name the file.
 *
 * @throws {CaseError} `compile`, where a file is missing.
 */
export function flatten(
  { source, defines }: Build,
  read: (file: URL) => string = Deno.readTextFileSync,
): string {
  const seen = new Set<string>();
  const textOf = (file: URL) => {
    try {
      return read(file);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new CaseError(
        "compile",
        `Cannot compile ${basename(source.pathname)}: ${
          basename(file.pathname)
        } is missing; an include is found from the file that has it`,
        { cause: error },
      );
    }
  };
  const visit = (file: URL): string[] => {
    if (seen.has(file.href)) return [];
    seen.add(file.href);
    const name = basename(fileURLToPath(file));
    const lines = textOf(file).split("\n");
    return [
      `#line 1 "${name}"`,
      ...lines.flatMap((line, i) => {
        const [, included] = INCLUDE.exec(line) ?? [];
        if (included === undefined) return [line];
        const more = visit(new URL(included, file));
        return more.length > 0 ? [...more, `#line ${i + 2} "${name}"`] : [""];
      }),
    ];
  };
  const macros = Object.entries(defines).map(([name, value]) =>
    `#define ${name} ${value}`
  );
  return [...macros, ...visit(source)].join("\n");
}
