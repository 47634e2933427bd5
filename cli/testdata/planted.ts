/**
 * A suite of one kernel in a folder of its own, whose source is made slower as asked.
 *
 * @module
 */

import { join } from "node:path";
import { program, type Ran } from "./program.ts";

const SUITE = `
import { defineLaunch, defineSuite, matmul } from "mnkbench";

export default defineSuite({
  name: "planted",
  title: "a kernel that is made slower",
  op: matmul,
  axes: { m: [8], k: [512] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [
    defineLaunch(matmul, {
      name: "planted",
      backend: "cpu",
      source: new URL("./planted.c", import.meta.url),
      entry: "product",
      shape: ({ m, n }) => ({ grid: [m, 1, 1], block: [n, 1, 1] }),
    }),
  ],
  baselines: ["planted"],
});
`;

/** A wait until a time, not work: a busy machine makes it longer by little. */
const SOURCE = (ms: number) => `
#define _POSIX_C_SOURCE 200112L
#include <time.h>

void product(const float *A, const float *B, float *C, int M, int N, int K, int lda,
             int ldb, int ldc) {
  struct timespec wait = {0, ${ms * 1e6}};
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = sum;
    }
  nanosleep(&wait, 0);
}
`;

/** The suite in its folder, with a kernel cache of its own. */
export class Planted implements Disposable {
  readonly folder: string = Deno.makeTempDirSync();

  /** Writes the suite; its kernel is not there before {@linkcode Planted.plant}. */
  constructor() {
    Deno.writeTextFileSync(this.at("planted.ts"), SUITE);
  }

  /** The path of `name` in the folder. */
  at(name: string): string {
    return join(this.folder, name);
  }

  /** Writes the kernel, which takes so many milliseconds. */
  plant(ms: number): void {
    Deno.writeTextFileSync(this.at("planted.c"), SOURCE(ms));
  }

  /** Runs a command on the suite. */
  run(...args: string[]): Promise<Ran> {
    const [command, ...rest] = args;
    return program([
      command!,
      ...["--suite", this.at("planted.ts"), "--backend", "cpu"],
      ...["--kernel-cache", this.at("cache")],
      ...["--warmup", "1", "--rep", "80", ...rest],
    ], { cwd: this.folder });
  }

  /** Removes the folder. */
  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}
