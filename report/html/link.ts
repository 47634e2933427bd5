/**
 * Modules of TypeScript as one script for a page: types go, and each module becomes a
 * function that gives what it exports. Nothing but Deno itself is needed for it.
 *
 * @module
 */

import { stripTypeScriptTypes } from "node:module";

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*"\.\/(\w+)\.ts";$/gm;
const EXPORT = /^export (?:(?:async )?function|class|const) (\w+)/gm;
const COMMENT = /^[ \t]*\/\*\*[^]*?\*\/\n/gm;

/**
 * The script that calls `start()` of the module `entry`.
 *
 * @param modules Sources by name, without `.ts`: they import each other by
 * `import { … } from "./name.ts"` only.
 * @throws {Error} For another form of import or export, a name that there is not, or
 * modules that need each other.
 */
export function link(
  modules: Readonly<Record<string, string>>,
  entry: string,
): string {
  const parts: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]) => {
    if (done.has(name)) return;
    if (path.includes(name)) {
      throw new Error(`Cannot link ${[...path, name].join(" to ")}: a circle`);
    }
    const source = modules[name];
    if (source === undefined) {
      throw new Error(`Cannot link ${path.at(-1)}: there is no module ${name}`);
    }
    const text = stripTypeScriptTypes(source);
    for (const [, , needed] of text.matchAll(IMPORT)) {
      visit(needed!, [...path, name]);
    }
    done.add(name);
    parts.push(wrap(name, text));
  };
  visit(entry, []);
  return `"use strict";\n${parts.join("")}${scopeOf(entry)}.start();\n`;
}

function wrap(name: string, text: string): string {
  const exported = Array.from(text.matchAll(EXPORT), ([, word]) => word);
  const body = text
    .replaceAll(
      IMPORT,
      (_, words: string, from: string) =>
        words.trim().replaceAll(/[\s,]/g, "") === ""
          ? ""
          : `const { ${words.trim()} } = ${scopeOf(from)};`,
    )
    .replaceAll(EXPORT, (whole) => whole.slice("export ".length))
    .replaceAll(COMMENT, "")
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/\n{2,}/g, "\n");
  const left = /^(?:import|export)\b.*$/m.exec(body);
  if (left) throw new Error(`Cannot link ${name}: it has “${left[0]}”`);
  return `const ${scopeOf(name)} = (() => {\n${body.trim()}\nreturn { ${
    exported.join(", ")
  } };\n})();\n`;
}

function scopeOf(name: string): string {
  return `in_${name}`;
}
