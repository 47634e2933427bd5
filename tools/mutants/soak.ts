/**
 * Makes every deliberate mistake and prints which of them the tests notice.
 *
 * @module
 */

import { ALL } from "./testdata/all.ts";
import { Copy, type MutantResult } from "./mutant.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** The share that must be killed. */
const LEAST = 0.95;
/** Copies in which mistakes are made at the same time. */
const JOBS = Math.min(4, navigator.hardwareConcurrency);

/**
 * Prints the fate of each mistake, or of those whose file or name has one of the texts `wanted`.
 *
 * @returns An exit code: 1 if more than 5 % survive.
 * @throws {Error} If a test fails without a mistake, or a mistake cannot be made.
 */
export async function soak(wanted: readonly string[]): Promise<number> {
  const chosen = ALL.filter(({ name, file }) =>
    wanted.length === 0 ||
    wanted.some((text) => `${file}: ${name}`.includes(text))
  );
  if (chosen.length === 0) {
    throw new Error(`No mistake has ${wanted.join(" or ")} in its name`);
  }
  await assertPassing([...new Set(chosen.flatMap(({ tests }) => tests))]);
  const queue = [...chosen];
  const fates: MutantResult[] = [];
  await Promise.all(Array.from({ length: JOBS }, async () => {
    await using copy = await Copy.of(ROOT);
    for (let next = queue.shift(); next; next = queue.shift()) {
      const fate = await copy.fate(next);
      fates.push(fate);
      console.log(line(fate));
    }
  }));
  const alive = fates.filter(({ killer }) => killer === undefined);
  for (const { mutant: { file, name, why } } of alive) {
    console.log(`Unnoticed in ${file}: ${name}: ${why}`);
  }
  console.log(`${chosen.length - alive.length} of ${chosen.length} noticed`);
  return alive.length <= (1 - LEAST) * chosen.length ? 0 : 1;
}

/** Makes sure that the tests pass without a mistake. @throws {Error} */
async function assertPassing(tests: readonly string[]): Promise<void> {
  await using copy = await Copy.of(ROOT);
  const failure = await copy.failure(tests, "no mistake");
  if (failure !== undefined) {
    throw new Error(`Cannot judge mistakes: without any, "${failure}" fails`);
  }
}

function line({ mutant: { file, name }, killer, ms }: MutantResult): string {
  const seconds = (ms / 1000).toFixed(1);
  const end = killer === undefined ? "" : `, by "${killer}"`;
  const fate = killer === undefined ? "UNNOTICED" : "noticed";
  return `${fate} ${file}: ${name} (${seconds} s)${end}`;
}
