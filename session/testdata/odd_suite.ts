/**
 * Suite files that do more than define a suite.
 *
 * @module
 */

import { join } from "node:path";

const SMALL = new URL("../../cli/testdata/small_suite.ts", import.meta.url);

/** Gives `test` a suite file that does `what` before it exports a good suite. */
export async function withSuite(
  what: string,
  test: (file: string, folder: string) => Promise<unknown>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "odd.ts");
  const text = `${what}\nexport { default } from "${SMALL}";\n`;
  await Deno.writeTextFile(file, text);
  try {
    await test(file, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
