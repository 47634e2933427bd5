/**
 * Mutants of small CUDA kernels that the emulator must find.
 *
 * @module
 */

import { assertMatch, assertStrictEquals } from "@std/assert";
import { compileCuda, type Run, said } from "./cuda_lanes.ts";
import { cudaTest } from "./cuda_mocks.ts";

/**
 * A kernel that is right: `t` is the thread, `n` how many the block has, `in` has numbers from 0
 * on, `out` zeros, `map` is that of `in` where it has a `tensor`, `m` is where the block's memory
 * starts and `s` its words. `from` in it, at its first place, becomes `to`, and that is found.
 */
export interface Planted extends Run {
  readonly name: string;
  readonly right: string;
  readonly from: string;
  readonly to: string;
  readonly found: RegExp;
}

const kernel = (name: string, body: string, { tensor }: Run) => `
extern "C" __global__ void __launch_bounds__(1024)
${name}(const unsigned* in, unsigned* out, int n${
  tensor ? ", const __grid_constant__ TensorMap map" : ""
}) {
  int t = threadIdx.x;
  unsigned m = shared_address(memory), *s = (unsigned*)memory;
  ${body}
}`;

/** Registers a test for each; all kernels are compiled at once. */
export function plantedTests(all: readonly Planted[]): void {
  const compile = () =>
    compileCuda([
      "SHARED_MEMORY(128);",
      ...all.map((p, i) => kernel(`right_${i}`, p.right, p)),
      ...all.map((p, i) =>
        kernel(`wrong_${i}`, p.right.replace(p.from, () => p.to), p)
      ),
    ].join("\n"));
  let compiled: Promise<string> | undefined;
  all.forEach(({ name, right, from, to: _, found, ...how }, i) =>
    cudaTest(`the emulator finds that ${name}`, async (device, mock) => {
      assertStrictEquals(
        right.includes(from),
        true,
        `it does not have: ${from}`,
      );
      const binary = await (compiled ??= compile());
      for (const seed of [1, 2, 3]) {
        mock.seed(seed);
        const text = said(device, binary, { ...how, entry: `right_${i}` });
        assertStrictEquals(text, "", `order ${seed}`);
      }
      mock.seed(1);
      assertMatch(said(device, binary, { ...how, entry: `wrong_${i}` }), found);
    })
  );
}
