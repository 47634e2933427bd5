/**
 * Compares C kernels of known times by the program: a kernel with one that does 3 % more, and a
 * kernel with itself.
 *
 * @module
 */

import { program, within } from "../../../cli/testdata/program.ts";

/** Verdicts by how often they came, and what they were wrong about. */
export interface Compared {
  readonly slower: Readonly<Record<string, number>>;
  readonly itself: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** A product, and `steps` dependent steps that no compiler shortens. */
function kernel(steps: number): string {
  return `
void mine(const float *A, const float *B, float *C, int M, int N, int K) {
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[i / N * K + k] * B[k * N + i % N];
    C[i] = sum;
  }
  volatile unsigned x = 1;
  for (int i = 0; i < ${steps}; i++) x = x * 1664525u + 1013904223u;
}
`;
}

const STEPS = 100_000;

/**
 * Compares either pair `count` times. Where the machine is not quiet a difference may be missed, but
 * never made.
 */
export async function compareKnown(count: number): Promise<Compared> {
  const slower: Record<string, number> = {};
  const itself: Record<string, number> = {};
  const failures: string[] = [];
  await within(async (_, folder) => {
    Deno.writeTextFileSync(`${folder}/base.c`, kernel(STEPS));
    Deno.writeTextFileSync(`${folder}/slower.c`, kernel(1.03 * STEPS));
    for (let i = 0; i < count; i++) {
      for (
        const [other, verdicts, wrong] of [
          ["slower.c", slower, ["faster"]],
          ["base.c", itself, ["faster", "slower"]],
        ] as const
      ) {
        const { stdout, stderr } = await program([
          ...["compare", "base.c", other, "--m", "8", "--format", "json"],
          ...["--cache", "warm", "--rep", "200", "--kernel-cache", "cache"],
        ], { cwd: folder });
        const [row] = stdout === "" ? [] : JSON.parse(stdout).rows;
        const verdict: string = row?.verdict ?? "none";
        verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
        if (row === undefined || wrong.includes(verdict as never)) {
          failures.push(
            `base.c with ${other}: ${verdict}, ${row?.ratio} ± ${row?.reach} ${
              row === undefined ? stderr : ""
            }`,
          );
        }
      }
    }
  });
  return { slower, itself, failures };
}
