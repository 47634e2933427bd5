/**
 * Checks what `auto` chooses at random points, on the lane emulator.
 *
 * @module
 */

import { within } from "../../../bench/testdata/temporary.ts";
import { ops } from "../../../kernels/mod.ts";
import { emulatedCheck } from "../../../kernels/testdata/check.ts";

const SUITES = new URL("../../../kernels/testdata/auto.ts", import.meta.url);

/** The outcome of a campaign. */
export interface Shapes {
  /** Points at which the chosen kernel was right. */
  right: number;
  /** Points at which no kernel runs. */
  unsupported: number;
  readonly failures: string[];
}

/** Checks `auto` at `count` random points of each operation, some of which no kernel takes. */
export async function checkShapes(
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<Shapes> {
  const shapes: Shapes = { right: 0, unsupported: 0, failures: [] };
  for (const { folder } of ops) {
    await within(async (root) => {
      const suite = `${root}/random.ts`;
      await Deno.writeTextFile(
        suite,
        `import { randomSuite } from ${JSON.stringify(SUITES.href)};
export default randomSuite("${folder}", { count: ${count}, seed: ${seed} });
`,
      );
      const args = ["--suite", suite, "--kernel", "auto"];
      try {
        const rows = await emulatedCheck({ folder, backend: "cuda", args });
        const right = rows.filter(({ status }) => status === "checked").length;
        shapes.right += right;
        shapes.unsupported += rows.length - right;
      } catch (error) {
        if (!(error instanceof Error) || error.name !== "AssertionError") {
          throw error;
        }
        // Its end says what went wrong: the rest is progress.
        shapes.failures.push(`${folder}: ${error.message.slice(-800)}`);
      }
    });
  }
  return shapes;
}
