/**
 * Bundles the modules of the report page into one script, `report/page/bundle.js`, which is
 * committed: `mnkbench report` then starts no other program and needs no network.
 *
 * `deno task bundle` writes it; a test compares it with its sources.
 *
 * @module
 */

import { build, stop } from "esbuild";

const ROOT = new URL("../", import.meta.url).pathname;
/** The bundle, below the repository. */
export const BUNDLE = "report/page/bundle.js";

/** The script of the page as its modules give it now: an IIFE without types or comments. */
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
      minifySyntax: true,
      minifyWhitespace: true,
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
