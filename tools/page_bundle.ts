/**
 * Bundles the modules of the report page and what they take from packages into one script,
 * `report/page/bundle.js`, which is committed: `mnkbench report` then starts no other program
 * and needs no network.
 *
 * `deno task bundle` writes it; a test compares it with its sources.
 *
 * @module
 */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build, type Plugin, stop } from "esbuild";

const ROOT = new URL("../", import.meta.url).pathname;
/** The bundle, below the repository. */
export const BUNDLE = "report/page/bundle.js";

/** Finds packages as this program does: by the import map, and from there as Node.js does. */
const PACKAGES: Plugin = {
  name: "packages",
  setup({ onResolve }) {
    onResolve({ filter: /^[@\w]/ }, ({ path, importer }) => ({
      path: importer.startsWith(ROOT) && !importer.includes("/node_modules/")
        ? fileURLToPath(import.meta.resolve(path))
        : createRequire(importer).resolve(path),
    }));
  },
};

/** Returns the script of the page as its modules give it now: an IIFE, minified. */
export async function bundlePage(): Promise<string> {
  try {
    const { outputFiles } = await build({
      absWorkingDir: ROOT,
      stdin: {
        contents: 'import { start } from "./main.ts";\nstart();\n',
        resolveDir: `${ROOT}report/page/browser`,
        sourcefile: "start.ts",
        loader: "ts",
      },
      bundle: true,
      charset: "utf8",
      format: "iife",
      legalComments: "none",
      minify: true,
      plugins: [PACKAGES],
      target: "es2022",
      write: false,
    });
    return outputFiles[0]!.text;
  } finally {
    await stop();
  }
}

if (import.meta.main) {
  await Deno.writeTextFile(`${ROOT}${BUNDLE}`, await bundlePage());
}
