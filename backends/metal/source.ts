/**
 * An MSL source as one text: Metal compiles no files, only a string.
 *
 * @module
 */

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Build } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";

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
  const visit = (file: URL): string[] => {
    if (seen.has(file.href)) return [];
    seen.add(file.href);
    const name = basename(fileURLToPath(file));
    const lines = textOf(file, { read, from: source }).split("\n");
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

function textOf(
  file: URL,
  { read, from }: { readonly read: (file: URL) => string; readonly from: URL },
): string {
  try {
    return read(file);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new CaseError(
      "compile",
      `Cannot compile ${basename(from.pathname)}: ${
        basename(file.pathname)
      } is missing; an include is found from the file that has it`,
      { cause: error },
    );
  }
}
