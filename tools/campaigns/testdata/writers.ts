/**
 * Has several programs write rows into the files of one folder at once, again and again: the rows
 * of all must be there.
 *
 * @module
 */

import { program, testdata } from "../../../cli/testdata/program.ts";
import { readRows } from "../../../session/read_rows.ts";

/** The outcome of a campaign. */
export interface Written {
  /** Rows that were written in all. */
  readonly rows: number;
  readonly failures: readonly string[];
}

/** The first K of a writer, and how much the next has more. */
const K = 8;

/**
 * Has `writers` programs write at once, `rounds` times. Half of them measure a case that no other
 * measures, the others import one. Needs a C compiler.
 */
export async function writeAtOnce(
  { writers, rounds }: { readonly writers: number; readonly rounds: number },
): Promise<Written> {
  const folder = Deno.makeTempDirSync({ prefix: "writers-" });
  const bench = (cwd: string, k: number, out: string) =>
    program([
      ...["bench", "--suite", testdata("small_suite.ts"), "--kernel", "naive"],
      ...["--m", "2", "--k", `${k}`, "--warmup", "0.1", "--rep", "0.1"],
      ...["--backend", "cpu", "--kernel-cache", `${folder}/cache`],
      ...["--out", out],
    ], { cwd });
  try {
    const ks = Array.from({ length: writers }, (_, i) => K * (1 + i));
    const homes = ks.map((k) => `${folder}/${k}`);
    for (const home of homes) Deno.mkdirSync(home);
    const isImport = (i: number) => i % 2 === 1;
    const failures: string[] = [];
    const demand = ({ code, stderr }: { code: number; stderr: string }) => {
      if (code !== 0) failures.push(`exit code ${code}: ${stderr}`);
    };
    for (const [i, k] of ks.entries()) {
      if (isImport(i)) demand(await bench(homes[i]!, k, "own"));
    }
    for (let round = 0; round < rounds; round++) {
      const out = `${folder}/all${round}`;
      const ends = await Promise.all(
        ks.map((k, i) =>
          isImport(i)
            ? program(["import", "own", "--into", out], { cwd: homes[i]! })
            : bench(homes[i]!, k, out)
        ),
      );
      ends.forEach(demand);
      const found = (await readRows([out])).map(({ row }) => row.k).toSorted();
      const lost = ks.filter((k) => !found.includes(`${k}`));
      if (lost.length > 0 || found.length !== ks.length) {
        failures.push(`round ${round}: rows of K ${lost} are lost`);
      }
    }
    return { rows: writers * rounds, failures };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}
